/**
 * A SQLite store with many times the repositories of another one, for sizes at which recording them one by one takes hours. Rows of
 * repositories and topics are copied under other ids and owners, with a few snapshots of each as its tail, as the program stores them.
 * Everything derived is computed by the program afterwards. Top counts repeat, so there are more ties than in the world.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DAY_MS } from "../../src/lib/clock.js";
import { pieceOf } from "../../src/repositories/snapshots/blocks.js";
import { openStore, STORE_END } from "../support/stores.js";

/** Days before the end whose snapshots are copied, so that every window has growth. */
const KEPT_DAYS = [0, 1, 7, 30];
/** How long before and after such a day a snapshot may be, as the generator varies its times. */
const SPREAD_MS = DAY_MS / 4;
const FILLED = ["repositories", "repository_topics", "snapshots", "snapshot_hours"] as const;
const FILE = "sidereal.db";

export interface Multiplied {
  /** Data folder of the new store, which is replaced. */
  dataDir: string;
  times: number;
  report: (line: string) => void;
}

/** Fills a new store. Throws if the source has no block to copy from. */
export async function multiplyStore(source: string, { dataDir, times, report }: Multiplied): Promise<void> {
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  const { database, catalog } = await openStore({ url: undefined, dataDir });
  await catalog.markSynthetic();
  await database.close();
  const raw = new DatabaseSync(join(dataDir, FILE));
  // Nothing is lost with a store that can be made again.
  raw.exec("pragma main.journal_mode = delete");
  raw.exec(
    "pragma main.journal_mode = off; pragma main.synchronous = off; pragma main.locking_mode = exclusive",
  );
  raw.exec("pragma main.cache_size = -2000000; pragma temp_store = memory");
  raw.exec(`attach '${join(source, FILE).replaceAll("'", "''")}' as source`);
  const indexes = dropIndexes(raw);
  raw.exec("begin");
  const kept = keepSnapshots(raw);
  if (kept === 0) throw new Error(`there are no blocks in ${source}`);
  report(`${kept} snapshots are kept of the source`);
  const size = Number(raw.prepare("select max(id) as last from source.repositories").get()?.last);
  for (let copy = 0; copy < times; copy++) {
    copyRows(raw, { copy, first: copy * size });
    report(`copy ${copy + 1} of ${times} is stored`);
  }
  raw.exec(`insert into snapshot_hours select r.provider, k.captured_at / 3600000, count(*) * ${times}, max(k.captured_at)
    from kept k join source.repositories r on r.id = k.repository_id group by 1, 2`);
  raw.exec("commit");
  for (const index of indexes) raw.exec(index);
  report("indexes are built");
  raw.exec("detach source; pragma main.journal_mode = wal");
  raw.close();
}

/** Drops the indexes of the tables that are filled; returns the statements that create them again. */
function dropIndexes(raw: DatabaseSync): string[] {
  const rows = raw.prepare("select name, tbl_name, sql from main.sqlite_schema where type = 'index'").all();
  return rows.flatMap(({ name, tbl_name, sql }) => {
    if (typeof sql !== "string" || !FILLED.some((table) => table === tbl_name)) return [];
    raw.exec(`drop index main.${name}`);
    return [sql];
  });
}

/** The kept snapshots of the source's blocks, as the temporary table `kept` with the columns of `snapshots`; returns their number. */
function keepSnapshots(raw: DatabaseSync): number {
  raw.exec("create temp table kept as select * from main.snapshots limit 0");
  const insert = raw.prepare("insert into kept values (?, ?, ?, ?, ?, ?, ?)");
  let kept = 0;
  for (const row of raw.prepare("select * from source.snapshot_blocks").iterate()) {
    const { repository_id, from_at, to_at, snapshots, data } = row;
    if (!(data instanceof Uint8Array)) continue;
    const id = Number(repository_id);
    const block = {
      repositoryId: id,
      fromAt: Number(from_at),
      toAt: Number(to_at),
      snapshots: Number(snapshots),
      data,
    };
    const { readings } = pieceOf(block);
    for (let i = 0; i < readings.length; i++) {
      const age = STORE_END - readings.at(i);
      if (!KEPT_DAYS.some((day) => Math.abs(age - day * DAY_MS) < SPREAD_MS)) continue;
      const count = (column: number) => readings.count(i, column);
      insert.run(id, readings.at(i), readings.stars(i), count(2), count(3), count(4), readings.value(i, 5));
      kept++;
    }
  }
  return kept;
}

/** `first`: added to every id. */
function copyRows(raw: DatabaseSync, { copy, first }: { copy: number; first: number }): void {
  const suffix = copy === 0 ? "" : `-${copy + 1}`;
  const columns = raw.prepare("select name from pragma_table_info('repositories')").all();
  const changed: Readonly<Record<string, string>> = {
    id: `id + ${first}`,
    provider_id: `cast(cast(provider_id as integer) + ${first} as text)`,
    owner: `owner || '${suffix}'`,
    name_key: `substr(name_key, 1, length(owner)) || '${suffix}' || substr(name_key, length(owner) + 1)`,
  };
  const values = columns.map(({ name }) => changed[String(name)] ?? String(name));
  raw.exec(`insert into main.repositories (${columns.map(({ name }) => name).join()})
    select ${values.join()} from source.repositories order by id`);
  raw.exec(`insert into main.repository_topics select repository_id + ${first}, topic
    from source.repository_topics order by repository_id, topic`);
  raw.exec(`insert into main.snapshots select repository_id + ${first}, captured_at, stars, forks, open_issues, watchers, source
    from kept order by rowid`);
}
