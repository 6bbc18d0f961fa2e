import { median, type SnapshotSource } from "../catalog/catalog.js";
import { DAY_MS } from "../clock.js";

/**
 * Movements that measured growth should not be taken from as it stands. They say what the figures show, and nothing of
 * who did it or why: purges, failed readings and campaigns look alike from outside.
 */
export const ANOMALY_KINDS = ["FAILED_READING", "RETURN", "LEVEL_SHIFT", "BURST", "PURGE"] as const;
export type AnomalyKind = (typeof ANOMALY_KINDS)[number];

export interface Anomaly {
  kind: AnomalyKind;
  /** When it is seen: the capture time of the snapshot that shows it. */
  at: number;
  /** In a sentence, with the figures. */
  reason: string;
  starsBefore: number;
  starsAfter: number;
  /** Of a PURGE: how the day was for the others of its provider; absent while that has not been counted. */
  sameDay?: FallsOfDay;
}

/** How many repositories had fewer stars on a day than when looked at before, of how many that were compared. */
export interface FallsOfDay {
  fell: number;
  compared: number;
}

/** The counts of a repository at one time, as far as anomalies look at them. */
export interface Reading {
  at: number;
  stars: number;
  forks: number | null;
  openIssues: number | null;
  source: SnapshotSource;
}

/** Below this movement nothing is called an anomaly, however strange. */
export const MIN_MOVEMENT = 100;

/** A reading this far below both its neighbours, which agree with each other, was not the truth. */
const FAILED_PART = 0.1;
const AGREEING_PART = 0.2;
const MIN_BELIEVED = 50;
/** A jump of this part of the stars, of which this part is taken back within so many days, is a return. */
const JUMP_PART = 0.05;
const TAKEN_BACK = 0.8;
const RETURN_DAYS = 10;
/** A step to so many times the stars, and by so many, is a change of what is counted. */
const SHIFT_FACTOR = 5;
const MIN_SHIFT = 1_000;
/** A gain of so many times the usual day, with fewer forks a star than this, is a burst. */
const BURST_FACTOR = 10;
const BURST_FORKS_PER_STAR = 0.01;
const BURST_ISSUES_PER_STAR = 0.002;
const PUSH_DAYS = 2;
/** A loss of this part of the stars in one step is a purge. */
const PURGE_PART = 0.005;

/** The anomalies of a series, oldest first. `pushedAt`: the last push, or null where it is not known. */
export function findAnomalies(readings: readonly Reading[], pushedAt: number | null): Anomaly[] {
  const failed = failedReadings(readings);
  const doubtful = new Set(failed.map((anomaly) => anomaly.at));
  const believed = readings.filter((reading) => !doubtful.has(reading.at));
  const steps = stepsOf(believed);
  const returns = findReturns(believed, steps);
  const explained = new Set(returns.map((anomaly) => anomaly.at));
  const others = steps.flatMap((step, i) =>
    explained.has(step.to.at) ? [] : (judgeStep(step, steps, i, pushedAt) ?? []),
  );
  return [...failed, ...returns, ...others].sort((a, b) => a.at - b.at);
}

interface Step {
  from: Reading;
  to: Reading;
  gained: number;
  days: number;
}

function stepsOf(readings: readonly Reading[]): Step[] {
  return readings.slice(1).flatMap((to, i) => {
    const from = readings[i];
    if (from === undefined) return [];
    return [{ from, to, gained: to.stars - from.stars, days: Math.max(0.25, (to.at - from.at) / DAY_MS) }];
  });
}

function failedReadings(readings: readonly Reading[]): Anomaly[] {
  return readings.flatMap((reading, i): Anomaly[] => {
    const [before, after] = [readings[i - 1], readings[i + 1]];
    if (before === undefined) return [];
    // The newest reading has only one neighbour; a fall to next to nothing is doubted until the next one.
    const level = after === undefined ? before.stars : Math.min(before.stars, after.stars);
    const agree = after === undefined || Math.abs(after.stars - before.stars) <= AGREEING_PART * before.stars;
    if (level < MIN_BELIEVED || !agree || reading.stars > FAILED_PART * level) return [];
    const reason = `${reading.stars} stars between readings of about ${level}: a reading that failed`;
    return [
      {
        kind: "FAILED_READING",
        at: reading.at,
        reason,
        starsBefore: before.stars,
        starsAfter: reading.stars,
      },
    ];
  });
}

/** A jump that is taken back within days: both its ends are marked. */
function findReturns(readings: readonly Reading[], steps: readonly Step[]): Anomaly[] {
  const found: Anomaly[] = [];
  for (const [i, step] of steps.entries()) {
    const jump = Math.abs(step.gained);
    if (jump < Math.max(MIN_MOVEMENT, JUMP_PART * step.from.stars)) continue;
    const later = readings.slice(i + 2).filter((reading) => reading.at - step.to.at <= RETURN_DAYS * DAY_MS);
    const back = later.find(
      (reading) => (step.to.stars - reading.stars) * Math.sign(step.gained) >= TAKEN_BACK * jump,
    );
    if (back === undefined) continue;
    const reason = `from ${step.from.stars} to ${step.to.stars} stars and back to ${back.stars} within ${RETURN_DAYS} days`;
    for (const at of [step.to.at, back.at]) {
      if (found.some((anomaly) => anomaly.at === at)) continue;
      found.push({ kind: "RETURN", at, reason, starsBefore: step.from.stars, starsAfter: back.stars });
    }
  }
  return found;
}

function judgeStep(
  step: Step,
  steps: readonly Step[],
  place: number,
  pushedAt: number | null,
): Anomaly | undefined {
  const { from, to, gained } = step;
  if (Math.abs(gained) < MIN_MOVEMENT) return undefined;
  const described = (kind: AnomalyKind, reason: string): Anomaly => ({
    kind,
    at: to.at,
    reason,
    starsBefore: from.stars,
    starsAfter: to.stars,
  });
  if (gained < 0) {
    if (-gained < PURGE_PART * from.stars) return undefined;
    return described("PURGE", `${-gained} of ${from.stars} stars fewer in one step`);
  }
  if (
    gained >= MIN_SHIFT &&
    from.stars > 0 &&
    to.stars >= SHIFT_FACTOR * from.stars &&
    from.stars >= MIN_MOVEMENT &&
    !grows(from, to)
  ) {
    return described(
      "LEVEL_SHIFT",
      `from ${from.stars} to ${to.stars} stars in one step, without forks to match`,
    );
  }
  const usual = median(
    steps.filter((_, i) => i !== place).map((other) => Math.abs(other.gained) / other.days),
  );
  const aDay = gained / step.days;
  if (Number.isNaN(usual) || aDay < BURST_FACTOR * (usual + 5)) return undefined;
  const silent = silentSignals(step, pushedAt);
  if (silent.length < 2) return undefined;
  return described(
    "BURST",
    `${gained} stars in one step against about ${Math.round(usual)} a day, without ${silent.join(" or ")} to match`,
  );
}

function grows(from: Reading, to: Reading): boolean {
  return (
    from.forks !== null &&
    to.forks !== null &&
    to.forks - from.forks > BURST_FORKS_PER_STAR * (to.stars - from.stars)
  );
}

/** Which of the things that come with attention did not come; any one of them that did speaks for the gain. */
function silentSignals({ from, to, gained }: Step, pushedAt: number | null): string[] {
  const silent: string[] = [];
  if (from.forks !== null && to.forks !== null) {
    if (to.forks - from.forks > BURST_FORKS_PER_STAR * gained) return [];
    silent.push("forks");
  }
  if (from.openIssues !== null && to.openIssues !== null) {
    if (Math.abs(to.openIssues - from.openIssues) > Math.max(2, BURST_ISSUES_PER_STAR * gained)) return [];
    silent.push("issues");
  }
  if (pushedAt !== null) {
    if (Math.abs(to.at - pushedAt) <= PUSH_DAYS * DAY_MS) return [];
    silent.push("pushes");
  }
  return silent;
}

/** The kinds after which a reading in the window is not to be believed. */
export const DOUBTFUL_KINDS: readonly AnomalyKind[] = ["FAILED_READING", "RETURN", "LEVEL_SHIFT"];

/** The part of a burst that does not count. */
const BURST_DISCOUNT = 0.75;

/**
 * The part of the gain between two times that counts in the scores, given the anomalies seen between them: nothing of it
 * where a reading is doubtful, as then nobody knows the gain; a quarter of a burst; all of it otherwise.
 */
export function countedPart(anomalies: readonly Anomaly[], from: number, to: number, gained: number): number {
  const inside = anomalies.filter((anomaly) => anomaly.at > from && anomaly.at <= to);
  const atStart = anomalies.some((anomaly) => anomaly.at === from && anomaly.kind === "FAILED_READING");
  if (atStart || inside.some((anomaly) => DOUBTFUL_KINDS.includes(anomaly.kind))) return 0;
  const bursts = inside.filter((anomaly) => anomaly.kind === "BURST");
  const excess = bursts.reduce((sum, { starsBefore, starsAfter }) => sum + starsAfter - starsBefore, 0);
  if (excess <= 0 || gained <= 0) return 1;
  return 1 - BURST_DISCOUNT * Math.min(1, excess / gained);
}
