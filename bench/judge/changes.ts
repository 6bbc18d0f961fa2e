/** Changes that are added to a real series, one entry for each reading from the first changed one on. */

import { DAY_MS } from "../../src/lib/clock.js";
import { Readings, UNKNOWN } from "../../src/repositories/snapshots/readings.js";
import type { Random } from "../synthetic/random.js";
import type { Track } from "./archive.js";
import { isJump } from "./steps.js";

export interface Changes {
  /** Negative: lost. */
  stars: number[];
  forks: number[];
  openIssues: number[];
  /** Days since the last push at each reading, if that is more recent than the series' own; empty: its own. */
  idleDays: number[];
}

/** The series with the changes added from the reading at `start` on; what is added stays. Unknown counts stay unknown. */
export function inject(track: Track, start: number, changes: Changes): Track {
  const { readings } = track;
  const numbers = readings.numbers.slice();
  const pushed = track.pushed.slice();
  const columns = [
    [1, changes.stars],
    [2, changes.forks],
    [3, changes.openIssues],
  ] as const;
  for (const [column, added] of columns) {
    let sum = 0;
    for (let i = start; i < readings.length; i++) {
      sum += added[i - start] ?? 0;
      const place = i * readings.width + column;
      const value = numbers[place] ?? UNKNOWN;
      if (value !== UNKNOWN) numbers[place] = Math.max(0, value + sum);
    }
  }
  for (const [i, idle] of changes.idleDays.entries()) {
    const at = readings.at(start + i) - idle * DAY_MS;
    const own = pushed[start + i] ?? Number.NaN;
    if (!Number.isNaN(at)) pushed[start + i] = Number.isNaN(own) ? own : Math.max(own, at);
  }
  return { ...track, readings: new Readings(numbers, readings.width), pushed };
}

/** The entry of the first day that is a jump against the usual day; -1: the changes are not visible. */
export function firstVisible({ stars }: Pick<Changes, "stars">, usual: number): number {
  return stars.findIndex((gained) => isJump(gained, 1, usual));
}

/** A number between two positive ones, each magnitude as likely as the other. */
export function logUniform(random: Random, least: number, most: number): number {
  return least * (most / least) ** random.next();
}

/** A whole number with this mean, which may be negative. */
export function poissonAround(random: Random, mean: number): number {
  return Math.sign(mean) * random.poisson(Math.abs(mean));
}
