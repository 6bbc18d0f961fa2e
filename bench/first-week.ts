/**
 * An operator's first week, by the commands of the documents alone: installs the package, tracks 300 repositories on four forges of this
 * machine, and does what comes by mail. Prints the seconds of each task, and exits with 1 if one did not do what it should:
 *
 *     npm run -s build && node dist/bench/first-week.js
 *
 * It takes some minutes. Installing reads the registry of npm.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import type { ForgeKind } from "../src/config/known-forges.js";
import { FIRST_VERSION, migrateIn } from "../src/database/migrate.js";
import { systemClock } from "../src/lib/clock.js";
import { openStore } from "../test/reliability/support/open-store.js";
import { type Forge, ForgeCatalogue, startForge } from "../test/support/forge/forge.js";
import { QUIET } from "../test/support/forge/world.js";
import { freePort } from "../test/support/ports.js";

const KINDS = { github: "github", gitlab: "gitlab", codeberg: "forgejo", gogs: "gogs" } as const;
const REPOSITORIES = 75;
const folder = mkdtempSync(join(tmpdir(), "sidereal-week-"));
const rows: [task: string, seconds: number, result: string][] = [];

/** Does a task of the week; `result` is what was seen. */
async function task(name: string, work: () => Promise<string>): Promise<void> {
  const began = performance.now();
  let result: string;
  try {
    result = await work();
  } catch (error) {
    result = `FAILED: ${error instanceof Error ? error.message : String(error)}`;
    process.exitCode = 1;
  }
  rows.push([name, (performance.now() - began) / 1_000, result]);
  process.stdout.write(
    `${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${name}: ${result}\n`,
  );
}

/** A machine of the operator: a folder with `.env` and `data`. */
interface Place {
  cwd: string;
  env: NodeJS.ProcessEnv;
}

const program = join(folder, "installed/bin/sidereal");

function newPlace(name: string, settings: Record<string, string> = {}): Place {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  const inherited = Object.entries(process.env).filter(([variable]) => !variable.startsWith("SIDEREAL_"));
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  return {
    cwd,
    env: { ...Object.fromEntries(inherited), PATH, SIDEREAL_DATA_DIR: join(cwd, "data"), ...settings },
  };
}

/** Runs a command to its end, while the forges of this process respond. `code`: the one that it must exit with. */
async function run(place: Place, command: string, code = 0): Promise<string> {
  const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
  return output(spawn(program, args, { ...place, stdio: ["ignore", "pipe", "pipe"] }), command, code);
}

async function output(child: ChildProcess, command: string, expected = 0): Promise<string> {
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (more: string) => {
      text += more;
    });
  const [code] = await once(child, "close");
  assert.equal(code, expected, `${command}: ${code}: ${text}`);
  return text;
}

/** A service with its log. */
interface Service {
  child: ChildProcess;
  url: string;
  log(): string;
}

const services = new Set<ChildProcess>();

async function start(place: Place, command: "start" | "serve"): Promise<Service> {
  const child = spawn(program, [command], { ...place, stdio: ["ignore", "pipe", "pipe"] });
  services.add(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (more: string) => {
      text += more;
    });
  const url = await until(() => {
    assert.equal(child.exitCode, null, text);
    return /listens at (\S+)/.exec(text)?.[1];
  });
  return { child, url, log: () => text };
}

async function stop({ child }: Service): Promise<void> {
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  services.delete(child);
  assert.equal(code, 0);
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>, patienceMs = 60_000): Promise<T> {
  for (const end = performance.now() + patienceMs; ; await setTimeout(200)) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error("it takes too long");
  }
}

async function get(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string }> {
  const response = await fetch(url, { headers });
  return { status: response.status, body: await response.text() };
}

/** Starts the forges, and returns the settings that name them. */
async function startForges(): Promise<{ forges: Forge[]; settings: string[] }> {
  const forges: Forge[] = [];
  const settings = [`SIDEREAL_PROVIDERS=${Object.keys(KINDS).join(",")}`];
  const kinds: [string, ForgeKind][] = Object.entries(KINDS);
  for (const [i, [name, kind]] of kinds.entries()) {
    const shape = { seed: i + 1, repositories: REPOSITORIES, start: Date.now(), rates: QUIET };
    const catalogue = new ForgeCatalogue({ ...shape, isNested: kind === "gitlab" });
    const forge = await startForge({ kind, clock: systemClock, catalogue });
    forges.push(forge);
    const prefix = `SIDEREAL_${name.toUpperCase()}`;
    settings.push(`${prefix}_URL=${forge.url}`, `${prefix}_PRIVATE=true`, `${prefix}_MIN_STARS=0`);
    if (kind === "gogs") settings.push(`${prefix}_KIND=gogs`);
    if (kind === "github") settings.push(`${prefix}_TOKENS=ghp_ofTheFirstWeek`);
  }
  return { forges, settings };
}

interface Member {
  headers: Record<string, string>;
  key: string;
}

/** Signs somebody in by the link in the log, as there is no mail server, and makes an API key. */
async function signIn({ url, log }: Service, email: string): Promise<Member> {
  const send = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: url, ...headers },
      body: JSON.stringify(body),
    });
  const before = log().length;
  const { data } = (await (await send("/api/auth/magic-link", { email })).json()) as {
    data: { requestToken: string };
  };
  const code = await until(() => /"code":"([\d ]+)"/.exec(log().slice(before))?.[1]);
  const verified = await send("/api/auth/verify", { requestToken: data.requestToken, code });
  assert.equal(verified.status, 200, await verified.clone().text());
  const Cookie = verified.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const made = await send("/api/me/keys", { name: "laptop" }, { Cookie });
  assert.equal(made.status, 201, await made.clone().text());
  const key = (await made.json()) as { data: { key: string } };
  return { headers: { Cookie }, key: key.data.key };
}

/** A store of the oldest version that can be upgraded, with the data of another as far as that version has it. */
async function makeOldStore(from: string, to: string): Promise<void> {
  mkdirSync(to, { mode: 0o700 });
  copyFileSync(join(from, "auth-secret"), join(to, "auth-secret"));
  const file = join(to, "sidereal.db");
  const store = openStore(file);
  await store.dialect.exclusively(store.db, "migrate", (tx) =>
    migrateIn(tx, store.dialect, { clock: systemClock, to: FIRST_VERSION }),
  );
  await store.close();
  const database = new DatabaseSync(file);
  database.exec("pragma foreign_keys = off");
  database.prepare("attach ? as later").run(join(from, "sidereal.db"));
  const columnsOf = (schema: string, table: string) =>
    database
      .prepare("select name from pragma_table_info(?, ?)")
      .all(table, schema)
      .map(({ name }) => `"${name}"`);
  const tables = database.prepare(
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name != 'schema_version'",
  );
  for (const { name } of tables.all()) {
    const later = columnsOf("later", String(name));
    const columns = columnsOf("main", String(name)).filter((column) => later.includes(column));
    database.exec(`delete from main."${name}"`);
    database.exec(`insert into main."${name}" (${columns}) select ${columns} from later."${name}"`);
  }
  database.close();
}

function writeHistory(name: string, counts: readonly number[]): string {
  const facts = { provider: "GITHUB", fullName: "archive/found" };
  const line = (stars: number, i: number) => ({
    type: "snapshot",
    ...facts,
    capturedAt: new Date(Date.UTC(2026, 0, 1 + i)).toISOString(),
    stars,
  });
  const lines = [{ type: "repository", ...facts }, ...counts.map(line)];
  writeFileSync(join(folder, name), lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return join(folder, name);
}

async function week(): Promise<void> {
  await task("pack and install", async () => {
    const npm = (args: string[]) =>
      output(spawn("npm", args, { stdio: ["ignore", "pipe", "ignore"] }), "npm");
    const packed = (await npm(["pack", "--silent", "--pack-destination", folder])).trim();
    await npm(["install", "--global", "--prefix", join(folder, "installed"), join(folder, packed)]);
    return (await output(spawn(program, ["--version"]), "--version")).trim();
  });
  const { forges, settings } = await startForges();
  const home = newPlace("home");
  const port = await freePort();
  await task("write settings, with a token", async () => {
    await run(home, `init --yes --base-url http://127.0.0.1:${port}`);
    appendFileSync(join(home.cwd, ".env"), `${[`SIDEREAL_PORT=${port}`, ...settings].join("\n")}\n`);
    return `${settings.length} lines in .env`;
  });
  const service = await start(home, "start");
  await task(`read ${REPOSITORIES * forges.length} repositories on four forges`, async () => {
    const total = await until(async () => {
      const { data } = JSON.parse((await get(`${service.url}/api/stats/summary`)).body);
      return data.repositoryCount >= REPOSITORIES * forges.length ? data.repositoryCount : undefined;
    });
    await run(home, "health");
    assert.match(await run(home, "status"), /^GOGS$/m);
    return `${total} repositories`;
  });
  await workWithData(home, service);
  const people = {
    ann: await signIn(service, "ann@example.org"),
    eve: await signIn(service, "eve@example.org"),
  };
  await workWithPeople(home, service, people);
  await stop(service);
  await restoreElsewhere(home);
  await upgrade(home);
  for (const forge of forges) await forge.close();
}

async function workWithData(home: Place, { url }: Service): Promise<void> {
  const found = `${url}/api/repos/github/archive/found`;
  const stars = async () => JSON.parse((await get(found)).body).data?.stars;
  await task("import a history", async () => {
    const report = await run(home, `import ${writeHistory("history.ndjson", [10, 20, 30, 40])}`);
    assert.equal(await until(stars), 40);
    return report.trim().split("\n").at(-1) ?? "";
  });
  await task("back up, and check the backup", async () => {
    await run(home, `backup ${join(folder, "monday.backup")}`);
    return (await run(home, `restore --check ${join(folder, "monday.backup")}`)).trim();
  });
  await task("abuse mail: hide, look, take back", async () => {
    await run(home, 'hide github:archive/found --reason "abuse" --note "mail 1" --for 30d --yes');
    await until(async () => ((await get(found)).status === 404 ? true : undefined));
    assert.match(await run(home, "hide --list"), /archive\/found/);
    await run(home, "unhide github:archive/found");
    await until(async () => ((await get(found)).status === 200 ? true : undefined));
    assert.match(await run(home, "events --operators"), /archive\/found/);
    return "404, then 200 again; both in the log of operators";
  });
  await task("undo a wrong import", async () => {
    const wrong = writeHistory("wrong.ndjson", [10, 20, 30, 40, 1]);
    const dry = await run(home, `import --dry-run ${wrong}`);
    assert.equal(await stars(), 40, "a dry run changes nothing");
    await run(home, `import ${wrong}`);
    await until(async () => ((await stars()) === 1 ? true : undefined));
    const number = JSON.parse((await run(home, "import --list --json")).split("\n")[0] ?? "").import;
    await run(home, `import --undo ${number} --yes`);
    await until(async () => ((await stars()) === 40 ? true : undefined));
    return `1 star, then 40 again; dry run: ${dry.trim().split("\n").at(-1)}`;
  });
  await task("delete a repository with its history", async () => {
    await run(home, "untrack --delete-history --yes github:archive/found");
    await until(async () => ((await get(found)).status === 404 ? true : undefined));
    assert.match(await run(home, "check"), /no damage/);
    return "404, and no damage";
  });
}

async function workWithPeople(
  home: Place,
  { url }: Service,
  { ann, eve }: { ann: Member; eve: Member },
): Promise<void> {
  const me = async (headers: Record<string, string>) => (await get(`${url}/api/me`, headers)).status;
  const withKey = async ({ key }: Member) =>
    (await get(`${url}/api/repos?limit=1`, { "X-API-Key": key })).status;
  const refused = (look: () => Promise<number>) =>
    until(async () => ((await look()) === 401 ? true : undefined), 10_000);
  await task("list accounts, revoke a key, end sessions", async () => {
    assert.match(await run(home, "accounts list example.org"), /ann@example\.org[\s\S]*eve@example\.org/);
    assert.deepEqual([await withKey(ann), await me(ann.headers)], [200, 200]);
    await run(home, `accounts revoke-key ${ann.key} --yes`);
    await refused(() => withKey(ann));
    assert.equal(await me(ann.headers), 200);
    await run(home, "sessions end --account ann@example.org --yes");
    await refused(() => me(ann.headers));
    return "key and session are refused";
  });
  await task("ban an account and a network, lift both", async () => {
    await run(home, 'ban eve@example.org --for 30d --reason "spam" --yes');
    await refused(() => withKey(eve));
    await run(home, "ban 203.0.113.0/24 --for 1d --yes");
    assert.match(await run(home, "ban --list"), /203\.0\.113\.0\/24/);
    await run(home, "unban 203.0.113.0/24");
    await run(home, "unban eve@example.org");
    return "her key is refused";
  });
  await task("delete an account", async () => {
    await run(home, 'accounts delete eve@example.org --reason "asked by mail" --yes');
    assert.doesNotMatch(await run(home, "accounts list example.org"), /eve@/);
    return "gone from the list";
  });
}

/** The export of a place. */
async function exportOf(place: Place, name: string): Promise<string> {
  const file = join(folder, name);
  await run(place, `export ${file}`);
  return readFileSync(file, "utf8");
}

async function restoreElsewhere(home: Place): Promise<void> {
  await task("restore on another machine", async () => {
    await run(home, `backup ${join(folder, "friday.backup")}`);
    const other = newPlace("other", { SIDEREAL_PORT: "0" });
    await run(other, `restore ${join(folder, "friday.backup")}`);
    const text = await exportOf(other, "other.ndjson");
    assert.equal(text, await exportOf(home, "home.ndjson"));
    assert.match(await run(other, "accounts list"), /ann@example\.org/);
    const service = await start(other, "serve");
    await until(async () => ((await get(`${service.url}/readyz`)).status === 200 ? true : undefined));
    await stop(service);
    return `exports of ${text.split("\n").length - 1} lines are equal`;
  });
}

async function upgrade(home: Place): Promise<void> {
  await task(`upgrade a store of version ${FIRST_VERSION}`, async () => {
    const old = newPlace("old", { SIDEREAL_PORT: "0" });
    await makeOldStore(join(home.cwd, "data"), join(old.cwd, "data"));
    assert.match(await run(old, "status", 1), /Run "sidereal migrate"/);
    const check = (await run(old, "migrate --check", 4)).trim().split("\n");
    await run(old, "migrate");
    await run(old, "migrate --check");
    await run(old, "derive");
    assert.match(await run(old, "check"), /no damage/);
    assert.equal(await exportOf(old, "old.ndjson"), await exportOf(home, "home.ndjson"));
    const service = await start(old, "serve");
    for (const path of ["/readyz", "/", "/api/home", "/api/repos?q=abcd"])
      assert.equal((await get(`${service.url}${path}`)).status, 200, path);
    await stop(service);
    return `${check[0]} Exports are equal`;
  });
}

try {
  await week();
} finally {
  for (const child of services) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
const width = Math.max(...rows.map(([name]) => name.length));
process.stdout.write(
  `\n${rows.map(([name, seconds]) => `${name.padEnd(width)}  ${seconds.toFixed(1).padStart(6)} s`).join("\n")}\n`,
);
