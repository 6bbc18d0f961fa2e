import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { Metrics } from "../../src/lib/metrics.js";
import { addTracking } from "../../src/tracking/metrics.js";
import { Reporter } from "../../src/tracking/report.js";
import { readStatus } from "../../src/tracking/status.js";
import { onSqliteAndLong } from "../support/engines.js";
import type { ForgeRequest } from "../support/forge/forge.js";
import { openTrackingWorld, type TrackedForge, type TrackingWorld } from "../support/tracking.js";
import { makeAllDue } from "./truth.js";

const MINUTE_MS = 60_000;
const TOKENS = ["token-of-the-first-account", "token-of-the-second-account"];
const FORGE: TrackedForge = {
  kind: "github",
  name: "GITHUB",
  repositories: 12,
  catalogue: "quiet",
  tokens: TOKENS,
};

/** The lines of the log about tokens. */
function noticesOf(world: TrackingWorld): { level: number; label: string; msg: string }[] {
  return world.logged.map((line) => JSON.parse(line)).filter(({ label }) => label !== undefined);
}

async function reportOf(world: TrackingWorld) {
  const [status] = await readStatus(world.modules.database, world.clock.now());
  const report = status?.worker?.report;
  assert.ok(report !== undefined);
  return report;
}

/** The metrics of the worker. */
async function metricsOf({ modules: { database }, clock, worker }: TrackingWorld): Promise<string> {
  const metrics = new Metrics();
  addTracking(metrics, { database, clock }, worker.reporters);
  return metrics.text();
}

/** Everything that is stored in text columns of tracking and the catalogue. */
async function storedText(world: TrackingWorld): Promise<string> {
  const { read } = world.modules.database;
  const tables = ["repositories", "tracking", "walks", "worker_reports"];
  const rows = await Promise.all(
    tables.map(async (table) => (await sql`select * from ${sql.table(table)}`.execute(read)).rows),
  );
  return JSON.stringify(rows);
}

onSqliteAndLong("Tokens of a worker", ({ open }) => {
  describe("over days", () => {
    test("one bad token among several is named once, counted, and shown until it works again", async (t) => {
      const world = await openTrackingWorld(t, await open(), [FORGE]);
      const { switches } = world.forge("GITHUB");
      switches.tokens = new Set(TOKENS.slice(0, 1));
      await makeAllDue(world);
      await world.pass(3 * HOUR_MS);
      const [first, ...others] = noticesOf(world);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [first?.level, first?.label, first?.msg],
        [40, "#2", "the token is rejected: Bad credentials"],
      );
      const report = await reportOf(world);
      assert.ok((report.failures.refused ?? 0) >= 1, "another token took over");
      const bad = report.quota.filter(({ token }) => token === "#2");
      assert.ok(bad.length > 0);
      for (const { blockReason, blockMessage } of bad)
        assert.deepEqual([blockReason, blockMessage], ["rejected", "Bad credentials"]);
      assert.ok(report.quota.every(({ token, blockReason }) => token === "#2" || blockReason !== "rejected"));
      const metrics = await metricsOf(world);
      assert.match(
        metrics,
        /sidereal_token_blocked_until_seconds\{provider="GITHUB",token="#2",resource="\w+",reason="rejected"\} \d+/,
      );

      switches.tokens = null;
      for (let i = 0; i < 4; i++) {
        await makeAllDue(world);
        await world.pass(HOUR_MS);
      }
      assert.deepEqual(
        noticesOf(world).map(({ msg }) => msg),
        ["the token is rejected: Bad credentials", "the token works again"],
      );
      assert.ok((await reportOf(world)).quota.every(({ blockReason }) => blockReason !== "rejected"));
    });

    test("one that is rejected is tried by one request after 1, 5 and 15 minutes, and then all lanes go on", async (t) => {
      const world = await openTrackingWorld(t, await open(), [{ ...FORGE, tokens: TOKENS.slice(0, 1) }]);
      await world.pass(2 * HOUR_MS);
      const { switches } = world.forge("GITHUB");
      const sent: { kind: string; at: number }[] = [];
      switches.fault = ({ kind }) => void sent.push({ kind, at: world.clock.now() });
      switches.tokens = new Set();
      await makeAllDue(world);
      const due = { history_due: world.clock.now() };
      await world.modules.database.write.updateTable("tracking").set(due).execute();
      await world.pass(3 * HOUR_MS);
      const [began = 0] = sent.map(({ at }) => at);
      const tries = sent.map(({ at }) => at).filter((at) => at > began + 1_000);
      const gaps = tries.map((at, i) => Math.round((at - (tries[i - 1] ?? began)) / 1_000));
      assert.deepEqual(gaps, [60, 300, ...Array(11).fill(900)]);
      switches.tokens = null;
      sent.length = 0;
      await world.pass(15 * MINUTE_MS);
      assert.deepEqual(
        noticesOf(world).map(({ msg }) => msg),
        ["the token is rejected: Bad credentials", "the token works again"],
      );
      const [first = 0] = sent.map(({ at }) => at);
      for (const kind of ["search", "history"])
        assert.ok(
          sent.some((one) => one.kind === kind && one.at < first + 10_000),
          kind,
        );
    });

    test("one that may read nothing is named once, and requests go without it", async (t) => {
      const world = await openTrackingWorld(t, await open(), [
        { ...FORGE, tokens: TOKENS.slice(0, 1), repositories: 40, onDemand: true },
      ]);
      const { catalogue, switches } = world.forge("GITHUB");
      const sent = { with: 0, without: 0 };
      switches.fault = ({ headers }) => {
        sent[headers.authorization === undefined ? "without" : "with"]++;
        return headers.authorization === undefined
          ? undefined
          : { name: "echo", status: 403, text: "No access" };
      };
      const names = catalogue.ids().map((id) => catalogue.get(id, world.clock.now())?.fullName ?? "");
      const pasted = names.map((fullName) => ({ provider: "GITHUB", fullName }));
      await world.modules.trackRequests.addPasted(pasted, undefined);
      await world.pass(3 * HOUR_MS);
      assert.deepEqual(
        noticesOf(world).map(({ level, label, msg }) => [level, label, msg]),
        [[40, "#1", "the token was refused for all of 10 owners"]],
      );
      const { quota, failures } = await reportOf(world);
      const [block] = quota.filter(({ blockReason }) => blockReason !== null);
      assert.match(block?.blockMessage ?? "", /^the token was refused for all of 1\d owners$/);
      assert.equal(block?.blockReason, "no_access");
      assert.equal(failures.refused, 1);
      assert.ok(sent.with <= 13 && sent.without > 60, JSON.stringify(sent));
    });

    test("refusals are no refreshes, and the forge's own reason is in the status and the log", async (t) => {
      const world = await openTrackingWorld(t, await open(), [FORGE]);
      const forge = world.forge("GITHUB");
      await world.pass(HOUR_MS);
      const reason = "Resource not accessible by personal access token";
      forge.switches.fault = () => ({ name: "echo", status: 403, text: reason });
      const before = world.worker.reporters.get("GITHUB")?.report.refreshed;
      await makeAllDue(world);
      await world.pass(3 * HOUR_MS);
      const { refreshed, failures, recentFailures, lastSuccessAt } = await reportOf(world);
      assert.equal(refreshed, before);
      assert.ok((failures.refused ?? 0) >= 2);
      assert.ok(world.clock.now() - (lastSuccessAt ?? 0) >= 3 * HOUR_MS);
      assert.ok(recentFailures.some((one) => one.kind === "refused" && one.reason === reason));
      assert.ok(world.logged.some((line) => JSON.parse(line).reason === reason));
    });

    test("a forge that repeats our Authorization header gets it into no log, table or status", async (t) => {
      const world = await openTrackingWorld(t, await open(), [FORGE]);
      const forge = world.forge("GITHUB");
      await world.pass(HOUR_MS);
      for (const status of [200, 302, 401, 403, 404, 422, 429, 500]) {
        forge.switches.fault = ({ headers }: ForgeRequest) => ({
          name: "echo",
          status,
          text: `you sent ${headers.authorization} (${Buffer.from(headers.authorization ?? "").toString("base64")})`,
        });
        await makeAllDue(world);
        await world.pass(1.1 * HOUR_MS);
      }
      await world.stop();
      const seen = `${world.logged.join()}${await storedText(world)}${JSON.stringify(await reportOf(world))}`;
      assert.match(seen, /you sent Bearer \[redacted\]/);
      for (const token of TOKENS) {
        assert.ok(!seen.includes(token));
        assert.ok(!seen.includes(Buffer.from(`Bearer ${token}`).toString("base64").slice(8, 30)));
      }
    });
  });
});

test("a report keeps the latest failures, grouped by kind and reason, and no more than eight groups", () => {
  const reporter = new Reporter(0);
  const fail = (reason: string | null, at: number) =>
    reporter.failed(new UpstreamFailure("refused", `status 403 ${at}`, { reason }), at);
  fail(null, 1);
  fail("Bad credentials", 2);
  fail(null, 3);
  assert.deepEqual(reporter.report.recentFailures, [
    { kind: "refused", reason: null, message: "status 403 3", count: 2, firstAt: 1, at: 3 },
    {
      kind: "refused",
      reason: "Bad credentials",
      message: "status 403 2 (Bad credentials)",
      count: 1,
      firstAt: 2,
      at: 2,
    },
  ]);
  for (let at = 4; at < 30; at++) fail(`reason ${at}`, at);
  assert.equal(reporter.report.recentFailures.length, 8);
  assert.equal(reporter.report.recentFailures[0]?.at, 29);
});
