/** What a backup and a restore leave in the folders they write to. */
import assert from "node:assert/strict";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BackupRefused } from "../../../src/database/backup/parts.js";
import { LATEST_VERSION, migrateIn } from "../../../src/database/migrate.js";
import { openSqlite, sqliteDialect } from "../../../src/database/sqlite.js";
import { WriteQueue } from "../../../src/database/sqlite-writer.js";
import { checkBackup, restoreBackup, takeBackup } from "../../../src/transfer/backups/backups.js";
import { writeBackup } from "../../../src/transfer/backups/writer.js";
import { temporaryFolder } from "../../support/imports.js";
import { ManualClock } from "../../support/manual-clock.js";
import { NOW } from "../../support/world.js";

const clock = new ManualClock(NOW);
const QUIET = { clock, onProgress: () => {} };
const newFile = () => join(temporaryFolder(), "store.backup");

test("The secret of a store that is replaced is kept beside it", async () => {
  const location = { url: undefined, dataDir: temporaryFolder() };
  const { dataDir } = location;
  await createStore(dataDir);
  const secretFile = join(dataDir, "auth-secret");
  const file = newFile();
  writeFileSync(secretFile, "n".repeat(43), { mode: 0o600 });
  await takeBackup(file, { location, secretFile }, QUIET);
  writeFileSync(secretFile, "o".repeat(43));
  const times = new ManualClock(NOW);
  const replace = async () => {
    // A restore takes time.
    const onProgress = () => times.advance(1);
    await restoreBackup(
      file,
      { location, secretFile },
      { clock: times, onProgress, replaces: true, total: 1 },
    );
    return readdirSync(dataDir).filter((name) => name.startsWith("auth-secret.replaced-"));
  };
  const kept = await replace();
  const suffixes = kept.map((name) => name.slice("auth-secret".length));
  assert.deepEqual(
    suffixes,
    readdirSync(dataDir).flatMap((name) => /^sidereal\.db(\.replaced-\d+)$/.exec(name)?.[1] ?? []),
  );
  assert.equal(readFileSync(secretFile, "utf8"), "n".repeat(43));
  assert.deepEqual(
    kept.map((name) => readFileSync(join(dataDir, name), "utf8")),
    ["o".repeat(43)],
  );
  // The same secret is not kept twice.
  assert.deepEqual(await replace(), kept);
});

test("A backup that is not whole leaves the earlier one of its name in place", async () => {
  const file = newFile();
  writeFileSync(file, "earlier");
  const header = { kind: "sqlite" as const, version: LATEST_VERSION, takenAt: NOW };
  async function* parts() {
    yield { name: "database", data: repeated(Buffer.from("rows"), 3) };
  }
  const damage = async (partial: string) => {
    appendFileSync(partial, "x");
    return checkBackup(partial);
  };
  await assert.rejects(
    writeBackup(file, { header, parts: parts() }, { onProgress: () => {}, check: damage }),
    BackupRefused,
  );
  assert.equal(readFileSync(file, "utf8"), "earlier");
  assert.ok(!existsSync(`${file}.partial`));
});

test("A restore that is refused at its end keeps the secret that was there, and reads no large part into memory", async () => {
  const location = { url: undefined, dataDir: temporaryFolder() };
  const { dataDir } = location;
  await createStore(dataDir);
  const secret = join(dataDir, "auth-secret");
  writeFileSync(secret, "s".repeat(43), { mode: 0o600 });
  const refused = async (parts: [name: string, chunk: Buffer, times: number][], reason: RegExp) => {
    const file = newFile();
    async function* all() {
      for (const [name, chunk, times] of parts) yield { name, data: repeated(chunk, times) };
    }
    const header = { kind: "sqlite" as const, version: LATEST_VERSION, takenAt: NOW };
    await writeBackup(file, { header, parts: all() }, { onProgress: () => {}, check: checkBackup });
    await assert.rejects(
      restoreBackup(file, { location, secretFile: secret }, { ...QUIET, replaces: true, total: 1 }),
      reason,
    );
    assert.equal(readFileSync(secret, "utf8"), "s".repeat(43));
    assert.deepEqual(readdirSync(dataDir).toSorted(), ["auth-secret", "sidereal.db"]);
  };
  const other: [string, Buffer, number] = ["secret file", Buffer.from("x".repeat(43)), 1];
  await refused([other], /has no database/);
  await refused([other, ["database", Buffer.from("no database".repeat(1_000)), 1]], /is damaged/);
  await refused([["secret file", Buffer.alloc(1_048_576), 2]], /too large/);
});

/** Creates an empty SQLite store. */
async function createStore(dataDir: string): Promise<void> {
  const { db } = openSqlite(join(dataDir, "sidereal.db"), {
    synchronous: "FULL",
    writers: new WriteQueue(clock),
  });
  await db.transaction().execute((tx) => migrateIn(tx, sqliteDialect, { clock }));
  await db.destroy();
}

async function* repeated(chunk: Buffer, times: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < times; i++) yield chunk;
}
