import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { DAY_MS, HOUR_MS, isoTime } from "../../src/lib/clock.js";
import type { Catalog } from "../../src/repositories/repositories.js";
import { Dumps, isDumpDue, writeDump } from "../../src/transfer/dumps.js";
import { CommandWorld } from "../support/command.js";
import { onBothEngines, onSqlite } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { openMailbox } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { signIn } from "../support/members.js";
import { readParquet } from "../support/parquet.js";
import { openCatalog } from "../support/tables.js";
import { createWorld, NOW, observation, snapshotAt } from "../support/world.js";

const root = temporaryFolder();
const newFolder = () => join(mkdtempSync(join(root, "dumps-")), "dumps");
const recorded = observation("o/r", [
  snapshotAt(Date.UTC(2026, 2, 2), 1),
  snapshotAt(Date.UTC(2026, 3, 2), 2),
]);
/** The name of a dump made a number of days after NOW. */
const nameAfter = (days: number) => isoTime(NOW + days * DAY_MS).replaceAll(/[-:]|\.\d+/g, "");

onSqlite("Dumps", (engine) => {
  let catalog: Catalog;

  before(async () => {
    ({ catalog } = await openCatalog(engine));
    await catalog.record([recorded]);
  });

  /** Writes a dump a day; returns the folder. */
  async function daily(days: number, kept = 100): Promise<string> {
    const folder = newFolder();
    for (let day = 0; day < days; day++)
      await writeDump(catalog, { folder, kept, clock: new ManualClock(NOW + day * DAY_MS) });
    return folder;
  }

  const listed = async (folder: string) => (await new Dumps(folder).list()).map(({ name }) => name);

  test("are listed with what is in them, newest first, and their files found by path", async () => {
    const folder = await daily(2);
    const dumps = new Dumps(folder);
    const [newest, older] = await dumps.list();
    assert.deepEqual([newest?.name, older?.name], [nameAfter(1), nameAfter(0)]);
    assert.deepEqual(
      newest?.files.map(({ path, rows }) => [path, rows]),
      [
        ["repositories.parquet", 1],
        ["snapshots/2026-03.parquet", 1],
        ["snapshots/2026-04.parquet", 1],
      ],
    );
    const found = await dumps.find(nameAfter(0), "snapshots/2026-03.parquet");
    assert.equal(found?.location, join(folder, nameAfter(0), "snapshots/2026-03.parquet"));
    assert.equal(readFileSync(found.location).length, found.bytes);
  });

  test("have the same file for a month that has not changed since the last one", async () => {
    const { catalog: growing } = await openCatalog(engine);
    await growing.record([recorded]);
    const folder = newFolder();
    const write = (day: number) =>
      writeDump(growing, { folder, kept: 9, clock: new ManualClock(NOW + day * DAY_MS) });
    const first = await write(0);
    await growing.record([observation("o/r", [snapshotAt(Date.UTC(2026, 3, 29), 3)])]);
    const second = await write(1);
    const sums = [first, second].map(({ manifest }) => manifest.files.map(({ sha256 }) => sha256));
    assert.equal(sums[0]?.[1], sums[1]?.[1]);
    assert.notEqual(sums[0]?.[2], sums[1]?.[2]);
  });

  test("have no files but those of their manifests, whatever path is asked for", async () => {
    const folder = await daily(1);
    writeFileSync(join(folder, nameAfter(0), "more.parquet"), "more");
    writeFileSync(join(folder, "secret"), "secret");
    const dumps = new Dumps(folder);
    for (const [name, path] of [
      [nameAfter(0), "more.parquet"],
      [nameAfter(0), "manifest.json"],
      [nameAfter(0), "../secret"],
      [nameAfter(0), "snapshots/../repositories.parquet"],
      [nameAfter(0), "snapshots"],
      [nameAfter(0), ""],
      ["..", "secret"],
      ["", "repositories.parquet"],
      [nameAfter(1), "repositories.parquet"],
    ] as const)
      assert.equal(await dumps.find(name, path), undefined, `${name} ${path}`);
  });

  test("whose manifests are missing, damaged or lead elsewhere are not listed", async () => {
    const folder = await daily(7);
    const manifest = (day: number) => join(folder, nameAfter(day), "manifest.json");
    const change = (day: number, from: string | RegExp, to: string) =>
      writeFileSync(manifest(day), readFileSync(manifest(day), "utf8").replace(from, to));
    rmSync(manifest(0));
    writeFileSync(manifest(1), "{");
    change(2, "repositories.parquet", "../../secret");
    change(3, '"version": 1', '"version": 2');
    change(4, isoTime(NOW + 4 * DAY_MS), isoTime(NOW));
    change(5, /"sha256": "[0-9a-f]+"/, '"sha256": "\\r\\nSet-Cookie: a=b"');
    assert.deepEqual(await listed(folder), [nameAfter(6)]);
  });

  test("are none where there is no folder", async () => {
    assert.deepEqual(await listed(newFolder()), []);
  });

  test("beyond the kept ones are removed, with what is left of others; other files stay", async () => {
    const folder = await daily(3);
    mkdirSync(join(folder, nameAfter(-9), "snapshots"), { recursive: true });
    mkdirSync(join(folder, "mine"));
    await writeDump(catalog, { folder, kept: 2, clock: new ManualClock(NOW + 3 * DAY_MS) });
    assert.deepEqual(readdirSync(folder).sort(), [nameAfter(2), nameAfter(3), "mine"]);
  });

  test("are due when the newest one is as old as configured, to the hour", async () => {
    const folder = newFolder();
    const isDue = (now: number) => isDumpDue(folder, { now, everyDays: 7 });
    assert.equal(await isDue(NOW), true);
    await writeDump(catalog, { folder, kept: 1, clock: new ManualClock(NOW) });
    assert.equal(await isDue(NOW + 7 * DAY_MS - HOUR_MS - 1), false);
    assert.equal(await isDue(NOW + 7 * DAY_MS - HOUR_MS), true);
  });

  test("are due although there is one of a clock that was years ahead", async () => {
    const folder = newFolder();
    for (const at of [NOW, NOW + 1_000 * DAY_MS])
      await writeDump(catalog, { folder, kept: 2, clock: new ManualClock(at) });
    assert.equal(await isDumpDue(folder, { now: NOW + DAY_MS, everyDays: 7 }), false);
    assert.equal(await isDumpDue(folder, { now: NOW + 8 * DAY_MS, everyDays: 7 }), true);
  });

  test("are not written twice at the same time", async () => {
    const folder = await daily(1);
    const again = writeDump(catalog, { folder, kept: 1, clock: new ManualClock(NOW) });
    await assert.rejects(again, /there is a dump of .* already/);
    assert.deepEqual(readdirSync(folder), [nameAfter(0)]);
  });

  for (const failing of [1, 2, 5])
    test(`are published whole or not at all: the disk is full at write ${failing}`, async (t) => {
      const folder = await daily(2);
      const prototype = await handlePrototype();
      let writes = 0;
      const { writeFile } = prototype;
      t.mock.method(
        prototype,
        "writeFile",
        function (this: FileHandle, ...given: Parameters<typeof writeFile>) {
          if (++writes < failing) return writeFile.apply(this, given);
          return Promise.reject(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" }));
        },
      );
      const written = writeDump(catalog, { folder, kept: 1, clock: new ManualClock(NOW + 9 * DAY_MS) });
      await assert.rejects(written, /ENOSPC/);
      assert.deepEqual(readdirSync(folder).sort(), [nameAfter(0), nameAfter(1)]);
      assert.deepEqual(await listed(folder), [nameAfter(1), nameAfter(0)]);
    });

  test("are not begun on a disk with less room than the last one may need", async () => {
    const folder = await daily(1);
    const path = join(folder, nameAfter(0), "manifest.json");
    writeFileSync(path, readFileSync(path, "utf8").replace(/"bytes": \d+/, `"bytes": ${2 ** 52}`));
    const written = writeDump(catalog, { folder, kept: 1, clock: new ManualClock(NOW + DAY_MS) });
    await assert.rejects(written, /has too little space/);
    assert.deepEqual(readdirSync(folder), [nameAfter(0)]);
  });
});

/** What all open files inherit from. */
async function handlePrototype(): Promise<FileHandle> {
  const file = await open(root);
  await file.close();
  return Object.getPrototypeOf(file);
}

onBothEngines("A dump", (engine) => {
  const mailbox = openMailbox();

  test("has nothing of people: no accounts, keys, watchlists and tokens", async () => {
    const world = await createWorld(engine, mailbox.settings);
    await world.record(recorded);
    const email = "someone.private@example.org";
    const { headers } = await signIn(world, mailbox, email);
    const key = await world.send("POST", "/api/me/keys", { name: "hidden-key" }, headers);
    assert.equal(key.status, 201);
    await world.send("POST", "/api/me/watchlist", { repositoryId: "1" }, headers);
    const list = await world.send("POST", "/api/watchlists", { name: "hidden-list", ids: ["1"] });
    assert.equal(list.status, 201);
    const folder = newFolder();
    const { name, manifest } = await writeDump(world.modules.catalog, {
      folder,
      kept: 1,
      clock: world.clock,
    });
    const found: string[] = [];
    for (const entry of readdirSync(join(folder, name), { recursive: true, withFileTypes: true })) {
      if (entry.isDirectory()) continue;
      const path = join(entry.parentPath, entry.name);
      const rows = path.endsWith(".parquet") ? JSON.stringify(await readParquet(path)) : "";
      found.push(readFileSync(path, "latin1") + rows);
    }
    assert.equal(found.length, manifest.files.length + 2);
    const text = found.join("\n");
    assert.match(text, /"full_name":"o\/r"/);
    const secrets = [email, "someone", "hidden", key.body.data.key, list.body.data.token];
    for (const secret of [...secrets, list.body.data.shareToken, "sid_", "sidw_", "sidr_"]) {
      assert.ok(String(secret).length >= 4);
      assert.ok(!text.includes(secret), secret);
    }
  });
});

describe("sidereal dump", () => {
  const world = new CommandWorld();

  test("writes a dump, and with --if-due only when one is due", async () => {
    const dataDir = world.newDataDir();
    await world.runHere(dataDir, ["derive"]);
    const folder = join(dataDir, "dumps");
    const settings = { SIDEREAL_DUMPS_DIR: folder };
    const first = await world.run(dataDir, ["dump", "--json"], { settings });
    assert.equal(first.code, 0, first.stderr);
    const { dump, bytes, ...report } = JSON.parse(first.stdout);
    assert.deepEqual(report, { repositories: 0, snapshots: 0, files: 1 });
    assert.deepEqual(readdirSync(folder), [dump]);
    assert.ok(bytes > 0);
    const second = await world.runHere(dataDir, ["dump", "--if-due"], settings);
    assert.deepEqual([second.code, second.stdout], [0, "no dump is due\n"]);
    assert.deepEqual(readdirSync(folder), [dump]);
  });

  test("needs a folder, in which it can write", async () => {
    const dataDir = world.newDataDir();
    const without = await world.runHere(dataDir, ["dump"]);
    assert.deepEqual(
      [without.code, without.stderr],
      [2, "SIDEREAL_DUMPS_DIR is not set, so there is no place for dumps.\n"],
    );
    await world.runHere(dataDir, ["derive"]);
    const file = join(dataDir, "file");
    writeFileSync(file, "");
    const refused = await world.runHere(dataDir, ["dump"], { SIDEREAL_DUMPS_DIR: file });
    assert.deepEqual([refused.code, refused.stderr], [1, "no dump was written: EEXIST\n"]);
  });

  test("is what the worker runs when a dump is due", async () => {
    const dataDir = world.newDataDir();
    const folder = join(dataDir, "dumps");
    const { process: child, ended } = world.start(dataDir, ["start"], {
      SIDEREAL_PORT: "0",
      SIDEREAL_LOG_LEVEL: "info",
      SIDEREAL_DUMPS_DIR: folder,
      // A closed port.
      SIDEREAL_GITHUB_URL: "http://127.0.0.1:9",
      SIDEREAL_GITHUB_PRIVATE: "true",
    });
    await new Promise<void>((resolve, reject) => {
      child.once("close", () => reject(new Error("the service has ended")));
      child.stderr?.on("data", (text: string) => {
        if (/"msg":"wrote a dump"/.test(text)) resolve();
      });
    });
    const [name = ""] = readdirSync(folder);
    assert.ok(existsSync(join(folder, name, "manifest.json")));
    child.kill("SIGTERM");
    assert.equal((await ended).code, 0);
  });
});
