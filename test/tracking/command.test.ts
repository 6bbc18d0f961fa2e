import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { openDatabase } from "../../src/database/database.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { CommandWorld, type Running } from "../support/command.js";
import { type Forge, ForgeCatalogue, startForge } from "../support/forge/forge.js";
import { QUIET } from "../support/forge/world.js";

const world = new CommandWorld();
const TOKEN = "ghp_neverToBeShown";

async function start(
  t: TestContext,
): Promise<{ forge: Forge; settings: Record<string, string>; name: string }> {
  const catalogue = new ForgeCatalogue({ seed: 3, repositories: 20, start: Date.now(), rates: QUIET });
  const forge = await startForge({ kind: "github", clock: systemClock, catalogue });
  t.after(() => forge.close());
  const settings = {
    SIDEREAL_GITHUB_URL: forge.url,
    SIDEREAL_GITHUB_PRIVATE: "true",
    SIDEREAL_GITHUB_TOKENS: TOKEN,
    SIDEREAL_GITHUB_MIN_STARS: "0",
    SIDEREAL_LOG_LEVEL: "info",
    SIDEREAL_PORT: "0",
    SIDEREAL_METRICS_PORT: "0",
  };
  const [id = 0] = catalogue.ids();
  return { forge, settings, name: catalogue.get(id, Date.now())?.fullName ?? "" };
}

/** The output of a program so far. */
function output({ process: child }: Running): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (piece) => {
      text += String(piece);
    });
  return () => text;
}

/** Looks until it finds something. Only the process that is looked at can fail it, by exiting. */
async function until<T>(
  { process: child }: Running,
  look: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    assert.equal(child.exitCode ?? child.signalCode, null, "the process is running");
    await setTimeout(50);
  }
}

test("track and refresh handle single repositories, and status shows them", async (t) => {
  const { forge, name, ...started } = await start(t);
  const settings = { ...started.settings, SIDEREAL_CONTACT: "ops@example.org" };
  const agents = new Set<string | undefined>();
  forge.switches.fault = ({ headers }) => void agents.add(headers["user-agent"]);
  const dataDir = world.newDataDir();
  const tracked = await world.run(dataDir, ["track", `github:${name}`, "--json"], { settings });
  assert.equal(tracked.code, 0, tracked.stderr);
  assert.equal(JSON.parse(tracked.stdout).result, "tracked");
  const refreshed = await world.run(dataDir, ["refresh", `github:${name}`], { settings });
  assert.equal(refreshed.stdout.trim(), `github:${name}: found`);
  const pasted = await world.run(dataDir, ["refresh", `${forge.url}/${name}/issues/5?q=x`], { settings });
  assert.equal(pasted.stdout.trim(), `github:${name}: found`);
  const input = `See ${forge.url}/${name}, and git@127.0.0.1:no/such.git.`;
  const linked = await world.run(dataDir, ["track", "--from", "-", "--list", "Seen"], { settings, input });
  assert.equal(linked.code, 0, linked.stderr);
  assert.match(linked.stdout, /^2 repositories: 1 known, 1 queued\nA worker .*\nlist "Seen"\n/);
  const absent = await world.run(dataDir, ["track", "github:no/such"], { settings });
  assert.equal(absent.code, 1);
  assert.match(absent.stdout, /gone \(.*status 404 \(Not Found\)\)/);
  const misspelt = await world.run(dataDir, ["track", "githb:no/such"], { settings });
  assert.equal(misspelt.code, 2);
  assert.match(misspelt.stderr, /did you mean github\?/);
  const empty = world.newDataDir();
  const nowhere = await world.run(empty, ["status"], { settings });
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /^There is no store in .*\. Run this where the service runs/);
  assert.deepEqual(readdirSync(empty), []);
  const status = await world.run(dataDir, ["status", "--json"], { settings });
  const [github] = JSON.parse(status.stdout).providers;
  assert.deepEqual([github.provider, github.scheduled, github.repositories], ["GITHUB", 1, { AVAILABLE: 1 }]);
  const text = await world.run(dataDir, ["status"], { settings });
  assert.match(text.stdout, /GITHUB\n {2}repositories {2}1 available; 1 scheduled/);
  assert.match(
    text.stdout,
    /\n {2}counts {8}read 0 min \(median\), 0 min \(90 %\), 0 min \(99 %\) ago; 0 over a day ago\n/,
  );
  assert.match(
    text.stdout,
    /\n {2}discovery {5}not started\n {2}requests {6}0 of people, 1 of lists; the oldest 0 min ago\n/,
  );
  const onDemand = await world.run(dataDir, ["status"], { settings: {} });
  assert.doesNotMatch(onDemand.stdout, /discovery/, "nothing will ever start it");
  for (const { stdout, stderr } of [tracked, refreshed, absent, status, text])
    assert.ok(!(stdout + stderr).includes(TOKEN));
  assert.equal(agents.size, 1);
  assert.match([...agents].join(), /^Sidereal\/\d+\.\d+\.\d+ \(ops@example\.org\)$/);
});

test("status names the token that a forge rejects, with the forge's words, also after a command, and the log does once", async (t) => {
  const { forge, settings } = await start(t);
  forge.switches.tokens = new Set([TOKEN]);
  const dataDir = world.newDataDir();
  const bad = "a-token-that-was-revoked";
  const tokens = { ...settings, SIDEREAL_GITHUB_TOKENS: `${TOKEN},${bad}` };
  const done = await world.run(dataDir, ["work", "--once"], { settings: tokens });
  assert.equal(done.code, 0, done.stderr);
  const lines = done.stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const warned = lines.filter(({ label }) => label !== undefined);
  assert.deepEqual(
    warned.map(({ label, msg }) => [label, msg]),
    [["#2", "the token is rejected: Bad credentials"]],
  );
  const { stdout } = await world.run(dataDir, ["status"], { settings: tokens });
  assert.match(stdout, /\n {2}blocked {7}#2 \(\w.*\) until .*: rejected by the forge \(Bad credentials\)\n/);
  for (const text of [done.stderr, stdout]) assert.ok(!text.includes(bad) && !text.includes(TOKEN));
  const settingsOfBad = { ...settings, SIDEREAL_GITHUB_TOKENS: bad };
  const fresh = world.newDataDir();
  const refused = await world.run(fresh, ["track", "github:no/such"], { settings: settingsOfBad });
  assert.equal(refused.code, 1);
  const { stdout: met } = await world.run(fresh, ["status"], { settings: settingsOfBad });
  assert.match(met, /\n {2}blocked {7}#1 \(core\) until .*: rejected by the forge \(Bad credentials\)/);
});

test("work --once --explain lists what would be requested and why, and work --once does it", async (t) => {
  const { forge, settings } = await start(t);
  const dataDir = world.newDataDir();
  const explain = (...more: string[]) =>
    world.run(dataDir, ["work", "--once", "--explain", ...more], { settings });
  const empty = await explain();
  assert.equal(empty.code, 0, empty.stderr);
  assert.match(empty.stdout, /^GITHUB\n {2}discover {2}a page of the list: no walk has started yet/);
  assert.match(empty.stdout, /refresh {3}nothing is due\n/);
  assert.equal(forge.counters.requests, 0, "nothing is requested");

  const done = await world.run(dataDir, ["work", "--once"], { settings });
  assert.equal(done.code, 0, done.stderr);
  assert.ok(forge.counters.requests > 0);
  const before = forge.counters.requests;
  const [plan] = (await explain("--json")).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.equal(plan.walk.isDue, false, "the walk has ended");
  assert.equal(plan.refresh.due, 0);
  assert.ok(plan.refresh.nextAt > Date.now());

  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") });
  await database.write.updateTable("repositories").set({ next_refresh_at: 1_000 }).execute();
  await database.write.updateTable("tracking").set({ failures: 2 }).execute();
  await database.close();
  const due = await explain("--limit", "1");
  assert.match(due.stdout, /refresh {3}20 repositories in 1 call of up to 100\n/);
  assert.match(
    due.stdout,
    /: tried again after 2 failures; due since 1970-01-01T00:00:01.000Z\n +and 19 more\n/,
  );
  assert.equal(forge.counters.requests, before);
  for (const { stdout, stderr } of [empty, done, due]) assert.ok(!(stdout + stderr).includes(TOKEN));
});

test("start fills and serves the catalogue and metrics, and its worker ends with it, however it ends", async (t) => {
  const { settings } = await start(t);
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const running = world.start(world.newDataDir(), ["start"], settings);
    t.after(() => running.process.kill("SIGKILL"));
    const written = output(running);
    const url = await until(running, () => /listens at (\S+)/.exec(written())?.[1]);
    await until(running, async () => {
      const body = JSON.parse(await (await fetch(`${url}/api/repos?sort=stars&limit=100`)).text());
      return body.data?.length === 20 ? true : undefined;
    });
    const urls = await until(running, () => {
      const ports = [...written().matchAll(/"port":(\d+),"msg":"metrics/g)];
      return ports.length === 2 ? ports.map(([, port]) => `http://127.0.0.1:${port}/metrics`) : undefined;
    });
    const metrics = await Promise.all(urls.map((address) => fetch(address)));
    for (const { headers } of metrics)
      assert.match(headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
    const text = (await Promise.all(metrics.map((response) => response.text()))).join();
    assert.match(text, /^sidereal_repositories\{provider="GITHUB",availability="AVAILABLE"\} 20$/m);
    assert.match(text, /^sidereal_repositories_scheduled\{provider="GITHUB"\} 20$/m);
    assert.match(text, /^sidereal_discovered_total\{provider="GITHUB"\} 20$/m);
    assert.ok(!(text + written()).includes(TOKEN));
    running.process.kill(signal);
    // Standard error closes with the last process that holds it, so the worker has ended too.
    await running.ended;
    for (const address of urls) await assert.rejects(fetch(address));
  }
});

test("work ends with 0 after SIGTERM, and a wrong token is reported without being shown", async (t) => {
  const { forge, settings } = await start(t);
  forge.switches.tokens = new Set(["another"]);
  const running = world.start(world.newDataDir(), ["work"], settings);
  t.after(() => running.process.kill("SIGKILL"));
  const written = output(running);
  const line = await until(running, () => /.*"kind":"refused".*/.exec(written())?.[0]);
  assert.match(line, /GITHUB/);
  assert.equal(running.process.exitCode, null, "it stays up");
  running.process.kill("SIGTERM");
  const { code, stdout, stderr } = await running.ended;
  assert.equal(code, 0);
  assert.ok(!(stdout + stderr).includes(TOKEN));
});
