/**
 * Genuine leaps for the generator. A template is a real leap of the archive that was not followed by a loss. Grafted onto
 * another repository, its stars are multiplied by a factor, its forks and issues by the factor and by how much more or fewer the
 * recipient has for its stars, all drawn from a Poisson distribution with that mean, and its pushes are those of the template.
 * So the figures are real ones on another scale, not a model of attention.
 */

import { DAY_MS } from "../../src/lib/clock.js";
import type { Random } from "../synthetic/random.js";
import type { Track } from "./archive.js";
import { type Changes, firstVisible, logUniform, poissonAround } from "./changes.js";
import { type Jump, usualDay } from "./steps.js";

/** Days of a template. */
const DAYS = 14;
/** Days before a leap without another one. */
const QUIET_DAYS = 14;
const FACTORS = { least: 1 / 3, most: 3 } as const;
/** Forks and issues per star of recipient and template differ by at most this factor, or a graft would magnify chance. */
const MOST_RATIO = 3;
const TRIES = 50;

/** The counts of a repository for each of its stars; null: unknown. */
interface PerStar {
  forks: number | null;
  openIssues: number | null;
}

export interface Template {
  track: Track;
  index: number;
  /** Gains beyond the usual day, by day. */
  changes: Changes;
  perStar: PerStar;
  /**
   * Forks gained for each star gained, as a multiple of the forks for each star before; over the first three days. null:
   * unknown.
   */
  breadth: number | null;
}

/** The templates in the good jumps of a track: those that come after two quiet weeks. */
export function templatesOf(track: Track, jumps: readonly Jump[]): Template[] {
  return jumps.flatMap((jump, i): Template[] => {
    const before = jumps[i - 1];
    if (jump.class !== "good" || (before !== undefined && jump.at - before.at < QUIET_DAYS * DAY_MS))
      return [];
    return [templateAt(track, jump)];
  });
}

function perStarBefore({ readings }: Track, index: number): PerStar {
  const stars = Math.max(1, readings.stars(index - 1));
  const perStar = (column: number) => {
    const count = readings.count(index - 1, column);
    return count === null ? null : Math.max(1, count) / stars;
  };
  return { forks: perStar(2), openIssues: perStar(3) };
}

function templateAt(track: Track, { index, usual }: Jump): Template {
  const { readings, pushed } = track;
  const perStar = perStarBefore(track, index);
  const changes: Changes = { stars: [], forks: [], openIssues: [], idleDays: [] };
  for (let i = index; i < Math.min(readings.length, index + DAYS); i++) {
    const step = (column: number) => readings.value(i, column) - readings.value(i - 1, column);
    changes.stars.push(step(1) - usual);
    changes.forks.push(step(2) - usual * (perStar.forks ?? 0));
    changes.openIssues.push(step(3));
    changes.idleDays.push(Math.max(0, (readings.at(i) - (pushed[i] ?? Number.NaN)) / DAY_MS));
  }
  const sum = (values: readonly number[]) => values.slice(0, 3).reduce((total, value) => total + value, 0);
  const forksForStars = sum(changes.forks) / Math.max(1, sum(changes.stars));
  return {
    track,
    index,
    changes,
    perStar,
    breadth: perStar.forks === null ? null : forksForStars / perStar.forks,
  };
}

/** The template on the scale of the repository that has the reading at `start`; undefined if the two are too different. */
export function graft(
  random: Random,
  template: Template,
  { track, start }: { track: Track; start: number },
): { changes: Changes; visible: number } | undefined {
  const usual = usualDay(track.readings, start);
  const own = perStarBefore(track, start);
  const forkRatio = ratioOf(own.forks, template.perStar.forks);
  const issueRatio = ratioOf(own.openIssues, template.perStar.openIssues);
  if (usual === undefined || forkRatio > MOST_RATIO || forkRatio < 1 / MOST_RATIO) return undefined;
  for (let tries = 0; tries < TRIES; tries++) {
    const factor = logUniform(random, FACTORS.least, FACTORS.most);
    const drawn = (values: readonly number[], times: number) =>
      values.map((value) => poissonAround(random, value * times));
    const stars = drawn(template.changes.stars, factor);
    const visible = firstVisible({ stars }, usual);
    if (visible === -1) continue;
    const forks = drawn(template.changes.forks, factor * forkRatio);
    const issueTimes = factor * Math.min(MOST_RATIO, Math.max(1 / MOST_RATIO, issueRatio));
    const openIssues = drawn(template.changes.openIssues, issueTimes);
    return { changes: { stars, forks, openIssues, idleDays: template.changes.idleDays }, visible };
  }
  return undefined;
}

/** 1 where one of them is unknown. */
function ratioOf(own: number | null, other: number | null): number {
  return own === null || other === null ? 1 : own / other;
}
