/** The service that is fuzzed: a small catalogue with watchlists, members and keys, which are replaced as requests use them up. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { fillWithSynthetic } from "../../../bench/synthetic/synthetic.js";
import { buildFront, buildMembers, type Service, startService } from "../../../src/app/service.js";
import { PngRenderer } from "../../../src/charts/png.js";
import { loadConfig } from "../../../src/config/config.js";
import type { Database } from "../../../src/database/database.js";
import { Callers } from "../../../src/http/caller.js";
import { createHttpServer, listen } from "../../../src/http/server.js";
import { createLog } from "../../../src/lib/log.js";
import { type AppContext, buildModules, type Modules, updateDerived } from "../../../src/modules.js";
import { createWeb } from "../../../src/web/web.js";
import { SoftwareAuthenticator } from "../../support/authenticator.js";
import { plantDump } from "../../support/dumps.js";
import { limits } from "../../support/limits.js";
import { ManualClock } from "../../support/manual-clock.js";

import { daily, GENEROUS, NOW, observation } from "../../support/world.js";
import { HarnessFailure } from "../support/harness.js";
import { Connection, type RawResponse } from "./connection.js";
import { apiOperations, type Operation, pageOperations } from "./operations.js";
import { bytesOf } from "./request.js";
import { keep, type Link, type Member, type Stock } from "./stock.js";

export interface FuzzOptions {
  database: Database;
  /** Where the database is, for other processes. */
  databaseUrl: string | undefined;
  dataDir: string;
  /** Repositories of the catalogue. */
  repositories: number;
}

/** Repositories with names that break assumptions. */
const HOSTILE = [
  observation("constructor/__proto__", daily(5, 9), {
    facts: { language: "constructor", topics: ["__proto__"] },
  }),
  observation("c/c++", daily(3, 8), {
    facts: { language: "C++", license: "MIT", description: '"><fuzz>]]>\u202e' },
  }),
  observation("group/sub/sub2/deep", daily(4, 6), { provider: "GITLAB", facts: { language: "Pascal & Co" } }),
  observation("ünï/cödé", daily(1, 2, 40), { provider: "CODEBERG", facts: { topics: ["größe", "日本"] } }),
];

const DUMP_BYTES = 5_000;

/** How far the clock moves between batches: cached sessions and revisions get old. */
const BETWEEN_MS = 1_000;

/** What the log says of a mail to sign in with. */
type NewLink = Pick<Link, "token" | "code">;

export class FuzzService {
  readonly modules: Modules;
  readonly operations: readonly Operation[];
  readonly stock: Stock;
  readonly #service: Service;
  readonly #clock: ManualClock;
  readonly #context: AppContext;
  readonly #connection: Connection;
  readonly #newLinks: NewLink[];
  /** Errors that the service logged: each is a fault of its own, whatever was responded. */
  readonly loggedErrors: string[];
  #members = 0;

  private constructor(parts: {
    modules: Modules;
    service: Service;
    clock: ManualClock;
    context: AppContext;
    newLinks: NewLink[];
    loggedErrors: string[];
    stock: Stock;
  }) {
    this.modules = parts.modules;
    this.#service = parts.service;
    this.#clock = parts.clock;
    this.#context = parts.context;
    this.#newLinks = parts.newLinks;
    this.loggedErrors = parts.loggedErrors;
    this.stock = parts.stock;
    this.#connection = new Connection(parts.service.port);
    const members = buildMembers(parts.context, parts.modules);
    const site = {
      modules: parts.modules,
      members,
      clock: parts.clock,
      baseUrl: parts.service.url,
      tracking: { access: "off" as const, perDay: undefined },
      storage: { databaseUrl: undefined, dataDir: ":memory:", dumps: undefined },
      checkToken: () => Promise.reject(new Error("no forge is asked here")),
    };
    const { routes } = createWeb({
      ...site,
      pictures: new PngRenderer(),
      limits: undefined,
      watchlistQuota: undefined,
    });
    this.operations = [...apiOperations(), ...pageOperations(routes)];
  }

  get port(): number {
    return this.#service.port;
  }

  static async start(options: FuzzOptions): Promise<FuzzService> {
    const clock = new ManualClock(NOW);
    const newLinks: NewLink[] = [];
    const loggedErrors: string[] = [];
    const log = pino(
      { level: "warn" },
      {
        write(line: string) {
          const { level, msg, link, code, err } = JSON.parse(line);
          if (typeof link === "string")
            newLinks.push({ token: new URL(link).searchParams.get("token") ?? "", code });
          if (level >= 50) loggedErrors.push(`${msg}: ${err?.stack ?? ""}`);
        },
      },
    );
    const dumps = mkdtempSync(join(tmpdir(), "sidereal-dumps-"));
    plantDump(dumps, DUMP_BYTES);
    const config = {
      ...loadConfig({
        // Limits are counted, and never reached.
        ...GENEROUS,
        SIDEREAL_PORT: "0",
        // Passkeys need the name of a host.
        SIDEREAL_BASE_URL: "http://localhost:0",
        SIDEREAL_AUTH_SECRET: "s".repeat(40),
        SIDEREAL_PROVIDERS: "github,gitlab,codeberg",
        SIDEREAL_DUMPS_DIR: dumps,
        SIDEREAL_TRACK: "everyone",
        ...limits("tracked=1000000"),
        SIDEREAL_AUTH_GITHUB_ID: "client",
        SIDEREAL_AUTH_GITHUB_SECRET: "secret",
        SIDEREAL_LOG_LEVEL: "silent",
      }),
      databaseUrl: options.databaseUrl,
      dataDir: options.dataDir,
    };
    const modules = buildModules(options.database, { clock, log: createLog("silent"), config });
    await fillWithSynthetic(modules.catalog, {
      repositories: options.repositories,
      days: 40,
      seed: 7,
      end: NOW,
    });
    await modules.catalog.record(HOSTILE);
    await updateDerived(modules);
    const context: AppContext = { config, clock, log };
    const service = await startService(context, modules);
    try {
      const stock = await stockOf(modules, service.url);
      return new FuzzService({ modules, service, clock, context, newLinks, loggedErrors, stock });
    } catch (error) {
      // An open port would keep the process alive.
      await service.stop();
      throw error;
    }
  }

  /** Replaces what requests have used up, and lets a little time pass. */
  async refill(): Promise<void> {
    this.#clock.advance(BETWEEN_MS);
    const { stock } = this;
    for (let i = 0; i < 2; i++) {
      const { data } = await this.#post("/api/watchlists", {
        name: "List",
        ids: stock.repositories.slice(0, 9).map(({ id }) => id),
      });
      keep(stock.tokens, data.token);
      keep(stock.shareTokens, data.shareToken);
    }
    const repository = `github:requested/r${this.#members}`;
    keep(stock.requests, (await this.#post("/api/track", { repository })).data.id);
    keep(stock.questions, await this.#ask(`@somebody${this.#members}`));
    const member = await this.#signIn();
    const { data } = await this.#post("/api/me/keys", { name: "key" }, member.cookie);
    member.keyIds.push(data.id);
    keep(stock.keys, data.key);
    await this.#addPasskeys(member);
    keep(stock.members, member);
    for (let i = 0; i < 3; i++) keep(stock.leaving, await this.#signIn());
    for (let i = 0; i < 4; i++) {
      const email = `member${this.#members++}@example.org`;
      keep(stock.links, { email, ...(await this.#link(email)) });
    }
  }

  /** Adds a passkey, and prepares sign-ins with it and further ones. */
  async #addPasskeys(member: Member): Promise<void> {
    const { stock } = this;
    const { origin } = stock;
    const begin = async (target: string, cookie?: string) => {
      const { data, response } = await this.#post(target, {}, cookie);
      const challenge = response.headers.get("set-cookie")?.split(";")[0] ?? "";
      return { options: data, cookie: [...(cookie === undefined ? [] : [cookie]), challenge].join("; ") };
    };
    const authenticator = new SoftwareAuthenticator(origin);
    const first = await begin("/api/me/passkey-options", member.cookie);
    const credential = authenticator.create(first.options);
    const { data } = await this.#post("/api/me/passkeys", { name: "passkey", credential }, first.cookie);
    member.passkeyIds.push(data.id);
    for (let i = 0; i < 2; i++) {
      const adding = await begin("/api/me/passkey-options", member.cookie);
      const { id, response: created } = new SoftwareAuthenticator(origin).create(adding.options);
      const { clientDataJSON, attestationObject } = created;
      const fields = { id, clientDataJSON, attestationObject, transports: "internal" };
      keep(stock.newPasskeys, { member, cookie: adding.cookie, fields });
      const signingIn = await begin("/api/auth/passkey/options");
      const assertion = authenticator.get(signingIn.options);
      const used = { id: assertion.id, ...assertion.response };
      keep(stock.assertions, { member, cookie: signingIn.cookie, fields: used });
    }
  }

  /** Opens another port over the same data, without a response cache. */
  async openUncached(): Promise<{ port: number; close(): Promise<void> }> {
    const config = { ...this.#context.config, baseUrl: this.#service.url, cacheBytes: 0 };
    const front = buildFront({ ...this.#context, config }, this.modules);
    const { server, close } = createHttpServer((message, response) => front.handle(message, response), {
      baseUrl: config.baseUrl,
      isLimited: false,
      callers: new Callers([]),
      clock: this.#clock,
      log: this.#context.log,
    });
    await listen(server, { port: 0, host: "127.0.0.1", reusePort: false });
    const address = server.address();
    if (address === null || typeof address === "string")
      throw new HarnessFailure("the second server has no port");
    return { port: address.port, close: () => close(0) };
  }

  async get(target: string, cookie?: string): Promise<RawResponse> {
    const headers: [string, string][] = [["Host", new URL(this.stock.origin).host]];
    if (cookie !== undefined) headers.push(["Cookie", cookie]);
    const request = { operation: "", method: "GET", target, headers, body: undefined, isChunked: false };
    return this.#connection.send(bytesOf(request), "GET");
  }

  /** Fails as a harness unless the change succeeds. */
  async #post(target: string, value: unknown, cookie?: string) {
    const { data, response } = await this.#send(target, value, cookie);
    if (response.status >= 300)
      throw new HarnessFailure(`${target} responded ${response.status}: ${response.body}`);
    return { data: data?.data, response };
  }

  async #send(target: string, value: unknown, cookie?: string) {
    const { origin } = this.stock;
    const headers: [string, string][] = [
      ["Host", new URL(origin).host],
      ["Origin", origin],
      ["Content-Type", "application/json"],
      ...(cookie === undefined ? [] : [["Cookie", cookie] as [string, string]]),
    ];
    const body = Buffer.from(JSON.stringify(value));
    const request = { operation: "", method: "POST", target, headers, body, isChunked: false };
    const response = await this.#connection.send(bytesOf(request), "POST");
    return { data: response.body.length === 0 ? undefined : JSON.parse(response.body.toString()), response };
  }

  /** The id of the question to the forges that a text leads to. */
  async #ask(text: string): Promise<string> {
    const { origin } = this.stock;
    const headers: [string, string][] = [
      ["Host", new URL(origin).host],
      ["Origin", origin],
      ["Content-Type", "application/x-www-form-urlencoded"],
    ];
    const body = Buffer.from(new URLSearchParams({ repository: text }).toString());
    const request = { operation: "", method: "POST", target: "/track", headers, body, isChunked: false };
    const { headers: sent, status } = await this.#connection.send(bytesOf(request), "POST");
    const id = /\/track\/questions\/([^?]+)/.exec(sent.get("location") ?? "")?.[1];
    if (id === undefined) throw new HarnessFailure(`/track asked no question, but responded ${status}`);
    return id;
  }

  /** A new sign-in link. */
  async #link(email: string): Promise<Omit<Link, "email">> {
    this.#newLinks.length = 0;
    const { data } = await this.#post("/api/auth/magic-link", { email });
    // The response does not wait for the link.
    for (let turns = 0; turns < 1_000_000 && this.#newLinks.length === 0; turns++) await setImmediate();
    const logged = this.#newLinks.at(-1);
    if (logged === undefined) throw new HarnessFailure("no sign-in link was logged");
    return { ...logged, requestToken: data.requestToken };
  }

  async #signIn(): Promise<Member> {
    const email = `member${this.#members++}@example.org`;
    const { token, requestToken } = await this.#link(email);
    const { response } = await this.#post("/api/auth/verify", { token, requestToken });
    const cookie = /sidereal\.session_token=[^;]+/.exec(response.headers.get("set-cookie") ?? "")?.[0];
    if (cookie === undefined) throw new HarnessFailure("signing in set no cookie");
    const { body } = await this.get("/api/me/sessions", cookie);
    const sessionId: string = JSON.parse(body.toString()).data[0].id;
    return { cookie, email, keyIds: [], passkeyIds: [], sessionId };
  }

  async stop(): Promise<void> {
    this.#connection.close();
    await this.#service.stop();
    rmSync(this.#context.config.dumps?.folder ?? "", { recursive: true, force: true });
  }
}

async function stockOf({ catalog }: Modules, origin: string): Promise<Stock> {
  const dumped = await catalog.dump(0, 10_000);
  const repositories = dumped.map(({ repository: { id, provider, fullName } }) => ({
    id: String(id),
    provider,
    fullName,
  }));
  if (repositories.length === 0) throw new HarnessFailure("the catalogue is empty");
  const facts = dumped.map(({ repository }) => repository);
  const some = (values: readonly (string | null)[]) =>
    [...new Set(values.filter((value) => value !== null))].slice(0, 60);
  return {
    origin,
    repositories,
    words: some(repositories.flatMap(({ fullName }) => [fullName, ...fullName.split(/[/-]/)])),
    languages: some(facts.map(({ language }) => language)),
    topics: some(facts.flatMap(({ topics }) => topics)),
    licenses: some(facts.map(({ license }) => license)),
    tokens: [],
    shareTokens: [],
    members: [],
    leaving: [],
    keys: [],
    links: [],
    assertions: [],
    newPasskeys: [],
    requests: [],
    questions: [],
    cursors: [],
    etags: [],
    targets: [],
  };
}
