import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { type RemovalOptions, remove } from "../../src/cli/removal.js";
import { shellCommand } from "../../src/lib/shell-words.js";
import { unusedHost } from "../support/command.js";

/** Removes two things while somebody at a terminal types a line; undefined: the input ends. */
async function removeTwo(typed: string | undefined, options: RemovalOptions = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  stdin.end(typed === undefined ? undefined : `${typed}\n`);
  const removed: string[] = [];
  const code = await remove({ ...unusedHost(), stdin, stdout, stderr }, options, {
    items: ["one", "two"],
    question: "Delete 2 things?",
    verb: "deleted",
    describe: (name) => ({ name, words: ", with all", facts: { name } }),
    carryOut: async (name) => {
      removed.push(name);
    },
  });
  return { code, removed, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") };
}

const WOULD = "one: would be deleted, with all\ntwo: would be deleted, with all\n";
const DONE = "one: deleted, with all\ntwo: deleted, with all\n";

test("a command that removes says what goes, asks, and takes only a clear yes", async () => {
  const agreed = await removeTwo("Y");
  assert.deepEqual(agreed, {
    ...{ code: 0, removed: ["one", "two"], stdout: WOULD + DONE },
    stderr: "Delete 2 things? [y/N] ",
  });
  for (const typed of ["", "n", "yes please", undefined]) {
    const { code, removed, stdout, stderr } = await removeTwo(typed);
    assert.deepEqual([code, removed, stdout], [1, [], WOULD]);
    assert.match(stderr, /\[y\/N\] Nothing is changed\.\n$/);
  }
});

test("--yes asks nothing, and --dry-run changes nothing even with it", async () => {
  const done = await removeTwo(undefined, { yes: true });
  assert.deepEqual(done, { code: 0, removed: ["one", "two"], stdout: DONE, stderr: "" });
  const dry = await removeTwo(undefined, { yes: true, dryRun: true, json: true });
  const lines = ["one", "two"].map((name) => `${JSON.stringify({ name, result: "unchanged" })}\n`).join("");
  assert.deepEqual(dry, { code: 0, removed: [], stdout: lines, stderr: "" });
});

test("a command that undoes something is safe to paste, whatever the name", () => {
  assert.equal(
    shellCommand("sidereal", "track", "github:acme/kite.js"),
    "sidereal track github:acme/kite.js",
  );
  assert.equal(shellCommand("sidereal", "unhide", "github:a/b*"), "sidereal unhide 'github:a/b*'");
  assert.equal(shellCommand("x", "a/$(id);'b"), "x 'a/$(id);'\\''b'");
});
