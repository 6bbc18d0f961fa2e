import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { nodePackageFor } from "../../src/lib/node-packages.js";
import { unsafeNode } from "../../src/lib/node-version.js";
import { temporaryFolder } from "../support/imports.js";
import { until } from "../support/until.js";

const LAUNCHER = fileURLToPath(new URL("../../bundle/sidereal.cjs", import.meta.url));
const folder = temporaryFolder();
const SYSTEMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];

/** A script that makes the process believe that it is another version of Node.js, or another processor. */
function disguise(version: string, arch: string): string {
  const file = join(mkdtempSync(join(folder, "as-")), "as.cjs");
  const versions = `{ value: { ...real.versions, node: "${version}" } }`;
  const facts = `{ version: { value: "v${version}" }, arch: { value: "${arch}" }, versions: ${versions} }`;
  writeFileSync(file, `const real = process; globalThis.process = Object.create(real, ${facts});`);
  return file;
}

/** A folder with an `npm` that notes how it was called, and runs a line of shell. */
function npmThat(line: string): { path: string; calls: () => string[] } {
  const path = mkdtempSync(join(folder, "npm-"));
  const log = join(path, "log");
  writeFileSync(join(path, "npm"), `#!/bin/sh\necho "$@" >> ${log}\n${line}\n`);
  chmodSync(join(path, "npm"), 0o755);
  return { path, calls: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []) };
}

/** What npm does with the lockfile that it is given, with the running Node.js instead of the fetched one. */
const INSTALLS = `name=$(sed 's/.*"node_modules.\\([^"]*\\)".*/\\1/' package-lock.json)
mkdir -p node_modules/$name/bin node_modules/$name/include && ln -s ${process.execPath} node_modules/$name/bin/node && cp package-lock.json ${folder}/lock.json`;

/** A folder with the programs that the scripts need, and without the Node.js that the machine may have. */
function tools(): string {
  const path = mkdtempSync(join(folder, "tools-"));
  for (const name of ["sed", "mkdir", "ln", "cp", "echo"])
    for (const from of ["/usr/bin", "/bin"])
      if (existsSync(join(from, name)) && !existsSync(join(path, name)))
        symlinkSync(join(from, name), join(path, name));
  return path;
}
const TOOLS = tools();

interface Setting {
  version: string;
  npm: { path: string };
  cache: string;
  arch?: string;
  /** Folders at the end of PATH. */
  more?: readonly string[];
}

function settingOf({ version, npm, cache, arch = "x64", more = [] }: Setting): {
  args: string[];
  env: NodeJS.ProcessEnv;
} {
  const env = {
    PATH: [npm.path, TOOLS, ...more].join(":"),
    HOME: folder,
    XDG_CACHE_HOME: cache,
    SIDEREAL_DATA_DIR: join(cache, "data"),
    SIDEREAL_PORT: "0",
    SIDEREAL_LOG_LEVEL: "error",
  };
  return { args: ["-r", disguise(version, arch), LAUNCHER], env };
}

async function launch(setting: Setting, argument = "--help") {
  const { args, env } = settingOf(setting);
  const options = { env, cwd: folder };
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [...args, argument], options)) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

const newCache = (): string => mkdtempSync(join(folder, "cache-"));
const isHere = { skip: process.platform === "linux" ? false : "needs Linux" };

test("Node.js 20 fetches a newer one, once, and runs the program with it", isHere, async () => {
  const [npm, cache] = [npmThat(INSTALLS), newCache()];
  const first = await launch({ version: "20.20.2", npm, cache });
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /^Usage: sidereal /);
  assert.match(
    first.stderr,
    /^Node\.js v20\.20\.2 is too old; [\d.]+ or newer is needed\. Fetching [\d.]+ with npm into \S+ \(120 MB on disk, once\)\.\n$/,
  );
  assert.deepEqual(await launch({ version: "20.20.2", npm, cache }), { ...first, stderr: "" });
  assert.equal(npm.calls().length, 1);
  assert.match(npm.calls()[0] ?? "", /^ci .*--ignore-scripts/);
});

test("a fitting Node.js in the PATH runs the program, and none is fetched", isHere, async () => {
  const node = (version: string, line: string) => {
    const path = mkdtempSync(join(folder, "node-"));
    writeFileSync(
      join(path, "node"),
      `#!/bin/sh\n[ "$1" = --version ] && echo v${version} && exit\n${line}\n`,
    );
    chmodSync(join(path, "node"), 0o755);
    return path;
  };
  const old = node("22.1.0", "exit 9");
  const fitting = node(process.versions.node, `exec ${process.execPath} "$@"`);
  // It reports a version that it does not have.
  const lying = node("99.0.0", `exec ${process.execPath} -r ${disguise("20.20.2", "x64")} "$@"`);
  for (const version of ["18.20.8", "20.20.2"]) {
    const [npm, cache] = [npmThat("exit 1"), newCache()];
    const { code, stdout, stderr } = await launch({ version, npm, cache, more: [".", old, fitting] });
    assert.deepEqual([code, stderr, npm.calls()], [0, "", []]);
    assert.match(stdout, /^Usage: sidereal /);
  }
  const [npm, cache] = [npmThat(INSTALLS), newCache()];
  const { code, stderr } = await launch({ version: "20.20.2", npm, cache, more: [old, lying] });
  assert.deepEqual([code, npm.calls().length], [0, 1], stderr);
});

test("npm checks what is fetched against a known checksum, and no registry is named", isHere, async () => {
  await launch({ version: "22.1.0", npm: npmThat(INSTALLS), cache: newCache() });
  const { packages } = JSON.parse(readFileSync(join(folder, "lock.json"), "utf8"));
  const { name, version, integrity } =
    nodePackageFor({ platform: "linux", arch: "x64", hasGlibc: true }) ?? {};
  assert.deepEqual(packages[`node_modules/${name}`], { version, integrity });
});

test("a fetch that fails leaves nothing, says why, and names what to install", isHere, async () => {
  const [npm, cache] = [npmThat("echo 'npm error code ENOTFOUND' >&2; exit 1"), newCache()];
  const { code, stdout, stderr } = await launch({ version: "20.20.2", npm, cache });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(
    stderr,
    /npm could not fetch Node\.js: npm error code ENOTFOUND\nInstall Node\.js from https:\/\/nodejs\.org/,
  );
  assert.deepEqual(readdirSync(join(cache, "sidereal")), []);
});

test(
  "what a killed fetch left is removed later, and the fetch of another process is left alone",
  isHere,
  async () => {
    const cache = newCache();
    for (const name of ["partial-old", "partial-new"])
      mkdirSync(join(cache, "sidereal", name), { recursive: true });
    utimesSync(join(cache, "sidereal", "partial-old"), 1_000, 1_000);
    await launch({ version: "20.20.2", npm: npmThat(INSTALLS), cache });
    const [node, ...others] = readdirSync(join(cache, "sidereal")).sort();
    assert.match(node ?? "", /^node-/);
    assert.deepEqual(others, ["partial-new"]);
  },
);

test(
  "versions whose npm is too old, and systems without a package, are told what to install",
  isHere,
  async () => {
    const npm = npmThat("exit 0");
    for (const [version, arch] of [
      ["18.20.8", "x64"],
      ["8.17.0", "x64"],
      ["20.20.2", "riscv64"],
    ] as const) {
      const { code, stdout, stderr } = await launch({ version, npm, cache: newCache(), arch });
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(
        stderr,
        /^Node\.js v[\d.]+ is too old; [\d.]+ or newer is needed\.\nInstall it from https:\/\/nodejs\.org/,
      );
    }
    assert.deepEqual(npm.calls(), []);
  },
);

test("a signal to the launcher stops the service that it started", isHere, async () => {
  const { args, env } = settingOf({ version: "20.20.2", npm: npmThat(INSTALLS), cache: newCache() });
  const child = spawn(process.execPath, [...args, "serve"], {
    env,
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(child.stdout, "data");
  const url = /listens at (\S+)/.exec(String(line))?.[1] ?? "";
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
  await assert.rejects(fetch(`${url}/healthz`));
});

test("a launcher that is killed takes the service that it started with it", isHere, async (t) => {
  const { args, env } = settingOf({ version: "20.20.2", npm: npmThat(INSTALLS), cache: newCache() });
  const child = spawn(process.execPath, [...args, "serve"], {
    env,
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(child.stdout, "data");
  const url = /listens at (\S+)/.exec(String(line))?.[1] ?? "";
  const service = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim();
  t.after(() => spawnSync("kill", ["-9", service]));
  child.kill("SIGKILL");
  await until("its port is closed", () =>
    fetch(`${url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
});

test("the Node.js that is fetched is safe, and the one of the tests if that exists", () => {
  const { devDependencies } = JSON.parse(readFileSync("test/package.json", "utf8"));
  const found = SYSTEMS.map((name) => {
    const [platform = "", arch = ""] = name.split("-");
    const one = nodePackageFor({ platform, arch, hasGlibc: true });
    assert.equal(unsafeNode(one?.version ?? "0"), undefined, name);
    assert.match(one?.integrity ?? "", /^sha512-[\w+/]{86}==$/);
    return one?.version;
  });
  assert.equal(found.filter((version) => version === devDependencies.node).length, 3);
  assert.equal(nodePackageFor({ platform: "linux", arch: "x64", hasGlibc: false }), undefined);
});

test("old versions of Node.js can read the launcher", () => {
  const text = readFileSync(LAUNCHER, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
  assert.match(text, /^#!\/usr\/bin\/env node\n/);
  // Parts of the language, and names of modules, that Node.js 8 does not know.
  assert.doesNotMatch(text, /\bimport\(|\?\.[^\d]|\?\?|"node:|catch \{/);
});
