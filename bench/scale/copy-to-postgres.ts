/** Copies a SQLite store into an empty PostgreSQL database, table by table and row by row, through what restores a backup. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openRestoreTarget } from "../../src/database/backup/backup.js";
import { systemClock } from "../../src/lib/clock.js";

const CHUNK_BYTES = 262_144;
/** Tables of SQLite itself. */
const LEFT_OUT = /^sqlite_/;

/** Everything that is stored, derived data included. Returns the seconds of each table that took over a second. */
export async function copyToPostgres(dataDir: string, url: string): Promise<Record<string, number>> {
  const raw = new DatabaseSync(join(dataDir, "sidereal.db"), { readOnly: true });
  const version = Number(raw.prepare("select max(version) as version from schema_version").get()?.version);
  const location = { url, dataDir };
  const target = await openRestoreTarget(location, systemClock, {
    kind: "postgres",
    version,
    replaces: false,
    at: 0,
  });
  const seconds: Record<string, number> = {};
  try {
    for (const { name } of raw
      .prepare("select name from sqlite_schema where type = 'table' order by rowid")
      .all()) {
      const table = String(name);
      if (LEFT_OUT.test(table)) continue;
      const columns = raw.prepare(`select name from pragma_table_info('${table}')`).all();
      const began = performance.now();
      await target.add({
        name: table,
        columns: columns.map((column) => String(column.name)),
        data: rowsOf(raw, table),
      });
      const took = (performance.now() - began) / 1_000;
      if (took > 1) seconds[table] = took;
    }
    const last = raw.prepare("select max(id) as last from repositories").get()?.last ?? 1;
    const sequences = [{ name: "repositories_id_seq", value: String(last) }];
    await target.add({ name: "sequences", data: bytesOf([JSON.stringify(sequences)]) });
    await target.prepare();
    await target.finish();
    return seconds;
  } catch (error) {
    await target.abandon();
    throw error;
  } finally {
    raw.close();
  }
}

/** The rows of a table in the text form of `copy`. */
async function* rowsOf(raw: DatabaseSync, table: string): AsyncGenerator<Uint8Array> {
  let text = "";
  for (const row of raw.prepare(`select * from "${table}"`).iterate()) {
    text += `${Object.values(row).map(fieldOf).join("\t")}\n`;
    if (text.length < CHUNK_BYTES) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

async function* bytesOf(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

function fieldOf(value: unknown): string {
  if (value === null) return "\\N";
  if (value instanceof Uint8Array)
    return `\\\\x${Buffer.from(value.buffer, value.byteOffset, value.length).toString("hex")}`;
  return String(value).replaceAll(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}
