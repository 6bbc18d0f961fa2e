import assert from "node:assert/strict";
import { test } from "node:test";
import { addTraffic, Traffic } from "../../src/http/sender.js";
import { Metrics } from "../../src/lib/metrics.js";

test("a response is counted by its route, method and status, and in the buckets of its duration", async () => {
  const traffic = new Traffic();
  const metrics = new Metrics();
  addTraffic(metrics, traffic);
  const route = { method: "GET", route: "/api/repos" };
  for (const ms of [0.4, 1, 30, 20_000]) traffic.note(route, 200, ms);
  traffic.note({ ...route, method: "HEAD" }, 304, 2);
  traffic.note({ method: null, route: "other" }, 404, 2);
  const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith("sidereal_http_"));
  const total = (labels: string) =>
    lines.find((line) => line.startsWith(`sidereal_http_requests_total{${labels}}`));
  assert.match(total('method="GET",route="/api/repos",status="200"') ?? "", / 4$/);
  assert.match(total('method="HEAD",route="/api/repos",status="304"') ?? "", / 1$/);
  assert.match(total('method="any",route="other",status="404"') ?? "", / 1$/);
  const of = (name: string) =>
    lines.find((line) => line.startsWith(`sidereal_http_request_duration_seconds_${name}`))?.split(" ")[1];
  const get = 'method="GET",route="/api/repos"';
  const buckets = ["0.001", "0.025", "0.05", "10", "+Inf"].map((le) => of(`bucket{${get},le="${le}"}`));
  assert.deepEqual(buckets, ["2", "2", "3", "3", "4"]);
  assert.equal(of(`count{${get}}`), "4");
  assert.ok(Math.abs(Number(of(`sum{${get}}`)) - 20.0314) < 1e-9);
});

test("an update that fails keeps no other metric from being read", async () => {
  const metrics = new Metrics();
  metrics.beforeRead(() => Promise.reject(new Error("the database is unavailable")));
  metrics.add("database_up", "Whether it is.", () => 0);
  metrics.add("nothing", "None.", () => null);
  const text = await metrics.text();
  assert.match(text, /^sidereal_database_up 0$/m);
  assert.doesNotMatch(text, /^sidereal_nothing /m);
});
