/**
 * First module of a process that runs several test files: fails it when a file changed the environment, a global variable, the
 * listeners of a signal, the folder, the umask or the exit code, which another file could depend on or break by. Globals that are read
 * by a function, new ones, and prototypes are not compared.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";

/** libvips notes its folder there when it is loaded. */
const IGNORED = "$VIPSHOME";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/** What a process has once, by name. */
function shared(): Map<string, unknown> {
  const globals = Object.entries(Object.getOwnPropertyDescriptors(globalThis));
  return new Map<string, unknown>([
    ...Object.entries(process.env).map(([name, value]) => [`$${name}`, value] as const),
    ...globals.map(([name, { value }]) => [name, value] as const),
    ...SIGNALS.map((name) => [`listeners of ${name}`, process.listenerCount(name)] as const),
    ["folder", process.cwd()],
    ["umask", process.umask()],
    ["exit code", process.exitCode],
  ]);
}

const found = shared();
let hasEnded = false;
after(() => {
  hasEnded = true;
});
// The test runner takes a process that exits early with status 0 for files of passing tests.
process.on("exit", () => {
  if (hasEnded) return;
  process.stderr.write("the process exited before the end of its test files\n");
  process.exitCode = 1;
});

/** Names of what was changed, without values: the environment may hold secrets. */
function changed(now: ReadonlyMap<string, unknown>): string[] {
  const names = [...found.keys()].filter((name) => found.get(name) !== undefined);
  const added = [...now.keys()].filter(
    (name) => name.startsWith("$") && name !== IGNORED && !found.has(name),
  );
  return [...names.filter((name) => !Object.is(now.get(name), found.get(name))), ...added];
}

/** Registers the last test of the process. */
export function leavesNothingBehind(): void {
  test("files that share a process leave it as they found it", () => {
    assert.deepEqual(changed(shared()), []);
  });
}
