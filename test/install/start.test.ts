/** How the program ends if it cannot start, and what else ends a service that nobody stops. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CommandWorld } from "../support/command.js";
import { connectToServer, makeMigrated } from "../support/engines.js";
import { freePort } from "../support/ports.js";
import { createTestDatabase, dropTestDatabase } from "../support/postgres.js";
import { startRelay } from "../support/relay.js";
import { until } from "../support/until.js";

const MAIN = fileURLToPath(new URL("../../bundle/main.js", import.meta.url));
const world = new CommandWorld();
const SETTINGS = { SIDEREAL_PORT: "0", SIDEREAL_LOG_LEVEL: "info" };

/** Starts a command, and ends it with the test however that ends. `text`: what it has written. */
function start(t: TestContext, dataDir: string, args: string[], settings: Record<string, string> = {}) {
  const { process: child, ended } = world.start(dataDir, args, { ...SETTINGS, ...settings });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (more: string) => {
      text += more;
    });
  return { child, ended, text: () => text, urlOf: () => urlIn(text) };
}

const urlIn = (text: string): string | undefined => /listens at (\S+)/.exec(text)?.[1];
const isUp = async (url: string | undefined): Promise<boolean> => (await fetch(`${url}/healthz`)).ok;
const isDown = (url: string | undefined): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  );

/** A folder in which this user, even root, cannot make files. */
function unwritable(): string {
  if (process.getuid?.() === 0) return "/sys/sidereal";
  const folder = world.newDataDir();
  chmodSync(folder, 0o500);
  return folder;
}

test("a store that cannot be used ends every command with code 1 and one sentence that says what to do", async () => {
  const file = join(world.folder, "file");
  writeFileSync(file, "");
  const damaged = world.newDataDir();
  writeFileSync(join(damaged, "sidereal.db"), "damaged ".repeat(1_024));
  const newer = join(world.newDataDir(), "newer");
  await makeMigrated(newer);
  const database = new DatabaseSync(join(newer, "sidereal.db"));
  database.exec("insert into schema_version values (999, 'later', 0)");
  database.close();
  const older = join(world.newDataDir(), "older");
  await makeMigrated(older);
  const olderDatabase = new DatabaseSync(join(older, "sidereal.db"));
  olderDatabase.exec("delete from schema_version; insert into schema_version values (16, 'earlier', 0)");
  olderDatabase.close();
  const open = join(world.newDataDir(), "open");
  mkdirSync(open);
  chmodSync(open, 0o777);
  const sentences: readonly [dataDir: string, sentence: RegExp][] = [
    [
      unwritable(),
      /^The data folder .* cannot be used \(E.*\): let this user write there, or set SIDEREAL_DATA_DIR/,
    ],
    [
      file,
      /^The data folder .* cannot be used \(EEXIST.*\): let this user write there, or set SIDEREAL_DATA_DIR/,
    ],
    [
      damaged,
      /^The database in .* is damaged \(file is not a database\): run "sidereal check", or restore a backup\.$/,
    ],
    [
      newer,
      /^The database is at version 999, made by a newer Sidereal; .* Update the program, or restore a backup\.$/,
    ],
    [
      older,
      /^The database is at version 16, and this Sidereal needs version \d+ or later\. Export it with the Sidereal that made it, and import the file into a new database\.$/,
    ],
    [
      open,
      /^Everybody on this machine may write to the data folder .* such as with "chmod o-w", and start again\.$/,
    ],
  ];
  for (const [i, [dataDir, sentence]] of sentences.entries()) {
    // All open the store in the same way.
    const command = ["start", "serve", "work", "export"][i] ?? "start";
    const { code, stderr } = await world.run(dataDir, [command], {
      settings: { SIDEREAL_PORT: "0", SIDEREAL_PROVIDERS: "codeberg" },
    });
    const [line = "", ...more] = stderr.trimEnd().split("\n");
    assert.deepEqual([code, more], [1, []], stderr);
    assert.match(line, sentence);
  }
});

test("a port in use ends the service with one sentence that names the setting", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const address = other.address();
  const port = String(typeof address === "object" && address?.port);
  for (const command of ["serve", "start"]) {
    const settings = { SIDEREAL_PORT: port };
    const { code, stderr } = await world.run(world.newDataDir(), [command], { settings });
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(
        `^Another program uses port ${port} \\(.*\\): stop it, or set SIDEREAL_PORT to another port\\.\n$`,
      ),
    );
  }
});

test("short commands fail if the database server is down, and show the stack only in the log at level debug", async (t) => {
  const url = `postgres://u:hunter2@127.0.0.1:${await freePort()}/s`;
  const sentence =
    /^The database server at 127\.0\.0\.1:\d+ cannot be reached \(connect ECONNREFUSED .*\): start it, or correct SIDEREAL_DATABASE_URL\.\n$/;
  for (const args of [["export"], ["work", "--once"]]) {
    const settings = { SIDEREAL_DATABASE_URL: url };
    const { code, stderr } = await world.run("", args, { settings });
    assert.equal(code, 1);
    assert.match(stderr, sentence);
    assert.doesNotMatch(stderr, /hunter2/);
  }
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.after(() => silent.close());
  const address = silent.address();
  const hung = `postgres://u@127.0.0.1:${typeof address === "object" && address?.port}/s`;
  const { stderr: words } = await world.run("", ["export"], { settings: { SIDEREAL_DATABASE_URL: hung } });
  assert.match(
    words,
    /^The database server at \S+ cannot be reached \(Connection terminated due to connection timeout\): .*\n$/,
  );
  const settings = { SIDEREAL_DATABASE_URL: url, SIDEREAL_LOG_LEVEL: "debug" };
  const { stderr } = await world.run("", ["status"], { settings });
  const [log = "", last] = stderr.split(/(?<=\n)/);
  assert.match(JSON.parse(log).err.stack, /ECONNREFUSED[\s\S]*\n {4}at /);
  assert.match(last ?? "", sentence);
});

test("services wait for a database server that starts later, and say so once", async (t) => {
  const server = await connectToServer();
  const url = new URL(await createTestDatabase(server.port));
  t.after(async () => {
    await dropTestDatabase(url.href);
    await server.stop();
  });
  const relay = await startRelay(server.port);
  await relay.close();
  t.after(() => relay.close());
  const settings = { SIDEREAL_DATABASE_URL: url.href.replace(url.port, String(relay.port)) };
  const services = ["start", "serve", "work"].map((command) => start(t, "", [command], settings));
  const stopped = start(t, "", ["serve"], settings);
  const all = [...services, stopped];
  const isWaiting = ({ text }: { text: () => string }) =>
    text().includes("waiting for the database: The database server");
  await until("all wait", () => all.every(isWaiting));
  stopped.child.kill("SIGTERM");
  assert.equal((await stopped.ended).code, 0);
  await relay.open();
  const [starting, serving, working] = services;
  assert.ok(starting && serving && working);
  for (const { child, urlOf, ended, text } of [starting, serving, working]) {
    await until("it works", () => /the database can be reached/.test(text()));
    if (child !== working.child) await until("it serves", () => isUp(urlOf()));
    child.kill("SIGTERM");
    assert.equal((await ended).code, 0);
    if (child !== working.child) assert.match(text(), /"reason":"SIGTERM","msg":"stopping"/);
  }
  for (const { text } of all) assert.equal(text().match(/waiting for the database/g)?.length, 1, text());
});

test("SIGHUP changes nothing without a terminal, and is logged", async (t) => {
  const { child, ended, text, urlOf } = start(t, world.newDataDir(), ["serve"]);
  await until("it serves", () => isUp(urlOf()));
  for (const count of [1, 2]) {
    child.kill("SIGHUP");
    await until("it is logged", () => text().match(/SIGHUP is ignored/g)?.length === count);
  }
  assert.ok(await isUp(urlOf()));
  child.kill("SIGTERM");
  assert.equal((await ended).code, 0);
});

const SCRIPT = spawnSync("script", ["--version"], { encoding: "utf8" });
const hasScript = { skip: SCRIPT.stdout?.includes("util-linux") ? false : "needs script of util-linux" };

test(
  "a service in a terminal stops in order when that closes, with its log on it or not",
  hasScript,
  async (t) => {
    for (const log of ["", " 2> log"]) {
      const folder = world.newDataDir();
      const command = `(trap '' HUP; "${process.execPath}" "${MAIN}" serve > out${log}; echo $? > code); true`;
      const terminal = spawn("script", ["-qec", command, "/dev/null"], {
        cwd: folder,
        // Not as run by npm: then the service also stops because `script` has ended, which it may notice first.
        env: {
          ...process.env,
          ...SETTINGS,
          npm_lifecycle_event: undefined,
          SHELL: "/bin/sh",
          SIDEREAL_DATA_DIR: folder,
        },
        stdio: ["pipe", "ignore", "ignore"],
      });
      t.after(() => terminal.kill("SIGKILL"));
      const read = (name: string) => readFileSync(join(folder, name), "utf8");
      await until("it serves", () => isUp(urlIn(read("out"))));
      terminal.kill("SIGKILL");
      await until("it has ended", () => existsSync(join(folder, "code")) && read("code") !== "");
      assert.equal(read("code"), "0\n");
      if (log !== "") assert.match(read("log"), /"reason":"SIGHUP","msg":"stopping"/);
    }
  },
);

test("a service ends when npm does, however that ends", { skip: process.platform !== "linux" }, async (t) => {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const folder = world.newDataDir();
    // npm runs it in a shell, which runs a second one that becomes the service.
    const script = `true && sh -c 'echo $$ > pid; exec "${process.execPath}" "${MAIN}" serve'`;
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "x", scripts: { start: script } }));
    const npm = spawn("npm", ["start"], {
      cwd: folder,
      env: { ...process.env, ...SETTINGS, SIDEREAL_DATA_DIR: folder },
      stdio: ["ignore", openSync(join(folder, "out"), "w"), openSync(join(folder, "log"), "w")],
    });
    const read = (name: string) => readFileSync(join(folder, name), "utf8");
    t.after(() => {
      npm.kill("SIGKILL");
      spawnSync("kill", ["-9", read("pid").trim()]);
    });
    await until("it serves", () => isUp(urlIn(read("out"))));
    npm.kill(signal);
    await until("its port is closed", () => isDown(urlIn(read("out"))));
    await until("it says why", () =>
      /"reason":"the parent process has ended","msg":"stopping"/.test(read("log")),
    );
  }
});

test("a service that npm did not start outlives the shell that did", {
  skip: process.platform === "win32",
}, async (t) => {
  const folder = world.newDataDir();
  const service = (name: string) =>
    `"${process.execPath}" "${MAIN}" serve > ${name} 2> ${name}.log & echo $! > ${name}.pid`;
  const { npm_lifecycle_event: _, ...env } = process.env;
  const shell = spawn(
    "sh",
    ["-c", `${service("free")}; export npm_lifecycle_event=start; ${service("bound")}; wait`],
    {
      cwd: folder,
      env: { ...env, ...SETTINGS, SIDEREAL_DATA_DIR: folder },
      stdio: "ignore",
    },
  );
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  t.after(() => spawnSync("kill", ["-9", read("free.pid").trim(), read("bound.pid").trim()]));
  const urlOf = (name: string) => urlIn(read(name));
  await until("both serve", async () => (await isUp(urlOf("free"))) && (await isUp(urlOf("bound"))));
  shell.kill("SIGKILL");
  // Both would notice at the same time.
  await until("the other one has ended", () => isDown(urlOf("bound")));
  assert.ok(await isUp(urlOf("free")));
  assert.doesNotMatch(read("free.log"), /stopping/);
});

test("a log that cannot be written does not end the service", {
  skip: !existsSync("/dev/full"),
}, async (t) => {
  const dataDir = world.newDataDir();
  const child = spawn(process.execPath, [MAIN, "serve"], {
    cwd: world.folder,
    env: { ...process.env, ...SETTINGS, SIDEREAL_LOG_LEVEL: "trace", SIDEREAL_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", openSync("/dev/full", "w")],
  });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  child.stdout?.on("data", (more: Buffer) => {
    text += more;
  });
  await until("it serves", () => isUp(urlIn(text)));
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});
