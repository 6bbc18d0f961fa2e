import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { DAY_MS, HOUR_MS, isoTime } from "../../src/lib/clock.js";
import type { Catalog } from "../../src/repositories/repositories.js";
import { Dumps, isDumpDue, writeDump } from "../../src/transfer/dumps.js";
import { exportCatalogue, importFiles } from "../../src/transfer/transfer.js";
import { awkward } from "../support/awkward.js";
import { CommandWorld } from "../support/command.js";
import { onBothEngines, onSqlite } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { openMailbox } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { signIn } from "../support/members.js";
import { openCatalog } from "../support/tables.js";
import { createWorld, NOW, observation, snapshotAt } from "../support/world.js";

const root = temporaryFolder();
const newFolder = () => join(mkdtempSync(join(root, "dumps-")), "dumps");
const recorded = observation("o/r", [
  snapshotAt(Date.UTC(2026, 2, 2), 1),
  snapshotAt(Date.UTC(2026, 3, 2), 2),
]);
/** The name of a dump made a number of days after NOW. */
const nameAfter = (days: number) =>
  `sidereal-${isoTime(NOW + days * DAY_MS).replaceAll(/[-:]|\.\d+/g, "")}.ndjson.gz`;
const descriptionOf = (name: string) => name.replace("ndjson.gz", "json");
/** The files of dumps made numbers of days after NOW, sorted. */
const filesAfter = (...days: number[]) =>
  days.flatMap((day) => [nameAfter(day), descriptionOf(nameAfter(day))]).sort();
/** All lines of a dump. */
const linesOf = (path: string): string => gunzipSync(readFileSync(path)).toString();

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

  test("are listed with their sizes and checksums, newest first, and found by name", async () => {
    const folder = await daily(2);
    const dumps = new Dumps(folder);
    const [newest, older] = await dumps.list();
    const content = readFileSync(join(folder, nameAfter(1)));
    assert.deepEqual(newest, {
      name: nameAfter(1),
      version: 1,
      asOf: isoTime(NOW + DAY_MS),
      catalogue: "real",
      repositoryCount: 1,
      snapshots: 2,
      bytes: content.length,
      sha256: createHash("sha256").update(content).digest("hex"),
    });
    const location = join(folder, nameAfter(0));
    assert.deepEqual(await dumps.find(nameAfter(0)), { ...older, location });
    for (const name of ["", "..", "../secret", descriptionOf(nameAfter(0)), nameAfter(2)])
      assert.equal(await dumps.find(name), undefined, name);
  });

  test("without their file, or with a missing or damaged description, are not listed", async () => {
    const folder = await daily(7);
    const description = (day: number) => join(folder, descriptionOf(nameAfter(day)));
    const change = (day: number, from: string | RegExp, to: string) =>
      writeFileSync(description(day), readFileSync(description(day), "utf8").replace(from, to));
    rmSync(description(0));
    writeFileSync(description(1), "{");
    rmSync(join(folder, nameAfter(2)));
    change(3, '"version": 1', '"version": 2');
    change(4, isoTime(NOW + 4 * DAY_MS), isoTime(NOW));
    change(5, /"sha256": "[0-9a-f]+"/, '"sha256": "\\r\\nSet-Cookie: a=b"');
    assert.deepEqual(await listed(folder), [nameAfter(6)]);
  });

  test("are none without a folder", async () => {
    assert.deepEqual(await listed(newFolder()), []);
  });

  test("beyond the kept ones are removed, with what is left of others; other files stay", async () => {
    const folder = await daily(3);
    writeFileSync(join(folder, nameAfter(-9)), "its removal was interrupted");
    // A dump of an earlier version, and files of somebody else.
    const others = ["20260401T120000Z/snapshots", "mine", `${nameAfter(-9)}/`.replace(".gz", "")];
    for (const other of others) mkdirSync(join(folder, other), { recursive: true });
    await writeDump(catalog, { folder, kept: 2, clock: new ManualClock(NOW + 3 * DAY_MS) });
    const kept = ["20260401T120000Z", "mine", nameAfter(-9).replace(".gz", ""), ...filesAfter(2, 3)];
    assert.deepEqual(readdirSync(folder).sort(), kept.sort());
    assert.ok(existsSync(join(folder, "20260401T120000Z", "snapshots")));
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
    const write = (clock: ManualClock) => writeDump(catalog, { folder, kept: 9, clock });
    await assert.rejects(write(new ManualClock(NOW)), /there is a dump of .* already/);
    const partial = join(folder, `${nameAfter(1)}.partial`);
    writeFileSync(partial, "half");
    const { mtimeMs } = statSync(partial);
    await assert.rejects(write(new ManualClock(mtimeMs + HOUR_MS - 1)), /another process is writing/);
    assert.deepEqual(readdirSync(folder), [...filesAfter(0), `${nameAfter(1)}.partial`].sort());
  });

  test("that a kill has cut short are never listed, and removed by the next one", async () => {
    const folder = await daily(1);
    // Its description was complete, its name was not yet given.
    writeFileSync(join(folder, `${nameAfter(1)}.partial`), "half");
    cpSync(join(folder, descriptionOf(nameAfter(0))), join(folder, descriptionOf(nameAfter(1))));
    writeFileSync(join(folder, "mine.partial"), "mine");
    assert.deepEqual(await listed(folder), [nameAfter(0)]);
    // The partial file seems to be of the future, as after a wrong clock.
    await writeDump(catalog, { folder, kept: 9, clock: new ManualClock(NOW + 2 * DAY_MS) });
    assert.deepEqual(readdirSync(folder).sort(), [...filesAfter(0, 2), "mine.partial"].sort());
  });

  test("whose reading fails leave nothing behind, and the earlier ones as they were", async () => {
    const folder = await daily(2);
    const broken = {
      kind: () => catalog.kind(),
      dump: (after: number, limit: number) =>
        after === 0 ? catalog.dump(after, limit) : Promise.reject(new Error("the database has gone")),
      dumpFiles: () => catalog.dumpFiles(),
      dumpParted: () => catalog.dumpParted(),
    };
    const written = writeDump(broken, { folder, kept: 1, clock: new ManualClock(NOW + 9 * DAY_MS) });
    await assert.rejects(written, /the database has gone/);
    assert.deepEqual(readdirSync(folder).sort(), filesAfter(0, 1));
  });

  test("are not begun on a disk with less room than the last one may need", async () => {
    const folder = await daily(1);
    const path = join(folder, descriptionOf(nameAfter(0)));
    writeFileSync(path, readFileSync(path, "utf8").replace(/"bytes": \d+/, `"bytes": ${2 ** 52}`));
    const written = writeDump(catalog, { folder, kept: 1, clock: new ManualClock(NOW + DAY_MS) });
    await assert.rejects(written, /has too little space/);
    assert.deepEqual(readdirSync(folder).sort(), filesAfter(0));
  });
});

onBothEngines("A dump", (engine) => {
  const mailbox = openMailbox();

  test("is the export of the catalogue, compressed, which an import reads", async () => {
    const { catalog } = await openCatalog(engine);
    await catalog.record(awkward);
    const folder = newFolder();
    const dump = await writeDump(catalog, { folder, kept: 1, clock: new ManualClock(NOW) });
    let lines = "";
    for await (const text of exportCatalogue(catalog)) lines += text;
    assert.equal(linesOf(join(folder, dump.name)), lines);
    const { catalog: other } = await openCatalog(engine);
    const report = await importFiles(other, [join(folder, dump.name)]);
    assert.deepEqual(
      [report.repositoriesAdded, report.snapshotsAdded],
      [dump.repositoryCount, dump.snapshots],
    );
  });

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
    const { catalog } = world.modules;
    const { name } = await writeDump(catalog, { folder, kept: 1, clock: world.clock });
    const text = linesOf(join(folder, name)) + readFileSync(join(folder, descriptionOf(name)), "utf8");
    assert.match(text, /"fullName":"o\/r"/);
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
    assert.deepEqual(report, { repositories: 0, snapshots: 0 });
    assert.deepEqual(readdirSync(folder).sort(), [descriptionOf(dump), dump]);
    assert.ok(bytes > 0);
    const second = await world.runHere(dataDir, ["dump", "--if-due"], settings);
    assert.deepEqual([second.code, second.stdout], [0, "no dump is due\n"]);
    assert.deepEqual(readdirSync(folder).sort(), [descriptionOf(dump), dump]);
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
    assert.equal((await new Dumps(folder).list()).length, 1);
    child.kill("SIGTERM");
    assert.equal((await ended).code, 0);
  });
});
