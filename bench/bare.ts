/**
 * The detail as a bare handler: two statements of the kind that people write, rows as objects, a mapping to the fields of the API,
 * JSON.stringify. No limits, no checks, no ETag.
 */
import type { RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { repositoryFields } from "./rivals/fields.js";

type Row = Record<string, string | number | null>;
type Query = (text: string, values: (string | number)[]) => Promise<Row[]>;

export interface Bare {
  handle: RequestListener;
  close(): Promise<void>;
}

const DETAIL = "select * from repositories where provider = $1 and name_key = $2";
const ROLLUPS = "select * from rollups where repository_id = $1";

/** A bare handler over a store. */
export async function bareHandler(store: { dataDir: string } | { url: string }): Promise<Bare> {
  const { query, close } = "url" in store ? postgresQuery(store.url) : sqliteQuery(store.dataDir);
  return {
    async handle({ url = "" }, response) {
      const [provider = "", owner = "", name = ""] = url.split("/").slice(3).map(decodeURIComponent);
      const [row] = await query(DETAIL, [provider, `${owner}/${name}`.toLowerCase()]);
      if (row === undefined) throw new Error(`${url} is unknown`);
      const rollups = await query(ROLLUPS, [row.id ?? 0]);
      const trends = Object.fromEntries(rollups.map((rollup) => [rollup.window_hours, trendOf(rollup)]));
      sendJson(response, { data: { ...repositoryOf(row), trends } });
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
    [DETAIL, ROLLUPS].map((text) => [text, database.prepare(text.replaceAll(/\$\d/g, "?"))]),
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
    },
    confidence: score(row.confidence),
    reliable: row.reliable === 1,
    anomalies: row.anomalies === null ? [] : JSON.parse(String(row.anomalies)),
  };
}
