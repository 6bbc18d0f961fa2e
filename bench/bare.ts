/**
 * The list and the detail as a bare handler: one or two statements of the kind that people write, rows as objects, a mapping to
 * the fields of the API, JSON.stringify. No limits, no checks, no ETag.
 */
import type { RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { repositoryFields } from "./rivals/fields.js";

type Row = Record<string, string | number | null>;
type Query = (text: string, values: (string | number)[]) => Promise<Row[]>;

export interface Bare {
  handlers: Readonly<Record<"list" | "detail", RequestListener>>;
  close(): Promise<void>;
}

const LIST = `select r.*, g.*, r.provider as provider from repositories r
  left join rollups g on g.repository_id = r.id and g.window_hours = 24
  where r.availability = 'AVAILABLE' order by coalesce(r.stars, -1) desc, r.id desc limit 26`;

const DETAIL = "select * from repositories where provider = $1 and name_key = $2";
const ROLLUPS = "select * from rollups where repository_id = $1";

/** Bare handlers over a store. */
export async function bareHandler(store: { dataDir: string } | { url: string }): Promise<Bare> {
  const { query, close } = "url" in store ? postgresQuery(store.url) : sqliteQuery(store.dataDir);
  const handle =
    (respond: (url: string) => Promise<unknown>): RequestListener =>
    async ({ url = "" }, response) =>
      sendJson(response, await respond(url));
  return {
    handlers: {
      list: handle(async () => {
        const rows = await query(LIST, []);
        const data = rows.slice(0, 25).map((row) => ({ ...repositoryOf(row), trend: trendOf(row) }));
        return { data, meta: { hasMore: rows.length > 25 } };
      }),
      detail: handle(async (url) => {
        const [provider = "", owner = "", name = ""] = url.split("/").slice(3).map(decodeURIComponent);
        const [row] = await query(DETAIL, [provider, `${owner}/${name}`.toLowerCase()]);
        if (row === undefined) throw new Error(`${url} is unknown`);
        const rollups = await query(ROLLUPS, [row.id ?? 0]);
        const trends = Object.fromEntries(rollups.map((rollup) => [rollup.window_hours, trendOf(rollup)]));
        return { data: { ...repositoryOf(row), trends } };
      }),
    },
    close,
  };
}

function sendJson(response: ServerResponse, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(200, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(text);
}

function postgresQuery(url: string): { query: Query; close: () => Promise<void> } {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  const pool = new pg.Pool({ connectionString: url, max: 4, types });
  return { query: async (text, values) => (await pool.query(text, values)).rows, close: () => pool.end() };
}

function sqliteQuery(dataDir: string): { query: Query; close: () => Promise<void> } {
  const database = new DatabaseSync(join(dataDir, "sidereal.db"), { readOnly: true });
  const prepared = new Map(
    [LIST, DETAIL, ROLLUPS].map((text) => [text, database.prepare(text.replaceAll(/\$\d/g, "?"))]),
  );
  return {
    query: async (text, values) => (prepared.get(text)?.all(...values) ?? []) as Row[],
    close: async () => database.close(),
  };
}

const time = (ms: string | number | null | undefined): string | null =>
  typeof ms === "number" ? new Date(ms).toISOString() : null;
const flag = (value: string | number | null | undefined) =>
  value === null || value === undefined ? null : value === 1;

const repositoryOf = (row: Row) =>
  repositoryFields(row, {
    fullName: () => `${row.owner}/${row.name}`,
    topics: (topics) => JSON.parse(String(topics)),
    flag,
    time,
  });

function trendOf(row: Row) {
  if (row.window_hours === null) return null;
  const score = (value: string | number | null | undefined) =>
    typeof value === "number" ? value / 100 : null;
  return {
    window: row.window_hours,
    from: time(row.from_at),
    to: time(row.to_at),
    fromSource: row.from_source,
    starsDelta: row.stars_delta,
    forksDelta: row.forks_delta,
    openIssuesDelta: row.open_issues_delta,
    starsGrowth: row.stars_growth,
    scores: {
      trending: score(row.trending),
      rising: score(row.rising),
      newHot: score(row.new_hot),
      starMomentum: score(row.star_momentum),
      forkMomentum: score(row.fork_momentum),
      activity: score(row.activity),
    },
    confidence: score(row.confidence),
    reliable: row.reliable === 1,
    anomalies: row.anomalies === null ? [] : JSON.parse(String(row.anomalies)),
  };
}
