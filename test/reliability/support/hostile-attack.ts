/** Sends hostile records through both doors and then everywhere they are shown. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildRoutes } from "../../../src/app/service.js";
import { loadConfig } from "../../../src/config/config.js";
import type { Database } from "../../../src/database/database.js";
import { Admission } from "../../../src/http/limits.js";
import type { Route } from "../../../src/http/route.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { createToken, hashToken } from "../../../src/lib/tokens.js";
import { updateDerived } from "../../../src/modules.js";
import type { DumpedRepository } from "../../../src/repositories/dump.js";
import type { Catalog } from "../../../src/repositories/repositories.js";
import { Catalog as OpenCatalog } from "../../../src/repositories/repositories.js";
import type { Problem } from "../../../src/transfer/gathering.js";
import { importFiles } from "../../../src/transfer/import.js";
import { exportCatalogue } from "../../../src/transfer/transfer.js";
import type { Engine } from "../../support/engines.js";
import { ORIGIN, SITE_SETTINGS } from "../../support/members.js";
import { createTrackingWorld } from "../../support/tracking.js";
import { createWorld, type World } from "../../support/world.js";
import { type Violation, type ViolationKind, violationsIn } from "./hostile-checks.js";
import { csvOf, forgeFactsOf, ndjsonOf } from "./hostile-records.js";
import { isLast, type Subject, type Visit, visitsOf } from "./hostile-visits.js";

export interface DataAttackOptions {
  texts: readonly string[];
  /** Of all requests to all routes about all records, one in `every` is sent. */
  every: number;
  report: (line: string) => void;
}

/** What came of it. */
export interface DataAttack {
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

export async function attackWithData(engine: Engine, options: DataAttackOptions): Promise<DataAttack> {
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
export function allRoutes(world: World): Route[] {
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
