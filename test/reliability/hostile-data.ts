import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ResultRow } from "../../bench/support/results.js";
import { buildRoutes } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import type { Database } from "../../src/database/database.js";
import { Admission } from "../../src/http/limits.js";
import type { Route } from "../../src/http/route.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { createToken, hashToken } from "../../src/lib/tokens.js";
import { updateDerived } from "../../src/modules.js";
import type { DumpedRepository } from "../../src/repositories/dump.js";
import { type Catalog, Catalog as OpenCatalog } from "../../src/repositories/repositories.js";
import type { Problem } from "../../src/transfer/gathering.js";
import { importFiles } from "../../src/transfer/import.js";
import { exportCatalogue } from "../../src/transfer/transfer.js";
import type { Engine } from "../support/engines.js";
import { hostileTexts } from "../support/hostile-texts.js";
import { csvRow } from "../support/imports.js";
import { ORIGIN, SITE_SETTINGS } from "../support/members.js";
import { createTrackingWorld } from "../support/tracking.js";
import { createWorld, NOW, type World } from "../support/world.js";
import { withEngines } from "./support/engines.js";
import { assertHappened, type Harness, type HarnessContext, rowMaker } from "./support/harness.js";
import { VIOLATIONS, type Violation, type ViolationKind, violationsIn } from "./support/hostile-checks.js";
import { isLast, type Subject, type Visit, visitsOf } from "./support/hostile-visits.js";

/** Texts, each of which makes several records at each door. */
const TEXTS = { short: 60, long: 250 } as const;
/** Of all requests to all routes about all records, one in EVERY is sent; fewer to the slower engine, which gets the same values. */
const EVERY = {
  short: { sqlite: 1_000, postgres: 4_000 },
  long: { sqlite: 20, postgres: 20 },
} as const;
const SEED = 20_260_430;

export const hostileData: Harness = {
  name: "hostile-data",
  proves:
    "Hostile records get through imports and providers only in a harmless form, and no page, picture, feed, file or JSON response is broken or made to run by them.",
  async run({ scale, report }: HarnessContext): Promise<ResultRow[]> {
    const texts = hostileTexts(TEXTS[scale], SEED);
    const rows: ResultRow[] = [];
    await withEngines(async (engine) => {
      report(engine.name);
      const attack = await attackWithData(engine, { texts, every: EVERY[scale][engine.name], report });
      rows.push(...rowsOf(engine.name, attack));
    });
    return rows;
  },
};

function rowsOf(engine: Engine["name"], attack: DataAttack): ResultRow[] {
  assertHappened(attack.stored, "records got in", 60);
  assertHappened(attack.refused, "lines were refused", 60);
  assertHappened(attack.tracked, "records came from forges", 60);
  assertHappened(attack.answered.get("2xx") ?? 0, "responses with content", 300);
  const row = rowMaker({ engine });
  const none = { atMost: 0 };
  return [
    row("records sent to the import", attack.sent, "lines"),
    row("lines refused, with the reason", attack.refused, "lines"),
    row("lines refused without naming the field", attack.unexplained, "lines", none),
    row("repositories stored", attack.stored, "repositories"),
    row("of them from providers", attack.tracked, "repositories"),
    row("stored texts that break the rules of records", attack.unclean, "texts", none),
    row("lines of an export that an import refuses", attack.lost, "lines", none),
    ...[...attack.answered].sort().map(([status, count]) => row(`responses: ${status}`, count, "responses")),
    ...VIOLATIONS.map((kind) => row(kind, attack.violations.get(kind) ?? 0, "responses", none)),
  ];
}

interface DataAttackOptions {
  texts: readonly string[];
  /** Of all requests to all routes about all records, one in `every` is sent. */
  every: number;
  report: (line: string) => void;
}

/** What came of it. */
interface DataAttack {
  /** Lines imported, those refused, and those of them whose reason does not say which field. */
  sent: number;
  refused: number;
  unexplained: number;
  /** Repositories in the catalogue, and those of them that came from forges. */
  stored: number;
  tracked: number;
  /** Stored texts that break the rules of records. */
  unclean: number;
  /** Lines of an export that an import refuses. */
  lost: number;
  /** Responses by class of status. */
  answered: ReadonlyMap<string, number>;
  violations: ReadonlyMap<ViolationKind, number>;
}

async function attackWithData(engine: Engine, options: DataAttackOptions): Promise<DataAttack> {
  const { texts, report } = options;
  const database = await engine.open();
  const tracked = await trackHostile(database, texts);
  // The same database, with what the worker stored.
  const world = await createWorld({ ...engine, open: async () => database }, SETTINGS);
  const folder = mkdtempSync(join(tmpdir(), "sidereal-hostile-"));
  try {
    const imported = await importHostile(world.modules.catalog, folder, texts);
    for (const { reason } of imported.unexplained) report(`refused without a field: ${reason}`);
    await updateDerived(world.modules);
    const dumped = await world.modules.catalog.dump(0, 100_000);
    const unclean = dumped.flatMap(uncleanTexts);
    for (const text of unclean) report(`stored: ${JSON.stringify(text.slice(0, 100))}`);
    const lost = await lostInExport(world.modules.catalog, { engine, folder });
    for (const { reason } of lost) report(`an import refuses what was exported: ${reason}`);
    const shown = await showEverywhere(world, dumped, options);
    return {
      sent: imported.sent,
      refused: imported.refused,
      unexplained: imported.unexplained.length,
      stored: dumped.length,
      tracked,
      unclean: unclean.length,
      lost: lost.length,
      ...shown,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const SETTINGS = {
  SIDEREAL_PROVIDERS: "github",
  SIDEREAL_TRACK: "everyone",
  ...SITE_SETTINGS,
  // A port that nothing listens on: mails are made, and lost.
  SIDEREAL_SMTP_URL: "smtp://127.0.0.1:9",
  SIDEREAL_MAIL_FROM: "sidereal@example.org",
};

/** Lets a worker track forges of each kind that say hostile things. Returns the number of repositories stored. */
async function trackHostile(database: Database, texts: readonly string[]): Promise<number> {
  const tracked = (
    [
      ["github", "GITHUB"],
      ["gitlab", "JAVASCRIPT"],
      ["forgejo", "DATA"],
    ] as const
  ).map(([kind, name]) => ({
    ...{ kind, name, repositories: texts.length },
    catalogue: "quiet" as const,
    // Nothing but numbers.
    hasHistory: false,
  }));
  const tracking = await createTrackingWorld(database, tracked, { idleMs: 600_000 });
  for (const { catalogue } of tracking.forges.values())
    for (const [i, id] of catalogue.ids().entries()) catalogue.override(id, forgeFactsOf(texts, i));
  await tracking.pass(3 * 3_600_000);
  await tracking.stop();
  for (const { close } of tracking.opened) await close();
  for (const forge of tracking.forges.values()) await forge.close();
  return (await tracking.modules.catalog.dump(0, 100_000)).length;
}

/** Reasons that are about a line or a file as a whole. */
const WHOLE =
  /^(?:the line is not JSON|the line is too long|the record is too long|the line has more than|\d+ columns instead of|the preceding repository line|provider and fullName belong)/;

/** Imports hostile lines as NDJSON and as CSV. */
async function importHostile(catalog: Catalog, folder: string, texts: readonly string[]) {
  const lines = ndjsonOf(texts);
  const rows = csvOf(texts);
  const files = {
    "hostile.ndjson": `{"type":"header","format":"sidereal","version":1}\n${lines.join("\n")}\n`,
    "hostile-2026-04-29.csv": rows,
  };
  const paths = Object.entries(files).map(([name, content]) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  });
  const unexplained: Problem[] = [];
  const { refused } = await importFiles(catalog, paths, {
    onRefused: (problem) => {
      const isNamed = /^[A-Za-z][\w.[\]-]*: \S/.test(problem.reason) || WHOLE.test(problem.reason);
      const isShown = !/(?! )[\p{Cc}\u202A-\u202E\u2066-\u2069]/u.test(problem.reason);
      if (!isNamed || !isShown || problem.line < 1) unexplained.push(problem);
    },
  });
  return { sent: lines.length + 4 * texts.length, refused, unexplained };
}

/** The texts of a stored repository that break the rules of records. */
function uncleanTexts({ repository, facts, previousNames }: DumpedRepository): string[] {
  const texts = [
    ...[
      repository.fullName,
      repository.url,
      facts.description,
      facts.homepage,
      facts.language,
      facts.license,
    ],
    ...(facts.topics ?? []),
    ...previousNames.map(({ fullName }) => fullName),
  ];
  return texts.filter(
    (text): text is string =>
      typeof text === "string" &&
      (!text.isWellFormed() ||
        /[\p{Cc}\p{NChar}\u202A-\u202E\u2066-\u2069]|\p{M}{9}/u.test(text) ||
        text.length > 10_000),
  );
}

/** Exports the catalogue and imports it into an empty one. Returns the lines that are refused. */
async function lostInExport(
  catalog: Catalog,
  { engine, folder }: { engine: Engine; folder: string },
): Promise<Problem[]> {
  let text = "";
  for await (const lines of exportCatalogue(catalog)) text += lines;
  const path = join(folder, "exported.ndjson");
  writeFileSync(path, text);
  const refused: Problem[] = [];
  const empty = new OpenCatalog(await engine.open(), systemClock);
  await importFiles(empty, [path], { onRefused: (problem) => refused.push(problem) });
  return refused;
}

/** All routes of the service. */
function allRoutes(world: World): Route[] {
  const { modules, members, clock } = world;
  const config = loadConfig({ SIDEREAL_BASE_URL: ORIGIN });
  const log = createLog("silent");
  const admission = new Admission({ config, clock, log, readers: 1 });
  return buildRoutes({ config, clock, log }, { modules, members, admission }).routes;
}

/** Sends requests about the stored records to every route, and checks each response. */
async function showEverywhere(
  world: World,
  dumped: readonly DumpedRepository[],
  { texts, every, report }: DataAttackOptions,
): Promise<Pick<DataAttack, "answered" | "violations">> {
  const { cookie, key } = await signedIn(world);
  const requestId = await requested(world);
  const routes = allRoutes(world).sort((a, b) => Number(isLast(a)) - Number(isLast(b)));
  const answered = new Map<string, number>();
  const violations = new Map<ViolationKind, number>();
  const seen = new Map<string, Violation>();
  let turn = 0;
  let token = "";
  for (const [i, { repository }] of dumped.entries()) {
    const text = texts[i % texts.length] ?? "";
    if (i % 10 === 0) token = await listOf(world, repository.id);
    const subject: Subject = { text, repository, token, keyId: "1", requestId };
    for (const [r, route] of routes.entries()) {
      turn += 7;
      // Each route is visited in every way about one record, and now and then about all others.
      const isOwn = (5 * r) % dumped.length === i;
      const visits = visitsOf(route, subject).filter((_, visit) => isOwn || (turn + visit) % every === 0);
      for (const makeVisit of visits) {
        const visit = makeVisit();
        const response = await send(world, visit, credentialsFor(route, { cookie, key }));
        const kind = `${Math.floor(response.status / 100)}xx`;
        answered.set(kind, (answered.get(kind) ?? 0) + 1);
        for (const violation of await violationsIn(response, `${visit.method} ${visit.path}`, ORIGIN)) {
          violations.set(violation.kind, (violations.get(violation.kind) ?? 0) + 1);
          const key = `${violation.kind} ${route.path}`;
          if (!seen.has(key)) seen.set(key, violation);
        }
      }
    }
  }
  for (const { kind, where, what } of seen.values()) report(`${kind}: ${where.slice(0, 200)}: ${what}`);
  return { answered, violations };
}

/** The headers that a route needs, or that show what a signed-in person sees. */
function credentialsFor(route: Route, { cookie, key }: { cookie: string; key: string }) {
  if (route.access === "key") return { "X-API-Key": key };
  return isPersonal(route) ? { Cookie: cookie } : {};
}

/** Whether a route is visited by somebody signed in; not one that would sign them out. */
function isPersonal({ access, form, endsSession }: Route): boolean {
  return endsSession === undefined && (access === "session" || form === "page");
}

async function send(
  world: World,
  visit: Visit,
  credentials: Readonly<Record<string, string>>,
): Promise<Response> {
  const { method, path, json, form } = visit;
  const body = json === undefined ? form && new URLSearchParams(form).toString() : JSON.stringify(json);
  const type = json === undefined ? "application/x-www-form-urlencoded" : "application/json";
  return world.request(path, {
    method,
    headers: {
      Accept: path.startsWith("/api/") ? "*/*" : "text/html",
      Origin: ORIGIN,
      ...credentials,
      ...(body === undefined
        ? {}
        : { "Content-Type": type, "Content-Length": String(Buffer.byteLength(body)) }),
    },
    ...(body === undefined ? {} : { body }),
  });
}

async function listOf(world: World, id: number): Promise<string> {
  const { body } = await world.send("POST", "/api/watchlists", { ids: [String(id)] });
  return body.data.token;
}

/** Requests a repository that nobody tracks. Returns the id of the request. */
async function requested(world: World): Promise<string> {
  const { body } = await world.send("POST", "/api/track", { repository: "github:requested/one" });
  return body.data.id;
}

/** Signs somebody in by a link that was never mailed. Returns the cookie, and a key of the account. */
async function signedIn(world: World): Promise<{ cookie: string; key: string }> {
  const [token, browser] = [createToken("sidl"), "b".repeat(43)];
  const { clock, modules, members } = world;
  const request = {
    token_hash: hashToken(token),
    browser_hash: hashToken(`sign-in ${browser}`),
    code_hash: "",
    email: "ann@example.org",
    next: "/",
    tries: 0,
    requested_at: clock.now(),
  };
  await modules.database.durable.insertInto("sign_in_requests").values(request).execute();
  const client = { headers: {}, source: () => ({ network: "", agent: "" }) };
  const signedIn = await members.accounts.signInByMail({ token, browser }, client);
  if (signedIn === undefined) throw new Error("nobody could be signed in");
  const { secret } = await members.keys.create(signedIn.account.id, "key");
  return { cookie: signedIn.cookies.map((each) => each.split(";")[0]).join("; "), key: secret };
}

/** Names of providers: some are the schemes of addresses that browsers run, others names of built-in properties. */
const PROVIDERS = ["GITHUB", "JAVASCRIPT", "DATA", "VBSCRIPT", "CONSTRUCTOR", "HASOWNPROPERTY"] as const;

/** Values of a count, as they are written in JSON. */
const COUNTS = [
  ...["-1", "0.5", "1e13", "1e400", "NaN", "Infinity", "9007199254740993", "1000000000000", "-0"],
  ...['"1"', '"constructor"', "null", "true", "[]", '{"__proto__":{"polluted":1}}'],
];
/** Values of a time. */
const TIMES = [
  ...["9999-12-31T23:59:59Z", "1969-12-31", "0000-00-00", "2026-02-30", "+275760-09-13T00:00:00.001Z"],
  ...[
    "2100-01-01T00:00:01Z",
    "1999-12-31T23:59:59Z",
    "-271821-04-20",
    "now",
    "1e9",
    "",
    "2026-04-30T25:00:00Z",
  ],
];

const at = <T>(values: readonly T[], index: number, none: T): T => values[index % values.length] ?? none;

/** A text as a name that the doors let in, as close to it as can be; empty where nothing of it is left. */
function possibleName(text: string): string {
  return text
    .replaceAll(/[\s\p{C}\\?#%/]/gu, "")
    .replaceAll(/(?<=\p{M}{8})\p{M}+/gu, "")
    .slice(0, 100)
    .toWellFormed()
    .replaceAll("\uFFFD", "")
    .replace(/^\.+$/, "");
}

/** A text as a topic or a language that the doors let in. */
function possibleLabel(text: string): string {
  return text
    .replaceAll(/[\p{C}\p{Z}]/gu, "")
    .replaceAll(/(?<=\p{M}{8})\p{M}+/gu, "")
    .slice(0, 99)
    .toWellFormed()
    .replaceAll("\uFFFD", "");
}

/** The lines of an NDJSON file: a few for each text. Some must be refused, and each text also gets in as far as it can. */
function ndjsonOf(texts: readonly string[]): string[] {
  return texts.flatMap((text, i) => {
    const provider = at(PROVIDERS, i, "GITHUB");
    const own = { type: "repository", provider, fullName: `owner${i}/name` };
    const label = text.slice(0, 100);
    const all = { description: text, homepage: text, language: label, license: label, topics: [label] };
    const possible = {
      ...own,
      fullName: `o${i}${possibleName(text)}/${possibleName(text)}${i}`,
      refreshedAt: new Date(NOW).toISOString(),
      description: text.slice(0, 100_000),
      language: possibleLabel(text) || "Go",
      license: possibleLabel(text) || null,
      topics: [possibleLabel(text) || "web", `t;${possibleLabel(text)}`],
      stars: 100 + i,
    };
    const snapshots = [2, 1, 0].map((day) =>
      JSON.stringify({
        type: "snapshot",
        capturedAt: new Date(NOW - day * 86_400_000).toISOString(),
        stars: 100 + i - day,
      }),
    );
    const fields = ["stars", "forks", "openIssues", "watchers"] as const;
    return [
      JSON.stringify(possible),
      ...snapshots,
      JSON.stringify({ ...own, ...all }),
      ...Object.entries(all).map(([field, value]) => JSON.stringify({ ...own, [field]: value })),
      JSON.stringify({ ...own, fullName: `${text}/${text}` }),
      JSON.stringify({ ...own, fullName: `o/${text}`, providerId: text, url: text }),
      JSON.stringify({ ...own, provider: text }),
      JSON.stringify({ ...own, previousFullNames: [{ fullName: text, until: text }] }),
      `{"type":"repository","provider":"GITHUB","fullName":"count/${i}","${at(fields, i, "stars")}":${at(COUNTS, i, "0")}}`,
      JSON.stringify({ type: "snapshot", provider, fullName: "a/b", capturedAt: at(TIMES, i, ""), stars: 1 }),
      JSON.stringify({ ...own, createdAt: at(TIMES, i + 1, ""), pushedAt: at(TIMES, i + 2, "") }),
      `{${JSON.stringify(text)}:1,"__proto__":{"polluted":1},"type":"repository","constructor":{"prototype":{"polluted":1}}}`,
      text.replaceAll(/[\r\n]/g, " "),
    ];
  });
}

/** A file of daily lists with the texts in its rows. */
function csvOf(texts: readonly string[]): string {
  const header = ["item", "stars", "forks", "language", "repo_url", "issues", "last_commit", "description"];
  const rows = texts.flatMap((text, i) => [
    ["x", 10 + i, 1, text, "https://github.com/csv/language", 1, "2026-04-01", text],
    ["x", 10 + i, 1, possibleLabel(text), `https://github.com/csv/${i}-${possibleName(text)}`, 1, "", text],
    [text, 10 + i, 1, "Go", `https://github.com/csv/${text}`, "", at(TIMES, i, ""), ""],
    ["x", at(COUNTS, i, "1"), text, "Go", text, text, text, text],
  ]);
  return [header, ...rows].map((row) => `${csvRow(row)}\n`).join("");
}

/** What a forge says of its repository with this index; the texts repeat. */
function forgeFactsOf(texts: readonly string[], index: number) {
  const text = at(texts, index, "");
  const numbers = [-1, 0.5, 1e13, Number.NaN, Number.MAX_VALUE, 1e12];
  return {
    description: text,
    homepage: text,
    language: index % 2 === 0 ? text : possibleLabel(text),
    license: text,
    topics: [text, possibleLabel(text), `x ${text}`, "constructor", "__proto__"],
    forks: at(numbers, index, 0),
    openIssues: at(numbers, index + 1, 0),
    watchers: at(numbers, index + 2, 0),
  };
}
