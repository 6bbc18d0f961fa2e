/**
 * The tables of the Express server, filled with the same repositories as the store: flat, indexed by what lists sort and filter
 * by, with a generated `tsvector`. Scores are cruder than Sidereal's, but have the same fields.
 */
import pg from "pg";
import type { Observation } from "../../src/repositories/repository.js";
import { generatorOptions, STORE_END, type Store } from "../support/stores.js";
import { syntheticRepository } from "../synthetic/synthetic.js";

const BATCH = 1_000;
const DAY_MS = 86_400_000;

const TABLES = `
  create table repositories (
    id bigint primary key, provider text not null, owner text not null, name text not null, full_name text not null,
    url text not null, description text, homepage text, language text, license text, topics text[] not null,
    stars integer, forks integer, open_issues integer, watchers integer, fork boolean, archived boolean,
    availability text not null, created_at timestamptz, pushed_at timestamptz, discovered_at timestamptz not null,
    refreshed_at timestamptz, next_refresh_at timestamptz, ranks jsonb not null, previous_names jsonb not null,
    data_quality jsonb not null,
    search tsvector generated always as (
      setweight(to_tsvector('simple', translate(full_name, '/-_.', '    ')), 'A') ||
      setweight(to_tsvector('simple', coalesce(description, '')), 'B')) stored);
  create table trends (
    repository_id bigint not null, "window" text not null, starts_at timestamptz not null, ends_at timestamptz not null,
    from_source text not null, stars_delta integer not null, forks_delta integer, open_issues_delta integer,
    stars_growth double precision, trending real, rising real, new_hot real, star_momentum real, fork_momentum real,
    activity real, confidence real not null, reliable boolean not null, anomalies jsonb not null,
    primary key (repository_id, "window"));`;

const INDEXES = [
  "create index on repositories (stars desc nulls last, id desc)",
  "create index on repositories (lower(language), stars desc nulls last, id desc)",
  "create index on repositories (forks desc nulls last, id desc)",
  "create index on repositories (pushed_at desc nulls last, id desc)",
  "create index on repositories (created_at desc nulls last, id desc)",
  "create index on repositories (license)",
  "create index on repositories using gin (topics)",
  "create index on repositories using gin (search)",
  "create unique index on repositories (provider, lower(owner), lower(name))",
  ...["stars_delta", "forks_delta", "trending", "rising", "new_hot", "activity"].map(
    (column) => `create index on trends ("window", ${column} desc nulls last, repository_id desc)`,
  ),
];

/** The rows of one repository. */
function rowsOf(
  { provider, owner, name, facts, snapshots, previousNames = [], at }: Observation,
  id: number,
) {
  const all = [...snapshots];
  const last = all.at(-1);
  const trends = ([1, 7, 30] as const).flatMap((days) => {
    const from = all.findLast(
      ({ capturedAt }) => capturedAt <= (last?.capturedAt ?? 0) - days * DAY_MS * 0.95,
    );
    if (from === undefined || last === undefined) return [];
    const gained = last.stars - from.stars;
    const growth = from.stars === 0 ? null : gained / from.stars;
    const score = Math.min(100, Math.max(0, 10 * Math.log1p(Math.max(0, gained))));
    return [
      {
        repository_id: id,
        window: days === 1 ? "24h" : `${days}d`,
        starts_at: new Date(from.capturedAt),
        ends_at: new Date(last.capturedAt),
        from_source: from.source,
        stars_delta: gained,
        forks_delta: last.forks === null || from.forks === null ? null : last.forks - from.forks,
        open_issues_delta:
          last.openIssues === null || from.openIssues === null ? null : last.openIssues - from.openIssues,
        stars_growth: growth,
        trending: score,
        rising: growth === null ? null : Math.min(100, 100 * Math.max(0, growth)),
        new_hot: null,
        star_momentum: score,
        fork_momentum: score / 2,
        activity: score / 3,
        confidence: 1,
        reliable: true,
        anomalies: [],
      },
    ];
  });
  const time = (ms: number | null | undefined) => (typeof ms === "number" ? new Date(ms) : null);
  const repository = {
    id,
    provider,
    owner,
    name,
    full_name: `${owner}/${name}`,
    url: facts.url,
    description: facts.description,
    homepage: facts.homepage,
    language: facts.language,
    license: facts.license,
    topics: facts.topics,
    stars: facts.stars,
    forks: facts.forks,
    open_issues: facts.openIssues,
    watchers: facts.watchers,
    fork: facts.fork,
    archived: facts.archived,
    availability: facts.availability,
    created_at: time(facts.createdAt),
    pushed_at: time(facts.pushedAt),
    discovered_at: new Date(STORE_END),
    refreshed_at: time(at),
    next_refresh_at: null,
    ranks: [],
    previous_names: previousNames.map(({ fullName }) => fullName),
    data_quality: {
      snapshots: all.length,
      firstSnapshotAt: all[0]?.capturedAt,
      lastSnapshotAt: last?.capturedAt,
    },
  };
  return { repository, trends };
}

/** The address of the database of a store's size, filled if it is missing. */
export async function prepareExpressStore(
  { size, days }: Pick<Store, "size" | "days">,
  postgresUrl: string,
  report: (line: string) => void,
): Promise<string> {
  const name = `sidereal_bench_express_${size}_${days}`;
  const addressOf = (database: string) => {
    const url = new URL(postgresUrl);
    url.pathname = `/${database}`;
    return url.href;
  };
  const server = new pg.Client({ connectionString: addressOf("postgres") });
  await server.connect();
  const found = await server.query("select 1 from pg_database where datname = $1", [name]);
  if (found.rowCount === 0) {
    const building = `${name}_building`;
    await server.query(`drop database if exists ${building} with (force)`);
    await server.query(`create database ${building} template template0 encoding 'UTF8'`);
    await fill(addressOf(building), { size, days });
    await server.query(`alter database ${building} rename to ${name}`);
    report(`the tables of Express are filled with ${size} repositories`);
  }
  await server.end();
  return addressOf(name);
}

async function fill(url: string, { size, days }: Pick<Store, "size" | "days">): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(TABLES);
  const options = generatorOptions({ size, days });
  const insert = (table: string, rows: readonly object[]) =>
    client.query(
      table === "repositories"
        ? INSERT_REPOSITORIES
        : `insert into trends select * from jsonb_populate_recordset(null::trends, $1)`,
      [JSON.stringify(rows)],
    );
  for (let from = 0; from < size; from += BATCH) {
    const made = Array.from({ length: Math.min(BATCH, size - from) }, (_, i) =>
      rowsOf(syntheticRepository(from + i, options), from + i + 1),
    );
    await insert(
      "repositories",
      made.map(({ repository }) => repository),
    );
    await insert(
      "trends",
      made.flatMap(({ trends }) => trends),
    );
  }
  for (const index of INDEXES) await client.query(index);
  await client.query("vacuum analyze");
  await client.end();
}

const COLUMNS =
  "id, provider, owner, name, full_name, url, description, homepage, language, license, topics, stars, forks, open_issues, watchers, fork, archived, availability, created_at, pushed_at, discovered_at, refreshed_at, next_refresh_at, ranks, previous_names, data_quality";
const INSERT_REPOSITORIES = `insert into repositories (${COLUMNS})
  select ${COLUMNS} from jsonb_populate_recordset(null::repositories, $1)`;
