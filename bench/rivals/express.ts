/**
 * What a user would build otherwise: an Express server on `pg`, with prepared statements, one query per page, a bounded count,
 * and the same fields as the API of Sidereal. `node express.js <postgres URL>` prints its address.
 */
import express, { type Request, type Response } from "express";
import pg from "pg";
import { repositoryFields } from "./fields.js";

const WINDOWS = ["24h", "7d", "30d"];
const PLAIN_SORTS: Readonly<Record<string, string>> = {
  stars: "r.stars",
  forks: "r.forks",
  pushed: "r.pushed_at",
  created: "r.created_at",
};
const TREND_SORTS: Readonly<Record<string, string>> = {
  trending: "t.trending",
  rising: "t.rising",
  new_hot: "t.new_hot",
  activity: "t.activity",
  "stars-gained": "t.stars_delta",
  "forks-gained": "t.forks_delta",
};
const LIST_COLUMNS = `r.id, r.provider, r.owner, r.name, r.full_name, r.url, r.description, r.homepage, r.language, r.license,
  r.topics, r.stars, r.forks, r.open_issues, r.watchers, r.fork, r.archived, r.availability, r.created_at, r.pushed_at,
  r.discovered_at, r.refreshed_at, r.next_refresh_at`;
const TREND_COLUMNS = `t."window", t.starts_at, t.ends_at, t.from_source, t.stars_delta, t.forks_delta, t.open_issues_delta,
  t.stars_growth, t.trending, t.rising, t.new_hot, t.star_momentum, t.fork_momentum, t.activity, t.confidence, t.reliable,
  t.anomalies`;

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 });
const app = express();
app.disable("x-powered-by");

/** Each shape of a statement is prepared once per connection. */
const names = new Map<string, string>();
function run(text: string, values: unknown[]): Promise<pg.QueryResult> {
  const name = names.get(text) ?? `statement-${names.size}`;
  names.set(text, name);
  return pool.query({ name, text, values });
}

/** A row as `pg` returns it. */
type Row = Readonly<Record<string, unknown>>;

const time = (value: unknown): string | null => (value instanceof Date ? value.toISOString() : null);

function trendView(row: Row) {
  if (row.window === null) return null;
  return {
    window: row.window,
    from: time(row.starts_at),
    to: time(row.ends_at),
    fromSource: row.from_source,
    starsDelta: row.stars_delta,
    forksDelta: row.forks_delta,
    openIssuesDelta: row.open_issues_delta,
    starsGrowth: row.stars_growth,
    scores: {
      trending: row.trending,
      rising: row.rising,
      newHot: row.new_hot,
      starMomentum: row.star_momentum,
      forkMomentum: row.fork_momentum,
      activity: row.activity,
    },
    confidence: row.confidence,
    reliable: row.reliable,
    anomalies: row.anomalies,
  };
}

const same = (value: unknown) => value;

const repositoryView = (row: Row) =>
  repositoryFields(row, { fullName: () => row.full_name, topics: same, flag: same, time });

/** The conditions of a list, with their values. */
function conditionsOf(query: Readonly<Record<string, string | undefined>>, isByTrend: boolean) {
  const values: unknown[] = [];
  const value = (one: unknown) => `$${values.push(one)}`;
  const conditions = ["r.availability = 'AVAILABLE'"];
  if (query.q) conditions.push(`r.search @@ to_tsquery('simple', ${value(tsquery(query.q))})`);
  if (query.provider) conditions.push(`r.provider = ${value(query.provider.toUpperCase())}`);
  if (query.language) conditions.push(`lower(r.language) = ${value(query.language.toLowerCase())}`);
  if (query.topic) conditions.push(`r.topics @> array[${value(query.topic.toLowerCase())}]`);
  if (query.license) conditions.push(`r.license = ${value(query.license)}`);
  if (query.minStars) conditions.push(`r.stars >= ${value(query.minStars)}`);
  if (query.maxStars) conditions.push(`r.stars <= ${value(query.maxStars)}`);
  if (query.createdAfter) conditions.push(`r.created_at >= ${value(query.createdAfter)}`);
  if (query.pushedAfter) conditions.push(`r.pushed_at >= ${value(query.pushedAfter)}`);
  for (const flag of ["archived", "fork"] as const) {
    const wanted = query[flag] ?? (isByTrend ? "false" : "any");
    if (wanted === "true") conditions.push(`r.${flag}`);
    if (wanted === "false") conditions.push(`r.${flag} is not true`);
  }
  if (query.reliableOnly === "true") conditions.push("t.reliable");
  if (query.excludeAnomalous === "true") conditions.push("t.anomalies = '[]'");
  return { conditions, values, value };
}

/** All words must occur; the last one may be a prefix. */
function tsquery(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word, i) => (i === words.length - 1 ? `${word}:*` : word)).join(" & ");
}

async function listRepositories(request: Request, response: Response): Promise<void> {
  const query = Object.fromEntries(
    Object.entries(request.query).map(([name, value]) => [name, String(value)]),
  );
  const sort = query.sort ?? (query.q ? "stars" : "trending");
  const window = query.window ?? "24h";
  const order = TREND_SORTS[sort] ?? PLAIN_SORTS[sort] ?? "r.stars";
  const isByTrend = sort in TREND_SORTS;
  if (!WINDOWS.includes(window)) {
    response.status(400).json({ data: null, error: { code: "VALIDATION_FAILED" } });
    return;
  }
  const { conditions, values, value } = conditionsOf(query, isByTrend);
  if (isByTrend) conditions.push(`${order} is not null`);
  const direction = query.order === "asc" ? "asc" : "desc";
  const limit = Number(query.limit ?? 25);
  const page = Number(query.page ?? 1);
  const id = isByTrend ? "t.repository_id" : "r.id";
  const join = isByTrend || query.reliableOnly || query.excludeAnomalous ? "join" : "left join";
  const from = `repositories r ${join} trends t on t.repository_id = r.id and t."window" = ${value(window)}`;
  const where = conditions.join(" and ");
  const counted = [...values];
  const text = `select ${LIST_COLUMNS}, ${TREND_COLUMNS} from ${from} where ${where}
    order by ${order} ${direction} nulls last, ${id} ${direction} limit ${value(limit + 1)} offset ${value((page - 1) * limit)}`;
  const total = `select count(*)::int as total from (select 1 from ${from} where ${where} limit 10001) as matches`;
  const [found, count] = await Promise.all([run(text, values), run(total, counted)]);
  const rows = found.rows.slice(0, limit);
  const matches: number = count.rows[0].total;
  response.json({
    data: rows.map((row) => ({ ...repositoryView(row), trend: trendView(row) })),
    meta: {
      total: Math.min(10_000, matches),
      totalIsExact: matches <= 10_000,
      hasMore: found.rows.length > limit,
      sort,
      page,
      limit,
      window,
    },
  });
}

const DETAIL = `select ${LIST_COLUMNS}, r.ranks, r.previous_names, r.data_quality, ${TREND_COLUMNS}
  from repositories r left join trends t on t.repository_id = r.id
  where r.provider = $1 and lower(r.owner) = $2 and lower(r.name) = $3`;

async function getRepository(request: Request, response: Response): Promise<void> {
  const { provider, owner, name } = request.params;
  const parts = [String(provider).toUpperCase(), String(owner).toLowerCase(), String(name).toLowerCase()];
  const { rows } = await run(DETAIL, parts);
  const [row] = rows;
  if (row === undefined) {
    response.status(404).json({ data: null, error: { code: "NOT_FOUND" } });
    return;
  }
  const trends = Object.fromEntries(
    WINDOWS.map((window) => [window, rows.find((one) => one.window === window)]),
  );
  response.json({
    data: {
      ...repositoryView(row),
      trends: Object.fromEntries(
        Object.entries(trends).map(([window, trend]) => [
          window,
          trend === undefined ? null : trendView(trend),
        ]),
      ),
      ranks: row.ranks,
      previousFullNames: row.previous_names,
      dataQuality: row.data_quality,
    },
  });
}

app.get("/api/repos", listRepositories);
app.get("/api/repos/:provider/:owner/:name", getRepository);
const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null)
    process.stdout.write(`listens at http://127.0.0.1:${address.port}\n`);
});
