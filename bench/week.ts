/**
 * A week of tracking three fake forges, in virtual time, with the real worker and a SQLite file:
 * `npm run -s build && node dist/bench/week.js --repositories 100000 --days 7`, with `--tokens 0` without a token. Rows of
 * searches are `--lag-minutes` behind, and `--incomplete` of them are incomplete. After the week it runs until every repository
 * has been refreshed once more, and compares the catalogue with the forges, unless `--skip-round`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import type { ForgeKind } from "../src/config/known-forges.js";
import { openDatabase } from "../src/database/database.js";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { HEAT_CLASSES, type HeatClass, heatClass } from "../src/tracking/cadence.js";
import type { EventKind } from "../test/support/forge/forge.js";
import { createTrackingWorld, type TrackedForge, type TrackingWorld } from "../test/support/tracking.js";
import { CountWatch, HalfHours } from "./week-counts.js";
import { EventWatch } from "./week-events.js";
import { HourlyUse, quantile, span, Watch } from "./week-watch.js";

const { values } = parseArgs({
  options: {
    repositories: { type: "string", default: "2000" },
    days: { type: "string", default: "7" },
    "derive-minutes": { type: "string", default: "60" },
    history: { type: "boolean", default: false },
    tokens: { type: "string", default: "1" },
    "lag-minutes": { type: "string", default: "5" },
    incomplete: { type: "string", default: "0.02" },
    "skip-round": { type: "boolean", default: false },
  },
});
const repositories = Number(values.repositories);
const days = Number(values.days);
/** Interval of checks of the catalogue, and so the precision of delays. */
const LOOK_MS = 15 * 60_000;
/** A full round of refreshes: a week, a tenth more for jitter, and a day for repositories that need a request each. */
const ROUND_MS = 1.1 * WEEK_MS + DAY_MS;

const SHARES: readonly (readonly [string, ForgeKind, number])[] = [
  ["GITHUB", "github", 0.8],
  ["GITLAB", "gitlab", 0.12],
  ["CODEBERG", "forgejo", 0.08],
];
/** Hourly quota of a token at each forge, and the requests that count against it. */
const QUOTAS: readonly (readonly [string, string, number, readonly string[]])[] = [
  ["GITHUB", "graphql", 5_000, ["graphql"]],
  ["GITHUB", "search", 30 * 60, ["search"]],
  ["GITHUB", "core", 5_000, ["repository", "repository-by-id", "history", "other"]],
  ["GITLAB", "core", 2_000 * 60, ["list", "graphql", "repository", "repository-by-id"]],
];
const GITHUB_REFRESHES = ["graphql", "repository", "repository-by-id"];
const REST_REFRESHES = ["repository", "repository-by-id"];

const print = (line = "") => process.stdout.write(`${line}\n`);
const percent = (part: number) => `${(100 * part).toFixed(1)} %`;

interface ScheduleRow {
  provider: string;
  refreshed_at: number;
  next_refresh_at: number;
}

/** Ages of the data, and the longest wait past a due time. */
class Freshness {
  readonly ages = new Map<HeatClass, number[]>(HEAT_CLASSES.map((heat) => [heat, []]));
  readonly counts = new Map<HeatClass, number>();
  longestWait = 0;

  async sample({ modules, clock }: TrackingWorld): Promise<void> {
    const { rows } = await sql<ScheduleRow>`select provider, refreshed_at, next_refresh_at from repositories
      where availability = 'AVAILABLE' and refreshed_at is not null and next_refresh_at is not null`.execute(
      modules.database.read,
    );
    this.counts.clear();
    for (const { refreshed_at, next_refresh_at } of rows) {
      const heat = heatClass(Math.max(0, next_refresh_at - refreshed_at));
      this.ages.get(heat)?.push(clock.now() - refreshed_at);
      this.counts.set(heat, (this.counts.get(heat) ?? 0) + 1);
    }
  }

  async wait({ modules, clock }: TrackingWorld): Promise<void> {
    const { rows } = await sql<{ at: number | null }>`select min(next_refresh_at) as at from repositories
      where next_refresh_at is not null`.execute(modules.database.read);
    this.longestWait = Math.max(this.longestWait, clock.now() - (rows[0]?.at ?? clock.now()));
  }
}

interface Measures {
  watches: Map<string, Watch>;
  events: Map<string, EventWatch>;
  use: HourlyUse;
  freshness: Freshness;
  counts: CountWatch;
  halfHours: HalfHours;
}

async function pass(
  world: TrackingWorld,
  measures: Measures,
  { ms, sampleFrom, countFrom }: { ms: number; sampleFrom: number; countFrom: number },
): Promise<void> {
  const { clock, modules, forges } = world;
  const end = clock.now() + ms;
  const began = clock.now();
  for (let step = 1; clock.now() < end; step++) {
    await world.pass(Math.min(LOOK_MS, end - clock.now()));
    for (const watch of measures.events.values()) await watch.check(modules.database, clock.now());
    await measures.freshness.wait(world);
    if (step % 4 === 0) for (const [name, forge] of forges) measures.use.note(name, forge);
    for (const [name, forge] of forges) measures.halfHours.note(name, forge);
    if (clock.now() - began > countFrom) await measures.counts.noteHot(world);
    if (step % 24 === 0 && clock.now() - began > countFrom) await measures.counts.compare(world);
    if (step % 24 === 0 && clock.now() - began >= sampleFrom) await measures.freshness.sample(world);
    if (step % 96 === 0) {
      const memory = Math.round(process.memoryUsage.rss() / 2 ** 20);
      process.stderr.write(`day ${step / 96}, ${Math.round(performance.now() / 1_000)} s, ${memory} MiB\n`);
    }
  }
}

async function tellRequests({ forges }: TrackingWorld, { watches, use }: Measures): Promise<void> {
  print("Requests");
  for (const [name, { counters }] of forges) {
    const watch = watches.get(name) ?? new Watch();
    const refreshes = name !== "CODEBERG" ? GITHUB_REFRESHES : REST_REFRESHES;
    const sent = refreshes.reduce((sum, kind) => sum + (counters.byKind[kind] ?? 0), 0);
    print(
      `  ${name}: ${counters.requests} (${JSON.stringify(counters.byKind)}), by status ${JSON.stringify(counters.byStatus)}`,
    );
    print(
      `    ${watch.attempted} refreshes (${watch.found} found, ${watch.unchanged} unchanged, ${watch.failed} failed) in ${watch.calls} calls; ` +
        `${(sent / Math.max(1, watch.attempted)).toFixed(4)} requests a refresh; ${(counters.bytes / 2 ** 20).toFixed(0)} MiB received`,
    );
    print(
      `    ${watch.soon} within a day of the last, ${watch.needless} of them found no change (${percent(watch.needless / Math.max(1, watch.soon))})`,
    );
  }
  print("Quota used");
  for (const [name, resource, perHour, kinds] of QUOTAS) {
    const { peak, mean } = use.of(name, kinds, days * 24);
    print(
      `  ${name} ${resource}: mean ${percent(mean / perHour)}, busiest hour ${percent(peak / perHour)} of ${perHour} an hour`,
    );
  }
}

function tellFreshness({ freshness }: Measures): void {
  print("Age of the data by refresh interval (sampled every 6 h of the second half)");
  for (const heat of HEAT_CLASSES) {
    const ages = freshness.ages.get(heat) ?? [];
    print(
      `  ${heat.padEnd(5)} ${String(freshness.counts.get(heat) ?? 0).padStart(7)} at the end; median ${span(quantile(ages, 0.5))}, 99 % ${span(quantile(ages, 0.99))}`,
    );
  }
  print(`  longest wait past the due time: ${span(freshness.longestWait)}`);
}

function tellEvents({ events }: Measures, now: number): void {
  print(`Events, and the delay until the catalogue showed them (precision ${span(LOOK_MS)})`);
  const all = new Map<EventKind, number[]>();
  let [late, overtaken] = [0, 0];
  for (const watch of events.values()) {
    for (const [kind, delays] of watch.delays) all.set(kind, [...(all.get(kind) ?? []), ...delays]);
    late += watch.late(now).length;
    overtaken += watch.overtaken;
  }
  for (const [kind, delays] of all) {
    print(
      `  ${kind.padEnd(11)} ${String(delays.length).padStart(6)}; median ${span(quantile(delays, 0.5))}, 99 % ${span(quantile(delays, 0.99))}, longest ${span(Math.max(0, ...delays))}`,
    );
  }
  print(
    `  ${overtaken} undone or replaced before they were visible; older than a week and not visible: ${late}`,
  );
}

/** Compares every repository of every forge with the catalogue, as of its last refresh. */
async function countDifferences({ modules, forges, clock }: TrackingWorld): Promise<void> {
  let [compared, differences, late] = [0, 0, 0];
  for (const [name, { catalogue }] of forges) {
    const rows = await modules.database.read
      .selectFrom("repositories")
      .select(["provider_id", "owner", "name", "availability", "archived", "stars", "refreshed_at"])
      .where("provider", "=", name)
      .execute();
    const known = new Map(rows.map((row) => [row.provider_id, row]));
    const differ = (what: string) => {
      if (++differences <= 10) print(`  ${name} ${what}`);
    };
    if (known.size !== rows.length) differ(`${rows.length - known.size} rows without a distinct id`);
    for (const { id } of catalogue.truth(clock.now())) {
      const row = known.get(String(id));
      known.delete(String(id));
      compared++;
      if (row === undefined) {
        const wasVisible = catalogue.get(id, clock.now() - 2 * DAY_MS)?.visibility === "public";
        if (wasVisible && catalogue.get(id, clock.now())?.visibility === "public") differ(`${id} is missing`);
        continue;
      }
      const at = row.refreshed_at ?? 0;
      if (clock.now() - at > ROUND_MS) late++;
      const truth = catalogue.get(id, at);
      if (truth === undefined) {
        differ(`${id} did not exist when it was refreshed`);
        continue;
      }
      const isPublic = truth.visibility === "public";
      if (isPublic !== (row.availability === "AVAILABLE"))
        differ(`${id} is ${truth.visibility}, not ${row.availability}`);
      if (!isPublic) continue;
      if (`${row.owner}/${row.name}` !== truth.fullName) differ(`${id} is called ${truth.fullName}`);
      if (row.stars !== truth.stars) differ(`${id} has ${truth.stars} stars, not ${row.stars}`);
      if (row.archived !== null && (row.archived === 1) !== truth.isArchived) differ(`${id}: archived`);
    }
    for (const id of known.keys()) differ(`${id} does not exist at this forge`);
  }
  print(
    `${compared} repositories compared: ${differences} differences; ${late} not refreshed in the last round`,
  );
}

async function tellSize({ modules }: TrackingWorld): Promise<void> {
  const { read, dialect } = modules.database;
  const { rows } = await sql<{ total: number }>`select sum(snapshots) as total from snapshot_hours`.execute(
    read,
  );
  const size = await dialect.size(read);
  print(`${Number(rows[0]?.total ?? 0)} snapshots, database ${(size / 1e6).toFixed(0)} MB`);
}

/** As on the real ones, rows lag behind, and some searches end before they are complete. */
function makeSearchesReal({ forges }: TrackingWorld): void {
  let searches = 0;
  for (const { switches, kind } of forges.values()) {
    if (kind !== "github") continue;
    switches.rowLagMs = Number(values["lag-minutes"]) * 60_000;
    const every = Math.round(1 / Number(values.incomplete));
    switches.isSearchIncomplete = () => ++searches % every === 0;
  }
}

async function main(dataDir: string): Promise<void> {
  let now = () => 0;
  const watches = new Map<string, Watch>();
  const tracked = SHARES.map(
    ([name, kind, share]): TrackedForge => ({
      kind,
      name,
      repositories: Math.round(repositories * share),
      tokens: values.tokens === "0" ? [] : ["first-token"],
      hasHistory: values.history,
      listingAgeMs: HOUR_MS,
      catalogue: { days },
      wrap: (provider) => {
        const watch = new Watch();
        watches.set(provider.name, watch);
        return watch.around(provider, () => now());
      },
    }),
  );
  const database = await openDatabase({ url: undefined, dataDir, pool: 4, log: createLog("error") });
  const world = await createTrackingWorld(database, tracked, {
    deriveEveryMs: Number(values["derive-minutes"]) * 60_000,
  });
  now = () => world.clock.now();
  makeSearchesReal(world);
  const events = new Map([...world.forges].map(([name, forge]) => [name, new EventWatch(name, forge)]));
  const measures = {
    watches,
    events,
    use: new HourlyUse(),
    freshness: new Freshness(),
    counts: new CountWatch(),
    halfHours: new HalfHours(),
  };
  try {
    await pass(world, measures, { ms: days * DAY_MS, sampleFrom: (days * DAY_MS) / 2, countFrom: DAY_MS });
    print(
      `${repositories} repositories, ${days} days, ${values.tokens} tokens: ${(performance.now() / 1_000).toFixed(0)} s`,
    );
    await tellRequests(world, measures);
    tellFreshness(measures);
    for (const line of measures.counts.lines()) print(line);
    for (const line of measures.halfHours.lines()) print(line);
    for (const [name, { violations }] of world.forges) print(`${name}: ${violations.length} violations`);
    await tellSize(world);
    if (values["skip-round"]) return;
    const never = Number.POSITIVE_INFINITY;
    await pass(world, measures, { ms: ROUND_MS, sampleFrom: never, countFrom: never });
    print(`Another round, ${span(ROUND_MS)}: ${(performance.now() / 1_000).toFixed(0)} s in total`);
    tellEvents(measures, world.clock.now());
    await countDifferences(world);
    for (const [name, { violations }] of world.forges) print(`${name}: ${violations.length} violations`);
    print(`longest wait past the due time, overall: ${span(measures.freshness.longestWait)}`);
    print(`memory peak ${Math.round(process.resourceUsage().maxRSS / 1_024)} MiB, including the fake forges`);
  } finally {
    await world.close();
  }
}

const dataDir = mkdtempSync(join(tmpdir(), "sidereal-week-"));
await main(dataDir).finally(() => rmSync(dataDir, { recursive: true, force: true }));
