/**
 * Requests to forges for a catalogue, and the tokens they need: `npm run -s build && node dist/bench/forge-requests.js`. Walks and
 * the schedule of synthetic repositories, beside a request for every repository each day, at each size. Nothing is sent: page sizes
 * and paces are those of the providers, quotas those that the forges publish.
 */

import { findForge, paceOf } from "../src/config/known-forges.js";
import { PAGE_SIZE as FORGEJO_PAGE } from "../src/forges/forgejo/forgejo.js";
import { ROWS as SEARCH_ROWS } from "../src/forges/github/discover.js";
import { MAX_NODES } from "../src/forges/github/github.js";
import { MAX_PROJECTS } from "../src/forges/gitlab/projects.js";
import { WINDOWS, windowMs } from "../src/growth/definitions.js";
import { DAY_MS, HOUR_MS } from "../src/lib/clock.js";
import { beforeEnd, detailsInterval, scheduledInterval, walkInterval } from "../src/tracking/cadence.js";
import { STORE_END } from "./support/stores.js";
import { syntheticRepository } from "./synthetic/synthetic.js";

/** Sizes of the catalogue. */
const SIZES = [100_000, 1_000_000, 10_000_000, 100_000_000];
/** Synthetic repositories whose intervals are computed. */
const SAMPLED = 50_000;
/** Repositories among which the sampled ones are spread: popularity follows a power law over all of them. */
const CATALOGUE = 1_000_000;
const DAYS = 45;
/** Means of our spreading. */
const MIDDLE = 0.5;
const HOURS = 24;

interface Forge {
  name: string;
  /** Repositories in one request that refreshes. */
  batch: number;
  /** Repositories on one page of a walk over all of them, whose counts are recorded too. */
  page: number;
  /** Whether such a page has every field, so that no own record has to be read. */
  listsAreComplete: boolean;
  /** Requests a day that the forge allows for one token, or for one address where it counts by address. */
  quota: { refreshes: number; pages: number };
}

const FORGES: readonly Forge[] = [
  {
    name: "GITHUB",
    batch: MAX_NODES,
    page: SEARCH_ROWS,
    listsAreComplete: false,
    // 5,000 points an hour, of which a query of 100 nodes costs one; 30 searches a minute.
    quota: { refreshes: 5_000 * HOURS, pages: 30 * 60 * HOURS },
  },
  {
    name: "GITLAB",
    batch: MAX_PROJECTS,
    page: MAX_PROJECTS,
    listsAreComplete: true,
    // 2,000 requests a minute.
    quota: { refreshes: 2_000 * 60 * HOURS, pages: 2_000 * 60 * HOURS },
  },
  {
    name: "CODEBERG",
    batch: 1,
    page: FORGEJO_PAGE,
    listsAreComplete: true,
    // 4,000 requests in half an hour, for an address.
    quota: { refreshes: 8_000 * HOURS, pages: 8_000 * HOURS },
  },
];

const print = (line = "") => void process.stdout.write(`${line}\n`);
const whole = (value: number) => Math.ceil(value).toLocaleString("en-US");

/** The intervals that the schedule gives to synthetic repositories, in ms. */
function scheduledIntervals(): number[] {
  const options = { repositories: CATALOGUE, days: DAYS, seed: 1, end: STORE_END };
  const intervals: number[] = [];
  for (let i = 0; i < SAMPLED; i++) {
    const { facts, snapshots } = syntheticRepository(i, options);
    const all = [...snapshots];
    const last = all.at(-1);
    if (last === undefined || facts.availability !== "AVAILABLE") continue;
    const gains = WINDOWS.flatMap((window) => {
      const from = all.findLast(({ capturedAt }) => capturedAt <= last.capturedAt - windowMs(window));
      if (from === undefined) return [];
      const gained = Math.max(0, last.stars - from.stars);
      return [{ window, gained, perDay: (gained * DAY_MS) / (last.capturedAt - from.capturedAt) }];
    });
    const within = gains.filter(({ gained }) => gained > 0).map(({ window }) => windowMs(window));
    const heat = {
      stars: last.stars,
      starsPerDay: gains.length === 0 ? null : Math.max(...gains.map((one) => one.perDay)),
      idleDays: (last.capturedAt - Number(facts.pushedAt)) / DAY_MS,
      gainedWithinMs: within.length === 0 ? null : Math.min(...within),
    };
    intervals.push(scheduledInterval(heat, 1));
  }
  return intervals;
}

const perDayOf = (intervalMs: number) => DAY_MS / beforeEnd(intervalMs, MIDDLE);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Refreshes of a repository a day that walks this far apart leave to requests of its own. */
function ownRefreshes(intervals: readonly number[], walkMs: number, { listsAreComplete }: Forge): number {
  const details = listsAreComplete ? 0 : DAY_MS / detailsInterval(1);
  return mean(intervals.map((interval) => Math.max(details, interval < walkMs ? perDayOf(interval) : 0)));
}

function printForge(forge: Forge, intervals: readonly number[]): void {
  const { name, batch, page, quota } = forge;
  const known = findForge(name);
  if (known === undefined) throw new Error(`${name} is not a public forge`);
  const ours = paceOf({ name, kind: known.kind }).perHour * HOURS;
  print(
    `\n${name}: ${batch} in a request that refreshes, ${page} on a page of a walk; our own pace ${whole(ours)} requests a day\n`,
  );
  print(
    "| Repositories | Walk every | Its pages a day | Schedule: requests a day | Tokens | All daily: requests | Tokens | Of our pace |",
  );
  print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
  for (const size of SIZES) {
    const pages = size / page;
    const walkMs = walkInterval(pages);
    const walked = pages * (DAY_MS / walkMs);
    const scheduled = (size * ownRefreshes(intervals, walkMs, forge)) / batch;
    const daily = size / batch;
    const tokens = Math.max(scheduled / quota.refreshes, walked / quota.pages);
    const row = [
      whole(size),
      `${(walkMs / HOUR_MS).toFixed(0)} h`,
      whole(walked),
      whole(scheduled),
      tokens.toFixed(2),
      whole(daily),
      (daily / quota.refreshes).toFixed(2),
      ((scheduled + walked) / ours).toFixed(2),
    ];
    print(`| ${row.join(" | ")} |`);
  }
}

const intervals = scheduledIntervals();
const SHOWN_DAYS = [0.25, 1, 3] as const;
const within = (days: number) =>
  (100 * intervals.filter((one) => one <= days * DAY_MS).length) / intervals.length;
print(
  `${mean(intervals.map(perDayOf)).toFixed(2)} refreshes a day of a repository without walks: ${SHOWN_DAYS.map((days) => `${within(days).toFixed(1)} % within ${days} days`).join(", ")}`,
);
for (const forge of FORGES) printForge(forge, intervals);
