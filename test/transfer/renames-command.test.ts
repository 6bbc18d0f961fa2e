import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { importArchive, row } from "../support/archive.js";
import { CommandWorld } from "../support/command.js";

const world = new CommandWorld();
const text = { description: "A tool that does many things" };

describe("sidereal renames", () => {
  let dataDir: string;
  const run = (...args: string[]) => world.runHere(dataDir, ["renames", ...args]);

  before(async () => {
    dataDir = world.newDataDir();
    const database = await openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") });
    await importArchive({ catalog: new Catalog(database, systemClock), database }, [
      { day: 0, rows: [row("o/tool", 1_000, text, 90), row("o/core", 400)] },
      { day: 1, rows: [row("n/tool", 1_010, text, 91), row("o/core-2", 402)] },
    ]);
    await database.close();
  });

  test("lists renames with their evidence in words", async () => {
    const { code, stdout } = await run();
    assert.equal(code, 0);
    assert.deepEqual(stdout.split("\n"), [
      "1  suspected  github:o/tool → n/tool",
      "   until 2026-04-21, from 2026-04-22 in github-ranking: 1,000 → 1,010 stars, 90 → 91 forks, same description, same name, same language",
      "2  suspected  github:o/core → o/core-2",
      "   until 2026-04-21, from 2026-04-22 in github-ranking: 400 → 402 stars, similar name, same owner, same language",
      "",
    ]);
  });

  test("lists those of one status, and as JSON", async () => {
    assert.deepEqual(await run("list", "--status", "accepted"), {
      code: 0,
      stdout: "no renames\n",
      stderr: "",
    });
    const { stdout } = await run("list", "--status", "Suspected", "--json");
    const [first] = stdout.split("\n").map((line) => (line === "" ? undefined : JSON.parse(line)));
    const { reasons, suspectedAt, ...facts } = first;
    assert.equal(reasons.length, 5);
    assert.ok(Date.parse(suspectedAt) > 0);
    assert.deepEqual(facts, {
      id: "1",
      status: "SUSPECTED",
      from: { id: "1", provider: "GITHUB", fullName: "o/tool" },
      to: { id: "3", provider: "GITHUB", fullName: "n/tool" },
      evidence: {
        source: "github-ranking",
        from: { at: "2026-04-21T12:00:00.000Z", stars: 1_000, forks: 90 },
        to: { at: "2026-04-22T12:00:00.000Z", stars: 1_010, forks: 91 },
        sameDescription: true,
        sameName: true,
        similarName: true,
        sameOwner: false,
        sameLanguage: true,
        isReturn: false,
      },
      decidedAt: null,
    });
    const wrong = await run("list", "--status", "open");
    assert.deepEqual(wrong, {
      code: 2,
      stdout: "",
      stderr: "--status: must be one of suspected, accepted, rejected\n",
    });
  });

  test("accepts, rejects and undoes, and says when there was nothing to do", async () => {
    assert.deepEqual(await run("accept", "1", "2"), {
      code: 0,
      stdout: "1: accepted\n2: accepted\n",
      stderr: "",
    });
    assert.equal((await run("accept", "1")).stdout, "1: was accepted already\n");
    assert.equal((await run("reject", "2")).stdout, "2: rejected\n");
    assert.match(
      (await run("list", "--status", "rejected")).stdout,
      /^2 {2}rejected {2}github:o\/core → o\/core-2\n/,
    );
    assert.equal(
      (await run("undo", "1", "2", "--json")).stdout,
      '{"id":"1","result":"suspected again"}\n{"id":"2","result":"suspected again"}\n',
    );
    assert.equal((await run("undo", "1")).stdout, "1: was suspected already\n");
  });

  test("ends with 1 for a number that is none, does the others, and with 2 for what is no number", async () => {
    const { code, stdout } = await run("accept", "99", "1");
    assert.deepEqual([code, stdout], [1, "99: There is no rename 99.\n1: accepted\n"]);
    const wrong = await run("accept", "o/tool");
    assert.deepEqual(
      [wrong.code, wrong.stderr],
      [2, "o/tool: must be the number of a rename, as `sidereal renames` lists it\n"],
    );
    assert.equal((await run("merge", "1")).code, 2);
  });
});
