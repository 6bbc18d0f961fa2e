import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Command } from "commander";
import { createProgram } from "../../src/cli/cli.js";
import { examplesOf, runnableCommands } from "../../src/cli/examples.js";
import { loadConfig } from "../../src/config/config.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { openModules } from "../../src/modules.js";
import { CommandWorld, unusedHost } from "../support/command.js";

const programWith = (ran: (words: readonly string[]) => void): Command => {
  const program = createProgram(unusedHost(), () => {});
  for (const { words, command } of runnableCommands(program)) command.action(() => ran(words));
  return program;
};
const commands = runnableCommands(createProgram(unusedHost(), () => {}));

test("every command has a description and examples, and its help shows them", () => {
  assert.ok(commands.length >= 20);
  for (const { words, command } of commands) {
    assert.notEqual(command.description(), "", words.join(" "));
    assert.ok(examplesOf(words).length > 0, `${words.join(" ")} has no example in src/cli/examples.ts`);
    let help = "";
    command
      .configureOutput({
        writeOut: (text) => {
          help += text;
        },
      })
      .outputHelp();
    for (const [line] of examplesOf(words)) assert.ok(help.includes(`\n  ${line}\n`), line);
  }
});

test("every example is accepted, and runs the command whose help shows it", async () => {
  for (const { words } of commands) {
    for (const [line] of examplesOf(words)) {
      const ran: (readonly string[])[] = [];
      const [line1 = ""] = line.split(" > ");
      const args = line1.split(" ").filter((word) => !/^[A-Z_]+=/.test(word));
      assert.equal(args.shift(), "sidereal", line);
      await programWith((one) => ran.push(one)).parseAsync(args, { from: "user" });
      assert.deepEqual(ran, [words], line);
    }
  }
});

test("--version prints the version of the package, and the commit that it was built from", async () => {
  const world = new CommandWorld();
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const { commit } = JSON.parse(readFileSync("dist/bundle/build.json", "utf8"));
  // Outside of git it is not known.
  const stdout = commit === undefined ? `${version}\n` : `${version} (${commit})\n`;
  assert.match(stdout, /^\d+\.\d+\.\d+(?: \([\da-f]{12,}(?:-dirty)?\))?\n$/);
  assert.deepEqual(await world.runHere(world.newDataDir(), ["--version"]), { code: 0, stdout, stderr: "" });
});

test("wrong settings stop a command before it opens anything, but not the help and the version", async () => {
  const world = new CommandWorld();
  const settings = { SIDEREAL_PORT: "many" };
  const { code, stderr } = await world.run("", ["status"], { settings });
  assert.equal(code, 2);
  assert.match(stderr, /^The configuration cannot be used:\n {2}SIDEREAL_PORT: must be a whole number\n$/);
  for (const args of [["--help"], ["status", "--help"], ["--version"]])
    assert.deepEqual(
      { ...(await world.run("", args, { settings })), stdout: "" },
      { code: 0, signal: null, stdout: "", stderr: "" },
    );
});

test("--force takes this machine's clock as right before a command begins that deletes old data", async () => {
  const world = new CommandWorld();
  for (const command of ["work", "start", "serve"]) {
    const dataDir = world.newDataDir();
    const settings = { SIDEREAL_PROVIDERS: "codeberg" };
    // The host of tests does not go further.
    await assert.rejects(world.runHere(dataDir, [command, "--force"], settings), /does not end by itself/);
    const config = loadConfig({ SIDEREAL_DATA_DIR: dataDir });
    const { database, deletionClock } = await openModules({
      config,
      clock: systemClock,
      log: createLog("silent"),
    });
    assert.ok((await deletionClock.now()) > 0, command);
    await database.close();
  }
});
