import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { systemClock } from "../../src/clock.js";
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
  const { settings, name } = await start(t);
  const dataDir = world.newDataDir();
  const tracked = await world.run(dataDir, ["track", `github:${name}`, "--json"], { settings });
  assert.equal(tracked.code, 0, tracked.stderr);
  assert.equal(JSON.parse(tracked.stdout).result, "tracked");
  const refreshed = await world.run(dataDir, ["refresh", `github:${name}`], { settings });
  assert.equal(refreshed.stdout.trim(), `github:${name}: found`);
  const absent = await world.run(dataDir, ["track", "github:no/such"], { settings });
  assert.equal(absent.code, 1);
  const status = await world.run(dataDir, ["status", "--json"], { settings });
  const [github] = JSON.parse(status.stdout).providers;
  assert.deepEqual([github.provider, github.scheduled, github.repositories], ["GITHUB", 1, { AVAILABLE: 1 }]);
  const text = await world.run(dataDir, ["status"], { settings });
  assert.match(text.stdout, /GITHUB\n {2}repositories {2}1 available; 1 scheduled/);
  for (const { stdout, stderr } of [tracked, refreshed, absent, status, text])
    assert.ok(!(stdout + stderr).includes(TOKEN));
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
    const port = await until(running, () => /"port":(\d+),"msg":"metrics/.exec(written())?.[1]);
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`);
    assert.match(metrics.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
    const text = await metrics.text();
    assert.match(text, /^sidereal_repositories\{provider="GITHUB",availability="AVAILABLE"\} 20$/m);
    assert.match(text, /^sidereal_repositories_scheduled\{provider="GITHUB"\} 20$/m);
    assert.match(text, /^sidereal_discovered_total\{provider="GITHUB"\} 20$/m);
    assert.ok(!(text + written()).includes(TOKEN));
    running.process.kill(signal);
    // Standard error closes with the last process that holds it, so the worker has ended too.
    await running.ended;
    await assert.rejects(fetch(`http://127.0.0.1:${port}/metrics`));
  }
});

test("work ends with 0 after SIGTERM, and a wrong token is told without being shown", async (t) => {
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
