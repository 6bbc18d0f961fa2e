import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { sql } from "kysely";
import { loadConfig } from "../../src/config/config.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { openModules } from "../../src/modules.js";
import { CommandWorld } from "../support/command.js";
import { until } from "../support/until.js";

test("start ends with its worker when it is told to stop", async () => {
  const world = new CommandWorld();
  const settings = {
    SIDEREAL_PORT: "0",
    SIDEREAL_LOG_LEVEL: "info",
    // A closed port.
    SIDEREAL_GITHUB_URL: "http://127.0.0.1:9",
    SIDEREAL_GITHUB_PRIVATE: "true",
  };
  const { process: child, ended } = world.start(world.newDataDir(), ["start"], settings);
  await new Promise<void>((resolve) => {
    child.stderr?.on("data", (text: string) => {
      if (text.includes('"msg":"tracking"')) resolve();
    });
  });
  child.kill("SIGTERM");
  const { code, stderr } = await ended;
  assert.equal(code, 0);
  // Standard error closes with the last process that holds it, so the worker has ended too.
  assert.match(stderr, /the worker is stopping/);
});

test("start without settings computes the growth that an upgrade has made due, and requests nothing of what was imported", async () => {
  const world = new CommandWorld();
  const dataDir = world.newDataDir();
  const file = join(world.folder, "days.ndjson");
  const days = [6, 5, 4, 3, 2, 1].map((day) => ({
    type: "snapshot",
    provider: "GITHUB",
    fullName: "rust-lang/rust",
    capturedAt: `2026-04-2${9 - day}T06:00:00.000Z`,
    stars: 1_000 - 7 * day,
  }));
  const record = { type: "repository", provider: "GITHUB", fullName: "rust-lang/rust" };
  writeFileSync(file, `${[record, ...days].map((line) => JSON.stringify(line)).join("\n")}\n`);
  const imported = await world.runHere(dataDir, ["import", file]);
  assert.equal(imported.code, 0, imported.stderr);
  const open = () =>
    openModules({
      config: loadConfig({ SIDEREAL_DATA_DIR: dataDir }),
      clock: systemClock,
      log: createLog("error"),
    });
  const { database } = await open();
  // As an upgrade leaves a store.
  await sql`update rollups set stars_usual = null`.execute(database.write);
  await sql`delete from status_documents where name = 'growth_sweep'`.execute(database.write);
  await database.close();
  const { process: child, ended } = world.start(dataDir, ["start"], {
    SIDEREAL_PORT: "0",
    SIDEREAL_LOG_LEVEL: "info",
  });
  after(() => child.kill("SIGKILL"));
  const upgraded = await open();
  await until("growth is computed", async () => {
    const { rows } = await sql<{ usual: number | null }>`select stars_usual as usual from rollups
      where window_hours = 24`.execute(upgraded.database.read);
    return rows[0]?.usual === 700;
  });
  child.kill("SIGTERM");
  const { stdout, stderr } = await ended;
  const { rows } = await sql`select 1 from repositories where next_refresh_at is not null
    union all select 1 from walks`.execute(upgraded.database.read);
  await upgraded.database.close();
  assert.deepEqual(rows, [], stderr);
  assert.match(stdout, /^Open http:\/\/127\.0\.0\.1:\d+\/operator\/enter\?key=sidl_\w{36} to begin/m);
});

test("start stops on SIGTERM while the service is opening", async () => {
  const world = new CommandWorld();
  const sockets: Socket[] = [];
  // Redis is connected to while the service opens, and this one never replies.
  const silent = createServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    // There are several connections, and a second signal would end it immediately.
    if (sockets.length === 1) child.kill("SIGTERM");
  }).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const address = silent.address();
  assert.ok(typeof address === "object" && address !== null);
  const { process: child, ended } = world.start(world.newDataDir(), ["start"], {
    SIDEREAL_PORT: "0",
    SIDEREAL_REDIS_URL: `redis://127.0.0.1:${address.port}`,
    SIDEREAL_GITHUB_URL: "http://127.0.0.1:9",
    SIDEREAL_GITHUB_PRIVATE: "true",
  });
  after(() => child.kill("SIGKILL"));
  const { code, stderr } = await ended;
  for (const socket of sockets) socket.destroy();
  silent.close();
  assert.equal(code, 0, stderr);
});
