/**
 * Entry of the installed package, `sidereal`. Runs the program if this Node.js is new enough, else with a newer one in the PATH. If
 * there is none, but npm still supports this one, fetches a newer one with npm into the user's cache folder, once. Else names what is
 * needed. `scripts/bundle.ts` translates this file to syntax that old versions can read, so it must not use their missing functions.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { type NodePackage, nodePackageFor } from "./lib/node-packages.js";
import { unsafeNode } from "./lib/node-version.js";
import { BY_LAUNCHER, parentEnd } from "./lib/parent-process.js";
import { userFolder } from "./lib/user-folder.js";

/** The oldest major version for which a newer Node.js is fetched. The npm of older ones is too old, too. */
const OLDEST_FETCHING = 20;
/** Age at which the folder of a fetch that was killed is removed. */
const ABANDONED_MS = 3_600_000;

const problem = unsafeNode(process.version);
if (problem === undefined) void import("./main.js");
else runElsewhere(problem);

function runElsewhere(why: string): void {
  const present = nodeInPath();
  if (present !== undefined) {
    run(present);
    return;
  }
  const wanted =
    Number(process.versions.node.split(".")[0]) < OLDEST_FETCHING ? undefined : nodePackageFor(thisSystem());
  if (wanted === undefined) {
    fail(`${why}\nInstall it from https://nodejs.org, then try again.\n`);
    return;
  }
  const folder = join(userFolder("cache", process.env), `node-${wanted.version}`);
  const program = join(folder, "node_modules", wanted.name, wanted.bin);
  const failure = existsSync(program) ? undefined : fetchNode(wanted, { folder, why });
  if (failure === undefined) run(program);
  else fail(`${failure}\nInstall Node.js from https://nodejs.org, then try again.\n`);
}

function run(node: string): void {
  const env = { ...process.env, [BY_LAUNCHER]: "1" };
  follow(spawn(node, process.argv.slice(1), { stdio: "inherit", env }));
}

/** A Node.js in the PATH that can run the program. */
function nodeInPath(): string | undefined {
  // One that reports another version than it has would look for itself forever.
  if (BY_LAUNCHER in process.env) return undefined;
  const name = process.platform === "win32" ? "node.exe" : "node";
  for (const folder of (process.env.PATH || "").split(delimiter)) {
    const path = join(folder, name);
    if (!isAbsolute(folder) || !existsSync(path)) continue;
    const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 5_000 });
    if (/^v\d+\.\d+\.\d+\s*$/.test(stdout || "") && unsafeNode(stdout.trim()) === undefined) return path;
  }
  return undefined;
}

function fail(message: string): void {
  process.stderr.write(message);
  process.exitCode = 1;
}

function thisSystem(): { platform: string; arch: string; hasGlibc: boolean } {
  const { platform, arch } = process;
  const report = platform === "linux" ? (process.report.getReport() as { header?: object }) : {};
  return { platform, arch, hasGlibc: "glibcVersionRuntime" in (report.header ?? {}) };
}

/** Fetches the package into a folder, completely or not at all. Returns why it failed. */
function fetchNode(
  wanted: NodePackage,
  { folder, why }: { folder: string; why: string },
): string | undefined {
  const cache = userFolder("cache", process.env);
  process.stderr.write(`${why} Fetching ${wanted.version} with npm into ${cache} (120 MB on disk, once).\n`);
  let partial: string | undefined;
  try {
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    partial = mkdtempSync(join(cache, "partial-"));
    removeAbandoned(cache, statSync(partial).mtimeMs);
    writeManifests(partial, wanted);
    const failure = installWithNpm(partial);
    if (failure !== undefined) return failure;
    for (const unused of ["include", "share"])
      rmSync(join(partial, "node_modules", wanted.name, unused), { recursive: true, force: true });
    renameSync(partial, folder);
    return undefined;
  } catch (error) {
    // Another process may have fetched it meanwhile.
    return existsSync(join(folder, "node_modules", wanted.name, wanted.bin))
      ? undefined
      : `Node.js could not be fetched: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    if (partial !== undefined) rmSync(partial, { recursive: true, force: true });
  }
}

function removeAbandoned(cache: string, nowMs: number): void {
  for (const name of readdirSync(cache).filter((one) => one.startsWith("partial-"))) {
    const path = join(cache, name);
    if (nowMs - statSync(path).mtimeMs > ABANDONED_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** A lockfile, so that npm checks the archive against the known checksum. It names no registry: npm's own setting counts. */
function writeManifests(folder: string, { name, version, integrity }: NodePackage): void {
  const root = { name: "sidereal-node", version: "1.0.0", dependencies: { [name]: version } };
  const lock = {
    ...root,
    lockfileVersion: 3,
    packages: { "": root, [`node_modules/${name}`]: { version, integrity } },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(root));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
}

/** Runs `npm ci` in a folder. Returns why it failed. */
function installWithNpm(folder: string): string | undefined {
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
  const { status, error, stderr } = spawnSync("npm", ["ci", "--global=false", "--prefix", ".", ...quiet], {
    cwd: folder,
    // On Windows npm is a script, which only a shell can start.
    shell: process.platform === "win32",
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  if (status === 0) return undefined;
  return `npm could not fetch Node.js: ${error?.message ?? stderr.trim()}`;
}

/** Exits with the child's status, and passes signals on to it. */
function follow(child: ChildProcess): void {
  const signals: NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals)
    process.on(signal, () => {
      // A terminal sends it to both; a second one would end the child without waiting.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  void parentEnd(process.env)?.then(() => child.kill("SIGTERM"));
  child.on("error", (error) => fail(`${error.message}\n`));
  child.on("exit", (code, signal) => {
    for (const one of signals) process.removeAllListeners(one);
    if (signal === null) process.exitCode = code ?? 1;
    else process.kill(process.pid, signal);
  });
}
