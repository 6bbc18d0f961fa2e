/**
 * Entry of `npm test`, which runs all test files but those of whole systems and long proofs, and of `npm run test:system`, which runs
 * these. With names of files or folders it runs those. Three processes run at a time. Loading the program costs a process most of a second, and code that
 * is not compiled yet is slow, so that files share a process where they can; those in `ALONE` do not. Processes that take long begin
 * first. Options are `--system` and those of Node's test runner, as `--name=value`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { newSeed, seedText } from "./properties.js";
import { ALONE, SECONDS, SECONDS_OF_OTHERS, SYSTEM, WAITING } from "./suite-files.js";

const TESTS = fileURLToPath(new URL("..", import.meta.url));
/** Of the files that share a process. More save little, and leave the last process working alone. */
const GROUP_SECONDS = 60;

const all = globSync("**/*.test.js", { cwd: TESTS })
  .map((file) => file.replace(/\.test\.js$/, ""))
  .toSorted();
const filesOf = (name: string): string[] => {
  const files = all.filter((file) => file === name || file.startsWith(`${name}/`));
  if (files.length === 0) throw new Error(`There is no test file or folder ${name}.`);
  return files;
};
for (const name of Object.keys(SECONDS)) filesOf(name);
const secondsOf = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + (SECONDS[file] ?? SECONDS_OF_OTHERS), 0);

const folder = mkdtempSync(join(tmpdir(), "sidereal-suite-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const urlOf = (path: string): string => JSON.stringify(pathToFileURL(path));

/** Writes a file that runs the tests of others in one process. The runner sorts by its name. */
function together(names: readonly string[], index: number): string {
  const path = join(folder, `${String(index).padStart(3, "0")}-${(names[0] ?? "").replaceAll("/", "-")}.mjs`);
  const files = names.map((name) => `import ${urlOf(join(TESTS, `${name}.test.js`))};`);
  const guard = `import { leavesNothingBehind } from ${urlOf(join(TESTS, "support", "one-process.js"))};`;
  // What a file leaves behind matters to others only.
  const lines = names.length === 1 ? files : [guard, ...files, "leavesNothingBehind();"];
  writeFileSync(path, [...lines, ""].join("\n"));
  return path;
}

/** Splits files into groups that take about as long as each other. Neighbours stay together, as they load the same modules. */
function shared(files: readonly string[]): string[][] {
  const groups = Array.from({ length: Math.ceil(secondsOf(files) / GROUP_SECONDS) }, (): string[] => []);
  const limit = secondsOf(files) / groups.length;
  let passed = 0;
  for (const file of files) {
    groups[Math.min(groups.length - 1, Math.floor(passed / limit))]?.push(file);
    passed += secondsOf([file]);
  }
  return groups.filter((group) => group.length > 0);
}

const [named = [], options = []] = [false, true].map((isOption) =>
  process.argv.slice(2).filter((argument) => argument.startsWith("-") === isOption),
);
const system = new Set(SYSTEM.flatMap(filesOf));
const chosen = new Set(
  named.length > 0
    ? named.flatMap(filesOf)
    : all.filter((file) => system.has(file) === options.includes("--system")),
);
const of = (names: readonly string[]) => new Set(names.flatMap(filesOf)).intersection(chosen);
const [waiting, alone] = [of(WAITING), of(ALONE)];
const groups = [
  ...[...alone].map((file) => [file]),
  ...shared([...chosen.difference(alone).difference(waiting)]),
].toSorted((a, b) => secondsOf(b) - secondsOf(a));
// Beside the one process in which they take turns, two others work.
if (waiting.size > 0) groups.unshift([...waiting]);
process.env.TEST_SEED ??= String(newSeed());
console.log(seedText(process.env.TEST_SEED));
const runner = spawn(
  process.execPath,
  [
    `--import=${pathToFileURL(join(TESTS, "support", "runner-process.js"))}`,
    "--test",
    "--test-concurrency=3",
    "--test-timeout=900000",
    "--test-force-exit",
    `--test-global-setup=${join(TESTS, "support", "global-setup.js")}`,
    ...options.filter((option) => option !== "--system"),
    ...groups.map(together),
  ],
  { stdio: "inherit" },
);
// The run ends with the test runner, which an interrupt of the terminal reaches too.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => runner.kill(signal));
const [code] = await once(runner, "exit");
process.exitCode = code ?? 1;
