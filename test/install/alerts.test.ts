/** The alerts for Prometheus, as its own program evaluates them: each of these nights raises its alerts, and no others. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../support/imports.js";

const ALERTS = fileURLToPath(new URL("../../../packaging/prometheus/alerts.yml", import.meta.url));
const folder = temporaryFolder();
const skip = spawnSync("promtool", ["--version"]).error === undefined ? false : "promtool is not installed";

function promtool(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
}

/** Series with a value for each minute of 30 hours, as promtool writes them: time is in seconds since the first. */
type Series = Readonly<Record<string, string>>;
const always = (value: number) => `${value}x1800`;
const NOW = "0+60x1800";
const SERVICE = '{job="sidereal",instance="one:9464"}';
const WORKER = '{job="sidereal",instance="one:9465"}';
const START = `process_start_time_seconds${WORKER}`;
const BACKUP = `sidereal_last_backup_timestamp_seconds${SERVICE}`;
const READING = 'sidereal_last_reading_timestamp_seconds{provider="GITHUB"}';
const FAILING = 'sidereal_failing_since_timestamp_seconds{provider="GITHUB"}';
const OVERDUE = 'sidereal_repositories_overdue{provider="GITHUB"}';
const LOADED = `sidereal_catalogue_loaded${SERVICE}`;
const blocked = (reason: string) =>
  `sidereal_token_blocked_until_seconds{provider="GITHUB",token="#1",resource="core",reason="${reason}"}`;

/** An update at 1:00, a quota that is used up now and then, and a forge on demand from which nothing is due for days. */
const NORMAL: Series = {
  [`up${SERVICE}`]: always(1),
  [`up${WORKER}`]: always(1),
  [`sidereal_build_info${SERVICE}`]: always(1),
  [`sidereal_build_info${WORKER}`]: always(1),
  [`sidereal_database_up${SERVICE}`]: always(1),
  [START]: "0x59 3600x1740",
  [LOADED]: "0x3 1x56 0x5 1x1733",
  [BACKUP]: "0x1439 86400x360",
  [READING]: NOW,
  'sidereal_last_reading_timestamp_seconds{provider="QUIET"}': always(0),
  'sidereal_last_report_timestamp_seconds{provider="GITHUB"}': NOW,
  'sidereal_last_report_timestamp_seconds{provider="QUIET"}': NOW,
  'sidereal_repositories_scheduled{provider="GITHUB"}': always(1_000),
  'sidereal_repositories_scheduled{provider="QUIET"}': always(3),
  'sidereal_repositories_due{provider="GITHUB"}': always(12),
  'sidereal_repositories_due{provider="QUIET"}': always(0),
  [OVERDUE]: always(2),
  'sidereal_repositories_overdue{provider="QUIET"}': always(0),
  [blocked("used_up")]: "3600x59 _x60 10800x59 _x1620",
  [blocked("slow_down")]: "60 _x1799",
};

/** Alerts that fire, by the time into the night. */
type Fired = Readonly<Record<string, readonly string[]>>;
interface Night {
  name: string;
  /** What differs from a normal night; undefined: without the series. */
  series: Readonly<Record<string, string | undefined>>;
  fired: Fired;
}

const HOURLY = Array.from({ length: 36 }, (_, i) => `${i * 3_000}x49`).join(" ");

const NIGHTS: readonly Night[] = [
  { name: "normal", series: {}, fired: { "2h": [], "12h": [], "29h": [] } },
  {
    name: "never a backup",
    series: { [BACKUP]: undefined },
    fired: { "20h": [], "25h": ["SiderealBackupMissing"] },
  },
  {
    name: "a forge that bans us for a day",
    series: { [READING]: always(0), [blocked("slow_down")]: always(86_400) },
    fired: {
      "10m": ["SiderealForgeBan"],
      "7h": ["SiderealForgeBan", "SiderealForgeUnread"],
    },
  },
  {
    name: "a forge that slows us down for a minute again and again",
    series: { [READING]: always(0), [blocked("slow_down")]: "60+60x1799" },
    fired: { "5h": [], "7h": ["SiderealForgeUnread"] },
  },
  {
    name: "many overdue after a jump",
    series: { [OVERDUE]: "0x59 300x1740" },
    fired: { "90m": [], "3h": ["SiderealRepositoriesOverdue"] },
  },
  {
    name: "a forge that fails",
    series: { [READING]: always(0), [FAILING]: always(0) },
    fired: { "1h": [], "80m": ["SiderealForgeSilent"] },
  },
  {
    name: "a worker that restarts every 50 minutes next to a dead forge",
    series: { [START]: HOURLY, [READING]: always(0), [FAILING]: always(0) },
    fired: {
      "3h": ["SiderealForgeSilent"],
      "7h": ["SiderealForgeSilent", "SiderealForgeUnread", "SiderealRestarts"],
    },
  },
  {
    name: "a catalogue that does not load",
    series: { [LOADED]: always(0) },
    fired: { "5m": [], "30m": ["SiderealCatalogueNotLoaded"] },
  },
  {
    name: "a service that is gone",
    series: { [`up${SERVICE}`]: "1x59 0x1740" },
    fired: { "1h": [], "2h": ["SiderealDown"] },
  },
];

function testOf({ name, series, fired }: Night) {
  const all = Object.entries({ ...NORMAL, ...series });
  return {
    name,
    interval: "1m",
    input_series: all.flatMap(([one, values]) => (values === undefined ? [] : [{ series: one, values }])),
    promql_expr_test: Object.entries(fired).map(([at, alerts]) => ({
      expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: at,
      exp_samples: alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
    })),
  };
}

test("the alerts are valid", { skip }, () => promtool("check", "rules", ALERTS));

for (const night of NIGHTS)
  test(`alerts of a night: ${night.name}`, { skip }, () => {
    const file = join(folder, "nights.json");
    writeFileSync(file, JSON.stringify({ rule_files: [ALERTS], tests: [testOf(night)] }));
    promtool("test", "rules", file);
  });
