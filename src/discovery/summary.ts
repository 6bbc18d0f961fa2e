/** The summary: counters of the catalogue, and how recent its counts are, computed after changes and read by requests. */
import { isDeepStrictEqual } from "node:util";
import { type RawBuilder, sql } from "kysely";
import { z } from "zod";
import { type Database, type Db, type Prepared, readNumber } from "../database/database.js";
import { ageInDays, DAY_MS, HOUR_MS } from "../lib/clock.js";
import {
  bumpRevision,
  CATALOGUE_KINDS,
  type CatalogueKind,
  countFreshness,
  type FreshnessCounts,
  type NewestFile,
  type Recency,
  readKind,
  readNewestFiles,
  readRecency,
} from "../repositories/repositories.js";

/** Counters of one provider, or of all providers together. */
interface Counters extends FreshnessCounts {
  repositories: number;
  snapshots: number;
  /** Snapshots taken in the 24 hours up to the newest one. */
  snapshots24h: number;
  /** Repositories refreshed in the same time. */
  refreshed24h: number;
  /** Repositories whose next refresh was overdue when the summary was computed. */
  overdueRefreshes: number;
}

interface ProviderSummary extends Counters, Freshness {
  provider: string;
  /** Time of its newest snapshot; null without any. */
  newestAt: number | null;
}

export interface Summary extends Counters, Freshness {
  languages: number;
  topics: number;
  providers: ProviderSummary[];
  /** The newest undamaged file of each archive that was imported. */
  newestFiles: NewestFile[];
  /** When the content last changed. */
  generatedAt: number;
  catalogue: CatalogueKind;
}

type StoredSummary = Omit<Summary, "languages" | "topics">;

/** Days in UTC from a time to now; null: there is no such time. */
interface Aged {
  ageDays: number | null;
}

/** The stored summary with the ages of its times. */
export interface CurrentCounters extends StoredSummary, Aged {
  providers: (ProviderSummary & Aged)[];
  newestFiles: (NewestFile & Aged)[];
}

export type CurrentSummary = CurrentCounters & Pick<Summary, "languages" | "topics">;

/** Three separate counts, as each can use an index. */
async function countRepositories(
  db: Db,
  provider: string,
  { since, now }: { since: number; now: number },
): Promise<Record<"repositories" | "refreshed" | "overdue", number>> {
  const count = (where: RawBuilder<unknown>): Promise<number> => {
    const select = sql`select count(*) from repositories
      where provider = ${provider} and availability = 'AVAILABLE' and ${where}`;
    return readNumber(db, select);
  };
  return {
    repositories: await count(sql`true`),
    refreshed: await count(sql`refreshed_at > ${since}`),
    overdue: await count(sql`next_refresh_at is not null and next_refresh_at < ${now}`),
  };
}

/** Recomputes the summary. The revision changes only if the content did. It is computed before the transaction that stores it. */
export async function updateSummary({ dialect, write }: Database, now: number): Promise<void> {
  const before = await readStored(write);
  const summary = await computeSummary(write, now, before);
  if (isDeepStrictEqual({ ...before, generatedAt: now }, summary)) return;
  const body = JSON.stringify(summary);
  await dialect.exclusively(write, "catalogue", async (tx) => {
    await sql`insert into summaries (id, body) values (${ID}, ${body})
      on conflict (id) do update set body = excluded.body`.execute(tx);
    await bumpRevision(tx);
  });
}

/** The row of `summaries`. */
const ID = 1;

async function readStored(db: Db): Promise<StoredSummary | undefined> {
  const row = await db.selectFrom("summaries").select("body").where("id", "=", ID).executeTakeFirst();
  return row === undefined ? undefined : STORED.parse(JSON.parse(row.body));
}

/** Computes the summary, which counts all repositories. `before`: the stored one. */
async function computeSummary(
  db: Db,
  now: number,
  before: StoredSummary | undefined,
): Promise<StoredSummary> {
  const recency = await readRecency(db);
  const newestFiles = await readNewestFiles(db);
  const isFileNew = JSON.stringify(newestFiles) !== JSON.stringify(before?.newestFiles);
  const totals = await sql<{ provider: string; snapshots: number; newest: number }>`
    select provider, sum(snapshots) as snapshots, max(newest_at) as newest from snapshot_hours
    group by provider`.execute(db);
  const stored = new Map(totals.rows.map((row) => [row.provider, row]));
  const names = await sql<{
    provider: string;
  }>`select distinct provider from repositories order by provider`.execute(db);
  const providers: Summary["providers"] = [];
  for (const { provider } of names.rows) {
    const newestAt = stored.has(provider) ? Number(stored.get(provider)?.newest) : null;
    const since = (newestAt ?? now) - DAY_MS;
    const { repositories, refreshed, overdue } = await countRepositories(db, provider, { since, now });
    const recent = sql`select sum(snapshots) from snapshot_hours
      where provider = ${provider} and hour > ${Math.floor(since / HOUR_MS)}`;
    const earlier = before?.providers.find((one) => one.provider === provider);
    providers.push({
      provider,
      repositories,
      snapshots: Number(stored.get(provider)?.snapshots ?? 0),
      snapshots24h: await readNumber(db, recent),
      refreshed24h: refreshed,
      overdueRefreshes: overdue,
      newestAt,
      ...(await readFreshness(db, { provider, repositories, newestAt }, { recency, earlier, isFileNew })),
    });
  }
  const sum = (counter: keyof Counters) =>
    providers.reduce((total, provider) => total + provider[counter], 0);
  return {
    repositories: sum("repositories"),
    snapshots: sum("snapshots"),
    snapshots24h: sum("snapshots24h"),
    refreshed24h: sum("refreshed24h"),
    overdueRefreshes: sum("overdueRefreshes"),
    freshRepositories: sum("freshRepositories"),
    staleRepositories: sum("staleRepositories"),
    providers,
    newestFiles,
    measured: freshnessOfGroups(providers.flatMap(({ measured }) => measured)).measured,
    asOf: freshnessOfGroups(
      providers.flatMap(({ asOf, repositories }) =>
        asOf === null ? [] : [{ from: asOf, to: asOf, repositories }],
      ),
    ).asOf,
    generatedAt: now,
    catalogue: await readKind(db),
  };
}

/** When the repositories of a provider were counted, or all of them; of one without any: never. */
export function catalogueFreshness(
  { providers, asOf, measured }: Pick<Summary, "providers" | keyof Freshness>,
  provider: string | undefined,
): Freshness {
  if (provider === undefined) return { asOf, measured };
  const own = providers.find((one) => one.provider === provider);
  return { asOf: own?.asOf ?? null, measured: own?.measured ?? [] };
}

const counted = z.number().catch(0);
const COUNTERS = {
  repositories: counted,
  snapshots: counted,
  snapshots24h: counted,
  refreshed24h: counted,
  overdueRefreshes: counted,
  freshRepositories: counted,
  staleRepositories: counted,
};
const timeOrNull = z.number().nullable().catch(null);
const group = z.object({ from: z.number(), to: z.number(), repositories: z.number() });
const FRESHNESS = { measured: z.array(group).catch([]), asOf: timeOrNull };

/** A stored summary. One that another version of the program has stored may have no such field: then nothing is known of it yet. */
const STORED: z.ZodType<StoredSummary> = z.object({
  ...COUNTERS,
  providers: z
    .array(z.object({ provider: z.string(), ...COUNTERS, newestAt: timeOrNull, ...FRESHNESS }))
    .catch([]),
  newestFiles: z.array(z.object({ source: z.string(), file: z.string(), capturedAt: z.number() })).catch([]),
  ...FRESHNESS,
  generatedAt: counted,
  catalogue: z.enum(CATALOGUE_KINDS).catch("real"),
});

/** Reads the stored summary; an empty one before the first update. */
export class SummaryReader {
  readonly #read: Prepared<number, [body: string]>;
  #parsed: { body: string; value: StoredSummary } | undefined;

  constructor({ prepare }: Database) {
    this.#read = prepare((given) => sql`select body from summaries where id = ${given((id) => id)}`);
  }

  async read(now: number): Promise<CurrentCounters> {
    const [row] = await this.#read(ID);
    if (row !== undefined && this.#parsed?.body !== row[0])
      this.#parsed = { body: row[0], value: STORED.parse(JSON.parse(row[0])) };
    const stored = row === undefined ? undefined : this.#parsed?.value;
    const { providers, newestFiles, ...counters } = stored ?? STORED.parse({ generatedAt: now });
    return {
      ...counters,
      providers: providers.map((one) => ({ ...one, ageDays: ageInDays(one.asOf, now) })),
      newestFiles: newestFiles.map((one) => ({ ...one, ageDays: ageInDays(one.capturedAt, now) })),
      ageDays: ageInDays(counters.asOf, now),
    };
  }
}

/** Counting this many repositories takes so long that it is done only once an hour. */
const MANY = 20_000;

/**
 * Counts the repositories of a provider by their freshness, which reads all of them. With many, the earlier counts are kept while the
 * provider's newest snapshot is of the same hour; `isFileNew`: whether an archive has a newer file since.
 */
async function readFreshness(
  db: Db,
  { provider, repositories, newestAt }: Pick<ProviderSummary, "provider" | "repositories" | "newestAt">,
  {
    recency,
    earlier,
    isFileNew,
  }: { recency: Recency; earlier: ProviderSummary | undefined; isFileNew: boolean },
): Promise<FreshnessCounts & Freshness> {
  const hour = (at: number | null) => Math.floor((at ?? 0) / HOUR_MS);
  if (
    repositories >= MANY &&
    earlier !== undefined &&
    !isFileNew &&
    hour(earlier.newestAt) === hour(newestAt)
  ) {
    const { freshRepositories, staleRepositories, asOf, measured } = earlier;
    return { freshRepositories, staleRepositories, asOf, measured };
  }
  const freshness = freshnessOfGroups(await countedHours(db, provider));
  return { ...(await countFreshness(db, provider, recency)), ...freshness };
}

/** Repositories counted from one time to another, in ms since 1970. */
export interface CountedGroup {
  from: number;
  to: number;
  repositories: number;
}

export interface Freshness {
  /** The median time, of many repositories to the hour; null without any. */
  asOf: number | null;
  /** Newest first, at most four, with an hour or more between them; the last one has all that were counted before, too. */
  measured: readonly CountedGroup[];
}

const MAX_GROUPS = 4;

/** The freshness of repositories by their times; null: never counted. */
export function freshnessOf(times: readonly (number | null)[]): Freshness {
  return freshnessOfGroups(
    times.flatMap((at) => (at === null ? [] : [{ from: at, to: at, repositories: 1 }])),
  );
}

/** The same of groups, in any order, that do not overlap. */
export function freshnessOfGroups(groups: readonly CountedGroup[]): Freshness {
  const sorted = groups.toSorted((a, b) => a.from - b.from);
  const half = sorted.reduce((sum, { repositories }) => sum + repositories, 0) / 2;
  let passed = 0;
  const middle = sorted.find(({ repositories }) => {
    passed += repositories;
    return passed >= half;
  });
  const measured: CountedGroup[] = [];
  for (const group of sorted.toReversed()) {
    const last = measured.at(-1);
    if (last === undefined || (last.from - group.to >= HOUR_MS && measured.length < MAX_GROUPS))
      measured.push({ ...group });
    else {
      last.from = Math.min(last.from, group.from);
      last.repositories += group.repositories;
    }
  }
  return { asOf: middle?.to ?? null, measured };
}

const format = new Intl.NumberFormat("en-US");

/** "1,816 earlier, 6 later": how many were counted on other days (UTC) than that of the median; empty if none were. */
export function otherDaysWords({ asOf, measured }: Freshness): string {
  if (asOf === null) return "";
  const day = Math.floor(asOf / DAY_MS) * DAY_MS;
  const counts = { earlier: 0, later: 0 };
  for (const { from, to, repositories } of measured) {
    if (to < day) counts.earlier += repositories;
    if (from >= day + DAY_MS) counts.later += repositories;
  }
  return Object.entries(counts)
    .flatMap(([word, count]) => (count === 0 ? [] : [`${format.format(count)} ${word}`]))
    .join(", ");
}

/** When the available repositories of a provider were counted, by hour. Reads all of them. */
export async function countedHours(db: Db, provider: string): Promise<CountedGroup[]> {
  const { rows } = await sql<Record<keyof CountedGroup, number | string>>`
    select min(counted_at) as "from", max(counted_at) as "to", count(*) as repositories from repositories
    where provider = ${provider} and availability = 'AVAILABLE' and counted_at is not null
    group by counted_at / ${sql.lit(HOUR_MS)}`.execute(db);
  return rows.map(({ from, to, repositories }) => ({
    from: Number(from),
    to: Number(to),
    repositories: Number(repositories),
  }));
}
