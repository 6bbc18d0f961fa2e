/** The metrics of real processes, and the files for Prometheus and Grafana that use them. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { systemClock } from "../../src/lib/clock.js";
import { CommandWorld } from "../support/command.js";
import { ForgeCatalogue, startForge } from "../support/forge/forge.js";
import { QUIET } from "../support/forge/world.js";
import { freePort } from "../support/ports.js";
import { until } from "../support/until.js";

const PACKAGING = fileURLToPath(new URL("../../../packaging/prometheus/", import.meta.url));
const world = new CommandWorld();
const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined;

/** Starts the service with its worker. Returns the addresses of their metrics, in the order of their ports. */
async function start(t: TestContext): Promise<{ service: string; metrics: string[]; port: number }> {
  const catalogue = new ForgeCatalogue({ seed: 3, repositories: 20, start: Date.now(), rates: QUIET });
  const forge = await startForge({ kind: "github", clock: systemClock, catalogue });
  t.after(() => forge.close());
  const port = await freePort();
  const other = createServer().listen(port + 1, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const dataDir = world.newDataDir();
  writeFileSync(join(dataDir, "last-backup.json"), '{"takenAt":1700000000000,"fileBytes":1}');
  const { process: child } = world.start(dataDir, ["start"], {
    SIDEREAL_PORT: "0",
    SIDEREAL_LOG_LEVEL: "info",
    SIDEREAL_METRICS_PORT: String(port),
    SIDEREAL_GITHUB_URL: forge.url,
    SIDEREAL_GITHUB_PRIVATE: "true",
    SIDEREAL_GITHUB_TOKENS: "a-token-of-this-test",
    SIDEREAL_GITHUB_MIN_STARS: "0",
  });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (more: string) => {
      text += more;
    });
  const portsIn = () =>
    [...text.matchAll(/^\{.*"port":(\d+).*"msg":"metrics are served at \/metrics"\}$/gm)].map(
      ([line, found]) => ({
        port: Number(found),
        taken: JSON.parse(line).taken,
      }),
    );
  await until("both have their metrics", () => portsIn().length === 2 && /listens at/.test(text));
  const ports = portsIn().sort((a, b) => a.port - b.port);
  assert.deepEqual(ports, [
    { port, taken: undefined },
    { port: port + 3, taken: port + 1 },
  ]);
  return {
    port,
    service: /listens at (\S+)/.exec(text)?.[1] ?? "",
    metrics: ports.map((one) => `http://127.0.0.1:${one.port}/metrics`),
  };
}

test("a service has the configured port and a worker the next one or, as it is taken, the next but two, and each has its metrics", async (t) => {
  const { service, metrics } = await start(t);
  const read = async () => {
    const texts = await Promise.all(metrics.map(async (url) => (await fetch(url)).text()));
    const serving = texts.find((text) => text.includes("sidereal_http_requests_total")) ?? "";
    return { serving, working: texts.find((text) => text !== serving) ?? "" };
  };
  await fetch(`${service}/api/repos?limit=1`);
  await fetch(`${service}/api/repos/999999`);
  await until("the forge is read", async () =>
    /^sidereal_last_reading_timestamp_seconds\{/m.test((await read()).serving),
  );
  for (const url of metrics) assert.equal((await fetch(url, { method: "HEAD" })).status, 200);
  const { serving, working } = await read();
  for (const text of [serving, working]) {
    assert.match(text, /^sidereal_build_info\{version="[\d.]+",commit="[^"]+",node="v24/m);
    assert.match(text, /^sidereal_database_up 1$/m);
    assert.match(text, /^sidereal_last_backup_timestamp_seconds 1700000000$/m);
    assert.match(text, /^sidereal_last_reading_timestamp_seconds\{provider="GITHUB"\} \d/m);
    assert.match(text, /^nodejs_eventloop_lag_p99_seconds \d/m);
  }
  const requests = 'sidereal_http_requests_total{method="GET",route="/api/repos';
  assert.ok(serving.includes(`${requests}",status="200"} 1\n`));
  assert.ok(serving.includes(`${requests}/{id}",status="404"} 1\n`));
  assert.match(serving, /duration_seconds_bucket\{method="GET",route="\/api\/repos",le="\+Inf"\} 1$/m);
  assert.match(working, /^sidereal_refreshed_total\{provider="GITHUB"\} \d/m);
  for (const text of [serving, working]) {
    if (!hasPromtool) return t.diagnostic("promtool is not installed");
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
      input: text,
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout + stderr);
  }
  // All metrics that alerts and the dashboard use exist.
  const rules: { groups: { rules: { expr: string }[] }[] } = parse(
    readFileSync(`${PACKAGING}alerts.yml`, "utf8"),
  );
  const dashboard: { panels: { targets: { expr: string }[] }[] } = JSON.parse(
    readFileSync(`${PACKAGING}dashboard.json`, "utf8"),
  );
  const used = [
    ...rules.groups.flatMap((group) => group.rules),
    ...dashboard.panels.flatMap((one) => one.targets),
  ];
  assert.ok(used.length > 30);
  for (const { expr } of used)
    for (const [name] of expr.matchAll(/\b(?:sidereal|nodejs|process)_\w+/g))
      assert.ok(
        `${serving}${working}`.includes(`# TYPE ${name.replace(/_(?:bucket|sum|count)$/, "")} `),
        expr,
      );
});
