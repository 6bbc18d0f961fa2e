import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { createProgram } from "../../src/cli/cli.js";
import { runnableCommands } from "../../src/cli/examples.js";
import { CommandWorld, unusedHost } from "../support/command.js";

const world = new CommandWorld();
const isInstalled = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;
const needs = (shell: string) => ({ skip: isInstalled(shell) ? false : `needs ${shell}` });

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout, stderr } = await world.runHere(world.newDataDir(), ["completion", shell]);
  assert.deepEqual([code, stderr], [0, ""]);
  const file = join(world.folder, `completion.${shell}`);
  writeFileSync(file, stdout);
  return file;
}

describe("Completion in bash", needs("bash"), () => {
  let file = "";
  before(async () => {
    file = await scriptOf("bash");
  });
  /** What bash offers after a line. */
  const offered = (...words: string[]): string[] => {
    const line = `. "$1"; shift; COMP_WORDS=(sidereal "$@"); COMP_CWORD=$#; _sidereal; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const text = execFileSync("bash", ["--norc", "-uc", line, "bash", file, ...words], { encoding: "utf8" });
    return text.split("\n").filter((one) => one !== "");
  };

  test("offers every command", () => {
    const expected = createProgram(unusedHost(), () => {}).commands.map((command) => command.name());
    assert.deepEqual(offered("").sort(), expected.sort());
    assert.deepEqual(offered("sta").sort(), ["start", "status"]);
  });

  test("offers every option of every command", () => {
    for (const { words, command } of runnableCommands(createProgram(unusedHost(), () => {}))) {
      const longs = command.options.map(({ long }) => long ?? "");
      assert.deepEqual(offered(...words, "--").sort(), [...longs, "--help"].sort(), words.join(" "));
    }
  });

  test("offers what may follow: commands below, and the values of options and arguments", () => {
    assert.deepEqual(offered("database", "di"), ["distribute"]);
    assert.deepEqual(offered("export", "--format", ""), ["ndjson", "state"]);
    assert.deepEqual(offered("completion", "").sort(), ["bash", "fish", "zsh"]);
  });

  test("leaves names of files to bash", () => {
    assert.deepEqual(offered("import", ""), []);
    assert.deepEqual(offered("import", "--manifest", ""), []);
    assert.deepEqual(offered("export", "--out", "st"), []);
  });
});

test("zsh offers commands, options and values", needs("zsh"), async () => {
  const file = await scriptOf("zsh");
  // The functions of zsh that show something print it instead.
  const shows = `_describe() { print -l -- \${(P)2} }; compadd() { shift; print -l -- $@ }; _files() { print FILES }`;
  const offered = (...words: string[]): string[] => {
    const line = `compdef() { : }; ${shows}; . "$1"; shift; words=(sidereal "$@"); CURRENT=$#words; _sidereal`;
    const text = execFileSync("zsh", ["-fuc", line, "zsh", file, ...words], { encoding: "utf8" });
    return text.trim().split("\n");
  };
  assert.ok(offered("").includes("serve:serve the API and the pages, and nothing else"));
  assert.ok(offered("import", "--").some((one) => one.startsWith("--manifest:")));
  assert.deepEqual(offered("export", "--format", ""), ["ndjson", "state"]);
  assert.deepEqual(offered("import", "--manifest", ""), ["FILES"]);
  assert.ok(offered("database", "").some((one) => one.startsWith("status:")));
});

test("fish offers commands, options and values", needs("fish"), async () => {
  const file = await scriptOf("fish");
  const offered = (line: string): string[] =>
    execFileSync("fish", ["--no-config", "-c", `source ${file}; complete -C ${JSON.stringify(line)}`], {
      encoding: "utf8",
    })
      .split("\n")
      .map((one) => one.split("\t")[0] ?? "");
  assert.ok(offered("sidereal sta").includes("start"));
  assert.ok(offered("sidereal database di").includes("distribute"));
  assert.ok(offered("sidereal import --man").includes("--manifest"));
  assert.deepEqual(offered("sidereal export --format s").filter(Boolean), ["state"]);
});

test("an unknown shell is refused, and the known ones are named", async () => {
  const { code, stderr } = await world.runHere(world.newDataDir(), ["completion", "csh"]);
  assert.equal(code, 2);
  assert.match(stderr, /Allowed choices are bash, zsh, fish/);
});
