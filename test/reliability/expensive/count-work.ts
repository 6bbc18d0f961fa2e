import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildFront, buildMembers } from "../../../src/app/service.js";
import { loadConfig } from "../../../src/config/config.js";
import type { Database } from "../../../src/database/database.js";
import { createLog } from "../../../src/lib/log.js";
import { buildModules, updateDerived } from "../../../src/modules.js";
import { plantDump } from "../../support/dumps.js";
import { inject } from "../../support/inject.js";
import { ManualClock } from "../../support/manual-clock.js";
import { countStatements } from "../../support/statements.js";
import { daily, NOW, observation } from "../../support/world.js";
import { routeKey } from "../support/hostile-visits.js";
import { jsonHeaders } from "./case-parts.js";
import { CASES, type CaseContext, type ExpensiveCase, OTHER_CASES, type Sent } from "./cases.js";
import { readFacts } from "./facts.js";
import { queryChoices } from "./parameters.js";
import { openRoutes } from "./routes.js";

/** More than a list may name, so that what is bounded is at its bound. */
const REPOSITORIES = 600;
const DAYS = 40;
const DUMP_BYTES = 500_000;
/** A name, as no browser has passkeys for an address. */
const ORIGIN = "http://localhost:3000";

/** What the cases cost, counted. */
export interface CountedWork {
  /** Routes for which there is no case, and cases for which there is no route. */
  uncovered: string[];
  /** Declared query parameters that the search does not know. */
  unknownParameters: string[];
  /** Cases with another status than they say. */
  wrong: string[];
  cases: { name: string; statements: number; rows: number; bytes: number }[];
}

/** Runs every case once over a small catalogue in an empty database. */
export async function countWork(empty: Database): Promise<CountedWork> {
  const { database, statements, rows } = countStatements(empty);
  const clock = new ManualClock(NOW);
  const log = createLog("silent");
  const dumps = mkdtempSync(join(tmpdir(), "sidereal-dumps-"));
  plantDump(dumps, DUMP_BYTES, { isSparse: true });
  const config = loadConfig({
    SIDEREAL_BASE_URL: ORIGIN,
    SIDEREAL_CACHE_MB: "0",
    SIDEREAL_LIMITS: "false",
    SIDEREAL_PROVIDERS: "github",
    SIDEREAL_TRACK: "everyone",
    SIDEREAL_AUTH_SECRET: "Kq8-vN2wZ5xR1tY7uB3mC6pL9sD4fG0h",
    SIDEREAL_DUMPS_DIR: dumps,
    SIDEREAL_AUTH_GITHUB_ID: "client",
    SIDEREAL_AUTH_GITHUB_SECRET: "secret",
  });
  const own = { ...config, databaseUrl: undefined, dataDir: ":memory:" };
  const modules = buildModules(database, { clock, log, config: own });
  await modules.catalog.record(smallCatalogue());
  await updateDerived(modules);
  await modules.live.current();
  const options = { config, clock, log };
  const members = buildMembers(options, modules);
  const front = buildFront(options, modules, members);
  const send = ({ path, ...rest }: Sent): Promise<Response> =>
    inject(
      (message, reply) => front.handle(message, reply),
      new Request(`${ORIGIN}${path}`, rest),
      "192.0.2.1",
    );
  const facts = await readFacts(modules);
  const create = async () => {
    const body = JSON.stringify({ ids: facts.repositories.map(({ id }) => String(id)) });
    const response = await send({ method: "POST", path: "/api/watchlists", headers: jsonHeaders(), body });
    return JSON.parse(await response.text()).data;
  };
  const { token, shareToken } = await create();
  const context: CaseContext = {
    facts,
    origin: ORIGIN,
    token,
    shareToken,
    newList: async () => (await create()).token,
  };

  const work: CountedWork = { ...coverage(modules), wrong: [], cases: [] };
  const count = async (route: string, one: ExpensiveCase) => {
    const name = `${route}: ${one.name}`;
    const sent = await one.send(context, 0);
    const before = { statements: statements(), rows: rows() };
    const response = await send(sent);
    const bytes = (await response.arrayBuffer()).byteLength;
    if (response.status !== one.status)
      work.wrong.push(`${name}: ${response.status} instead of ${one.status}`);
    work.cases.push({
      name,
      bytes,
      statements: statements() - before.statements,
      rows: rows() - before.rows,
    });
  };
  for (const [route, cases] of Object.entries(CASES)) for (const one of cases) await count(route, one);
  for (const one of OTHER_CASES) await count("before a route", one);
  await members.accounts.close();
  rmSync(dumps, { recursive: true, force: true });

  return work;

  function coverage(built: typeof modules): Pick<CountedWork, "uncovered" | "unknownParameters"> {
    const routes = openRoutes(built);
    const keys = routes.map(routeKey);
    const known = queryChoices(facts);
    return {
      uncovered: [
        ...keys.filter((key) => (CASES[key] ?? []).length === 0),
        ...Object.keys(CASES).filter((key) => !keys.includes(key)),
      ],
      unknownParameters: routes.flatMap((route) =>
        route.method === "GET"
          ? route.query
              .filter((name) => known[name] === undefined)
              .map((name) => `${routeKey(route)}: ${name}`)
          : [],
      ),
    };
  }
}

/** Repositories that share their words, in more languages and topics than a request may name. */
function smallCatalogue() {
  return Array.from({ length: REPOSITORIES }, (_, i) =>
    observation(
      `a${i % 7}/b${i} s`.replace(" ", "-"),
      daily(...Array.from({ length: DAYS }, (_, day) => i + day * (i % 9))),
      {
        facts: {
          description: `a b c of the ${i} s e re`,
          language: `Language ${i % 25}`,
          topics: Array.from({ length: 20 }, (_, topic) => `topic-${(i + topic) % 40}`),
          stars: i + DAYS * (i % 9),
          createdAt: NOW - i * 86_400_000,
        },
      },
    ),
  );
}
