import { DAY_MS } from "../../src/lib/clock.js";
import type { Snapshot } from "../../src/repositories/repositories.js";
import type { Random } from "./random.js";

export interface Span {
  /** Stars at the beginning. */
  start: number;
  /** Days from 0 to `days` - 1. */
  firstDay: number;
  lastDay: number;
  days: number;
  /** Time of the last day, in ms since 1970. */
  end: number;
  /** Lists of GitLab have neither open issues nor watchers. */
  provider: string;
}

/** How fast repositories grow, compared with others of their size: most of them hardly. */
const PACES = [
  [0.02, 55],
  [0.4, 30],
  [1.5, 13],
  [12, 2],
] as const;

/** One snapshot per day, with occasional missing days, fading bursts, and a purge. */
export function history(random: Random, span: Span): Snapshot[] {
  const { start, firstDay, lastDay, days, end, provider } = span;
  const snapshots: Snapshot[] = [];
  const burstDay = random.chance(0.02) ? random.between(firstDay, lastDay) : -1;
  const burst = burstDay < 0 ? 0 : 20 + start * random.next() * 0.15;
  const purgeDay = random.chance(0.005) ? random.between(firstDay, lastDay) : -1;
  const pace = (start ** 0.8 / 400) * random.weighted(PACES) * (0.5 + random.next());
  const hasForks = 0.05 + 0.25 * random.next();
  let stars = start;
  let openIssues = Math.round(start ** 0.6 * random.next());
  for (let day = firstDay; day <= lastDay; day++) {
    const sinceBurst = day - burstDay;
    const extra = burstDay >= 0 && sinceBurst >= 0 ? burst * 0.45 ** sinceBurst : 0;
    stars += random.poisson(pace + extra) - (random.chance(pace / 10) ? 1 : 0);
    if (day === purgeDay) stars -= Math.round(stars * 0.02);
    stars = Math.max(0, stars);
    if (random.chance(0.2)) openIssues = Math.max(0, openIssues + random.between(-1, 1));
    if (day !== lastDay && random.chance(0.01)) continue;
    snapshots.push({
      capturedAt: end - (days - 1 - day) * DAY_MS - (day === days - 1 ? 0 : random.between(0, 20) * 60_000),
      stars,
      forks: Math.round(stars * hasForks),
      openIssues: provider === "GITLAB" ? null : openIssues,
      watchers: provider === "GITLAB" ? null : Math.round(stars ** 0.7),
      source: "OBSERVED",
    });
  }
  return snapshots;
}
