import type { WorstRequest } from "../../../bench/support/worst.js";
import { createBrowserSecret } from "../../../src/accounts/one-time-codes.js";
import { buildMembers } from "../../../src/app/service.js";
import type { Config } from "../../../src/config/config.js";
import type { Clock } from "../../../src/lib/clock.js";
import type { Modules } from "../../../src/modules.js";
import { recordedLog } from "../../support/logs.js";
import { HarnessFailure } from "./harness.js";

const EMAIL = "attacker@example.org";
const KEYS = 5;
const SESSIONS = 3;

/** Who sends the requests of a pattern: the headers of each. */
export interface Attacker {
  name: string;
  headersOf(request: WorstRequest, i: number): Record<string, string>;
}

/** Somebody without an account, behind a proxy that forwards the address. */
export function anonymous(address: string): Attacker {
  return { name: "one address", headersOf: () => ({ "X-Forwarded-For": address }) };
}

/** Somebody with an account, all its keys, and several sessions, which take turns. The store of the modules gets the account. */
export async function accountHolder(
  address: string,
  { modules, config, clock }: { modules: Modules; config: Config; clock: Clock },
): Promise<Attacker> {
  const { log, lines } = recordedLog("warn");
  const { accounts, keys } = buildMembers({ config, clock, log }, modules);
  const cookies: string[] = [];
  let accountId = "";
  for (let i = 0; i < SESSIONS; i++) {
    const browser = createBrowserSecret();
    const source = { network: address, agent: "" };
    accounts.mail.request(EMAIL, "/", browser);
    await accounts.close();
    const link = lines.at(-1)?.link;
    const token = link && new URL(link).searchParams.get("token");
    const signedIn =
      token && (await accounts.signInByMail({ token, browser }, { headers: {}, source: () => source }));
    if (!signedIn) throw new HarnessFailure("signing in failed");
    accountId = signedIn.account.id;
    cookies.push(signedIn.cookies[0]?.split(";")[0] ?? "");
  }
  const secrets: string[] = [];
  for (let i = 0; i < KEYS; i++) secrets.push((await keys.create(accountId, `key ${i}`)).secret);
  return {
    name: "one account",
    headersOf({ path }, i) {
      const own = { "X-Forwarded-For": address };
      // Pages read no keys.
      const turn = path(i).startsWith("/api/") ? i % (KEYS + 1) : 0;
      if (turn === 0) return { ...own, Cookie: cookies[i % SESSIONS] ?? "" };
      return { ...own, "X-API-Key": secrets[turn - 1] ?? "" };
    },
  };
}
