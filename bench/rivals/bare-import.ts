/**
 * The least that an import can do: parse the CSV, and insert each row with prepared statements into tables with the same
 * indexes, in one transaction. It merges nothing, marks nothing, and trusts every line.
 */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parse } from "csv-parse";
import pg from "pg";
import { nameKey } from "../../src/repositories/record-rules.js";
import type { Store } from "../support/stores.js";

interface Row {
  stars: string;
  forks: string;
  language: string;
  repo_url: string;
  issues: string;
  last_commit: string;
  description: string;
}

export interface DatedFile {
  path: string;
  /** Capture time of its rows, in ms since 1970. */
  capturedAt: number;
}

const SNAPSHOTS = (integer: string, suffix: string) => `create table bare_snapshots (
  repository_id ${integer} not null, captured_at ${integer} not null, stars ${integer} not null, forks ${integer},
  open_issues ${integer}, watchers ${integer}, source smallint not null, primary key (repository_id, captured_at)) ${suffix}`;

const REPOSITORY = `insert into repositories (provider, owner, name, name_key, url, description, language, topics, stars, forks,
    open_issues, availability, pushed_at, discovered_at, refreshed_at, counted_at, known_facts)
  values ('GITHUB', $1, $2, $3, $4, $5, $6, '[]', $7, $8, $9, 'AVAILABLE', $10, $11, $11, $11, 0)
  on conflict (provider, name_key) do update set url = excluded.url, description = excluded.description,
    language = excluded.language, stars = excluded.stars, forks = excluded.forks, open_issues = excluded.open_issues,
    pushed_at = excluded.pushed_at, refreshed_at = excluded.refreshed_at, counted_at = excluded.counted_at
  returning id`;
const SNAPSHOT = `insert into bare_snapshots (repository_id, captured_at, stars, forks, open_issues, source)
  values ($1, $2, $3, $4, $5, 1) on conflict do nothing`;

type Value = string | number | null;
type Insert = (repository: Value[], snapshot: Value[]) => void | Promise<void>;

/** Imports the files; the store is empty before. */
export async function importBare(store: Store, files: readonly DatedFile[]): Promise<void> {
  if (store.url === undefined) await importInto(sqliteInsert(store.dataDir), files);
  else await importInto(await postgresInsert(store.url), files);
}

async function importInto(
  { insert, end }: { insert: Insert; end: () => void | Promise<void> },
  files: readonly DatedFile[],
) {
  for (const { path, capturedAt } of files) {
    for await (const row of createReadStream(path).pipe(parse({ columns: true })) as AsyncIterable<Row>) {
      const [owner = "", name = ""] = row.repo_url.split("/").slice(-2);
      const counts = [Number(row.stars), Number(row.forks), Number(row.issues)];
      const inserted = insert(
        [
          owner,
          name,
          nameKey(owner, name),
          row.repo_url,
          row.description,
          row.language || null,
          ...counts,
          Date.parse(row.last_commit),
          capturedAt,
        ],
        [capturedAt, ...counts],
      );
      if (inserted !== undefined) await inserted;
    }
  }
  await end();
}

function sqliteInsert(dataDir: string) {
  const database = new DatabaseSync(join(dataDir, "sidereal.db"));
  database.exec("pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -64000");
  database.exec(SNAPSHOTS("integer", "without rowid"));
  // Numbered parameters bind by position.
  const repositories = database.prepare(REPOSITORY.replaceAll("$", "?"));
  const snapshots = database.prepare(SNAPSHOT.replaceAll("$", "?"));
  database.exec("begin immediate");
  return {
    insert(repository: Value[], snapshot: Value[]) {
      const id = repositories.get(...repository)?.id;
      snapshots.run(Number(id), ...snapshot);
    },
    end() {
      database.exec("commit");
      database.close();
    },
  };
}

async function postgresInsert(connectionString: string) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(SNAPSHOTS("bigint", ""));
  const { rows } = await client.query("select pg_get_serial_sequence('repositories', 'id') as name");
  const hasSequence = rows[0]?.name !== null;
  let next = 1;
  const ids = new Map<Value, number>();
  const withId = REPOSITORY.replace("(provider,", "(id, provider,").replace(
    "values ('GITHUB'",
    "values ($12, 'GITHUB'",
  );
  await client.query("begin");
  return {
    async insert(repository: Value[], snapshot: Value[]) {
      const key = repository[2] ?? null;
      const id = ids.get(key) ?? next++;
      ids.set(key, id);
      const text = hasSequence ? REPOSITORY : withId;
      const values = hasSequence ? repository : [...repository, id];
      const inserted = await client.query({ name: "repository", text, values });
      await client.query({ name: "snapshot", text: SNAPSHOT, values: [inserted.rows[0].id, ...snapshot] });
    },
    async end() {
      await client.query("commit");
      await client.end();
    },
  };
}
