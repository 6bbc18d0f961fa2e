import assert from "node:assert/strict";
import { SoftwareAuthenticator } from "./authenticator.js";
import { type Member, ORIGIN } from "./members.js";
import type { Answer, World } from "./world.js";

/** The cookies that a response sets, as a browser sends them. */
export function cookiesOf({ headers }: Pick<Answer, "headers">): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

/** The options for a new passkey, and the headers of a browser that has their cookie. */
export async function startAdding(world: World, { headers, cookie }: Member) {
  const options = await world.send("POST", "/api/me/passkey-options", undefined, headers);
  assert.equal(options.status, 200, JSON.stringify(options.body));
  return {
    options: options.body.data,
    headers: { Origin: ORIGIN, Cookie: `${cookie}; ${cookiesOf(options)}` },
  };
}

/** Adds a new passkey to the account of a member. */
export async function addPasskey(
  world: World,
  member: Member,
  name = "laptop",
): Promise<{ id: string; authenticator: SoftwareAuthenticator }> {
  const authenticator = new SoftwareAuthenticator(ORIGIN);
  const { options, headers } = await startAdding(world, member);
  const credential = authenticator.create(options);
  const added = await world.send("POST", "/api/me/passkeys", { name, credential }, headers);
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return { id: added.body.data.id, authenticator };
}

/** The options to sign in with a passkey, and the headers of a browser that has their cookie. */
export async function startSignIn(world: World, cookie?: string) {
  const options = await world.send("POST", "/api/auth/passkey/options", undefined, { Origin: ORIGIN });
  assert.equal(options.status, 200, JSON.stringify(options.body));
  const cookies = [...(cookie === undefined ? [] : [cookie]), cookiesOf(options)].join("; ");
  return { options: options.body.data, headers: { Origin: ORIGIN, Cookie: cookies } };
}
