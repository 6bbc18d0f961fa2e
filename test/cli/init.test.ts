import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadConfig, readEnvironment } from "../../src/config/config.js";
import { temporaryFolder } from "../support/imports.js";

const MAIN = fileURLToPath(new URL("../../bundle/main.js", import.meta.url));
const parent = temporaryFolder();
const newFolder = (): string => mkdtempSync(join(parent, "at-"));
const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `sidereal init` in a folder, with a text on standard input. */
function init(folder: string, input: string, ...args: string[]): Ran {
  const env = { PATH: process.env.PATH };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, "init", ...args], {
    cwd: folder,
    env,
    input,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

const settingsIn = (folder: string) => loadConfig(readEnvironment(folder, {}));

test("four empty answers give the defaults, and the file belongs to its owner alone", () => {
  const folder = newFolder();
  const { code, stdout, stderr } = init(folder, "\n\n\n");
  assert.deepEqual([code, stdout], [0, ".env is written; only you can read it. Now run: sidereal start\n"]);
  assert.equal(stderr.match(/: $/gm)?.length, 4, stderr);
  assert.equal(statSync(join(folder, ".env")).mode & 0o777, 0o600);
  assert.deepEqual(settingsIn(folder), loadConfig({}));
  assert.deepEqual(readdirSync(folder), [".env"]);
});

test("four answers become the settings that the program reads", () => {
  const folder = newFolder();
  const database = "postgres://ada:p%40ss'word@db.example/sidereal?application_name=a#b";
  assert.equal(init(folder, `https://repositories.example\n${TOKEN}\n${database}\n127.0.0.1, ::1\n`).code, 0);
  const { baseUrl, providers, databaseUrl, trustedProxies } = settingsIn(folder);
  assert.deepEqual([baseUrl, databaseUrl], ["https://repositories.example", database]);
  assert.deepEqual(trustedProxies, ["127.0.0.1", "::1"]);
  assert.deepEqual(
    providers.map(({ name, tokens }) => [name, tokens]),
    [["GITHUB", [TOKEN]]],
  );
});

test("a private address with a port is listened at", () => {
  for (const [answer, host, port] of [
    ["http://localhost:8080", "127.0.0.1", 8080],
    ["http://192.168.1.5:8080", "0.0.0.0", 8080],
    ["http://sidereal.lan", "127.0.0.1", 3000],
    ["https://repositories.example:8443", "127.0.0.1", 3000],
  ] as const) {
    const folder = newFolder();
    assert.equal(init(folder, `${answer}\n`).code, 0);
    const settings = settingsIn(folder);
    assert.deepEqual([settings.baseUrl, settings.host, settings.port], [answer, host, port]);
  }
});

test("options answer without a question, and secrets come from files", () => {
  const folder = newFolder();
  writeFileSync(join(folder, "token"), `${TOKEN}\n`);
  writeFileSync(join(folder, "database"), "postgres://db.example/sidereal\n");
  const files = ["--github-token-file", "token", "--database-url-file", "database"];
  const { code, stderr } = init(folder, "", "--yes", "--base-url", "https://repositories.example", ...files);
  assert.deepEqual([code, stderr], [0, ""]);
  const { baseUrl, databaseUrl, providers } = settingsIn(folder);
  assert.deepEqual(
    [baseUrl, databaseUrl],
    ["https://repositories.example", "postgres://db.example/sidereal"],
  );
  assert.equal(providers.length, 1);
});

test("an answer that breaks the rule of its setting is named, and nothing is written", () => {
  for (const [input, problem] of [
    ["ftp://example.org\n\n\n", /SIDEREAL_BASE_URL: must be an address/],
    ["\n\nmysql://db.example\n", /SIDEREAL_DATABASE_URL: must begin with postgres:\/\//],
  ] as const) {
    const folder = newFolder();
    const { code, stdout, stderr } = init(folder, input);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, problem);
    assert.deepEqual(readdirSync(folder), []);
  }
});

test("a file that is there is replaced only after a yes or with --force, and kept", () => {
  const folder = newFolder();
  const own = "SIDEREAL_PORT=4000\n";
  writeFileSync(join(folder, ".env"), own);
  for (const [input, ...args] of [["n\n"], ["\n"], [""], ["", "--yes"]] as const) {
    const { code, stderr } = init(folder, input, ...args);
    assert.equal(code, 2);
    assert.match(stderr, /\.env is there already; --force replaces it/);
    assert.equal(readFileSync(join(folder, ".env"), "utf8"), own);
  }
  assert.equal(init(folder, "y\nhttp://localhost:5000\n\n\n").code, 0);
  assert.equal(settingsIn(folder).port, 5000);
  assert.equal(readFileSync(join(folder, ".env.old"), "utf8"), own);
  assert.equal(init(folder, "", "--yes", "--force").code, 0);
  assert.equal(settingsIn(folder).port, 3000);
});

test("no earlier copy is replaced, and copies belong to their owner alone", () => {
  const folder = newFolder();
  const own = "SIDEREAL_PORT=4000\n";
  writeFileSync(join(folder, ".env"), own, { mode: 0o644 });
  for (let i = 0; i < 3; i++) assert.equal(init(folder, "", "--yes", "--force").code, 0);
  assert.deepEqual(readdirSync(folder).sort(), [".env", ".env.old", ".env.old.2", ".env.old.3"]);
  assert.equal(readFileSync(join(folder, ".env.old"), "utf8"), own);
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
});

test("a value with a single quote is written as Compose and systemd read it", () => {
  const folder = newFolder();
  assert.equal(init(folder, "\n\npostgres://user:it's@db.example/name\n").code, 0);
  assert.match(
    readFileSync(join(folder, ".env"), "utf8"),
    /^SIDEREAL_DATABASE_URL="postgres:\/\/user:it's@db\.example\/name"$/m,
  );
});

test("settings that cannot be used do not stop the command that replaces them", () => {
  const folder = newFolder();
  writeFileSync(join(folder, ".env"), "SIDEREAL_PORT=many\n");
  assert.equal(init(folder, "", "--yes", "--force").code, 0);
  assert.equal(settingsIn(folder).port, 3000);
});

/** Runs `sidereal init` at a terminal, and types an answer at each of the given prompts. */
async function initAtTerminal(
  folder: string,
  answers: readonly (readonly [prompt: RegExp, typed: string])[],
) {
  const command = `${process.execPath} ${MAIN} init`;
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    cwd: folder,
    env: { PATH: process.env.PATH, TERM: "xterm" },
  });
  let shown = "";
  let next = 0;
  let from = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    const [prompt, typed] = answers[next] ?? [];
    if (prompt === undefined || !prompt.test(shown.slice(from))) return;
    next++;
    from = shown.length;
    child.stdin.write(typed);
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  return { code, shown };
}

const hasScript = {
  skip: spawnSync("script", ["--version"]).status === 0 ? false : "needs script of util-linux",
};

test("at a terminal a wrong answer is requested again, and a token is not shown", hasScript, async () => {
  const folder = newFolder();
  const { code, shown } = await initAtTerminal(folder, [
    [/Address .*: /, "nonsense\r"],
    [/must be an address[\s\S]*Address .*: /, "http://localhost:5000\r"],
    [/GitHub token .*: /, `${TOKEN}\r`],
    [/PostgreSQL .*: /, "\r"],
    [/proxy .*: /, "\r"],
  ]);
  assert.equal(code, 0, shown);
  assert.ok(!shown.includes(TOKEN), shown);
  const { port, providers } = settingsIn(folder);
  assert.deepEqual([port, providers[0]?.tokens], [5000, [TOKEN]]);
});

test("at a terminal Ctrl-D and Ctrl-C end the command, and nothing is written", hasScript, async () => {
  for (const key of ["\x04", "\x03"]) {
    const folder = newFolder();
    const { code, shown } = await initAtTerminal(folder, [
      [/Address .*: /, "http://localhost:5000\r"],
      [/GitHub token .*: /, key],
    ]);
    assert.notEqual(code, 0, shown);
    assert.ok(!existsSync(join(folder, ".env")));
  }
});
