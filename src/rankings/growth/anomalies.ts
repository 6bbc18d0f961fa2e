import { median, type SnapshotSource } from "../../catalog/catalog.js";
import { DAY_MS } from "../../clock.js";

/**
 * Movements that make measured growth doubtful. They describe the figures, not who caused them or why: from outside, purges,
 * failed readings and campaigns look the same.
 */
export const ANOMALY_KINDS = ["FAILED_READING", "RETURN", "LEVEL_SHIFT", "BURST", "PURGE"] as const;
export type AnomalyKind = (typeof ANOMALY_KINDS)[number];

export interface Anomaly {
  kind: AnomalyKind;
  /** Capture time of the snapshot that shows it. */
  at: number;
  /** A phrase with the figures. */
  reason: string;
  starsBefore: number;
  starsAfter: number;
  /** Why it no longer throws doubt on the growth, and since when; absent: it does. */
  cleared?: { at: number; by: "BREADTH" | "TIME" };
  /** For a PURGE: movements of the whole provider on that day; absent until they have been counted. */
  sameDay?: MovesOfDay;
}

/** Whether an anomaly throws doubt on the growth it is in. */
export function isOpen({ cleared }: Anomaly): boolean {
  return cleared === undefined;
}

/** How many repositories of a provider moved on a day, out of those with an earlier snapshot to compare. */
export interface MovesOfDay {
  /** Lost stars. */
  fell: number;
  /** Gained far more than usual. */
  jumped: number;
  compared: number;
}

/** The counts of a repository at one time. */
export interface Reading {
  at: number;
  stars: number;
  forks: number | null;
  openIssues: number | null;
  source: SnapshotSource;
}

/** Smaller movements, in stars, are never anomalies. */
export const MIN_MOVEMENT = 100;

/** A failed reading is at most this part of both its neighbours, which agree with each other to this part. */
const FAILED_PART = 0.1;
const AGREEING_PART = 0.2;
const MIN_LEVEL = 50;
/** A return is a jump by this part of the stars, of which this part is reverted within this many days. */
const JUMP_PART = 0.05;
const REVERTED = 0.8;
const RETURN_DAYS = 10;
/** A level shift is a step to at least this multiple of the stars, and by at least this many. */
const SHIFT_FACTOR = 5;
const MIN_SHIFT = 1_000;
/** A burst is a gain of at least this multiple of the usual day, with fewer forks and issues per star than this. */
const BURST_FACTOR = 10;
const BURST_FORKS_PER_STAR = 0.01;
const BURST_ISSUES_PER_STAR = 0.002;
const PUSH_DAYS = 2;
/** A purge is a loss of at least this part of the stars in one step. */
const PURGE_PART = 0.005;

/** The anomalies of a series, oldest first. `pushedAt`: the last push; null if unknown. */
export function findAnomalies(readings: readonly Reading[], pushedAt: number | null): Anomaly[] {
  const failed = failedReadings(readings);
  const doubtful = new Set(failed.map((anomaly) => anomaly.at));
  const credible = readings.filter((reading) => !doubtful.has(reading.at));
  const steps = stepsOf(credible);
  const returns = findReturns(credible, steps);
  const explained = new Set(returns.map((anomaly) => anomaly.at));
  const others = steps.flatMap((step, i) =>
    explained.has(step.to.at) ? [] : (judgeStep(steps, i, pushedAt) ?? []),
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
    // The newest reading has one neighbour only: a fall to almost nothing is doubted until the next reading.
    const level = after === undefined ? before.stars : Math.min(before.stars, after.stars);
    const agree = after === undefined || Math.abs(after.stars - before.stars) <= AGREEING_PART * before.stars;
    if (level < MIN_LEVEL || !agree || reading.stars > FAILED_PART * level) return [];
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

/** Jumps that are reverted within days. Both ends are marked. */
function findReturns(readings: readonly Reading[], steps: readonly Step[]): Anomaly[] {
  const found: Anomaly[] = [];
  for (const [i, step] of steps.entries()) {
    const jump = Math.abs(step.gained);
    if (jump < Math.max(MIN_MOVEMENT, JUMP_PART * step.from.stars)) continue;
    const later = readings.slice(i + 2).filter((reading) => reading.at - step.to.at <= RETURN_DAYS * DAY_MS);
    const back = later.find(
      (reading) => (step.to.stars - reading.stars) * Math.sign(step.gained) >= REVERTED * jump,
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

function judgeStep(steps: readonly Step[], index: number, pushedAt: number | null): Anomaly | undefined {
  const step = steps[index];
  if (step === undefined) return undefined;
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
    steps.filter((_, i) => i !== index).map((other) => Math.abs(other.gained) / other.days),
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

/** The signs of attention that are missing; none if at least one of them is present, as that makes the gain plausible. */
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

/** Kinds that make a reading in the window doubtful. */
export const DOUBTFUL_KINDS: readonly AnomalyKind[] = ["FAILED_READING", "RETURN", "LEVEL_SHIFT"];

/** The part of a burst that is not counted. */
const BURST_DISCOUNT = 0.75;

/**
 * The part of the gain between two readings that counts in the scores: nothing if a reading is doubtful, as the gain is then
 * unknown; a quarter of a burst; otherwise all of it.
 */
export function countedPart(
  anomalies: readonly Anomaly[],
  from: Pick<Reading, "at" | "stars">,
  to: Pick<Reading, "at" | "stars">,
): number {
  const inside = anomalies.filter((anomaly) => anomaly.at > from.at && anomaly.at <= to.at);
  const atStart = anomalies.some((anomaly) => anomaly.at === from.at && anomaly.kind === "FAILED_READING");
  if (atStart || inside.some((anomaly) => DOUBTFUL_KINDS.includes(anomaly.kind))) return 0;
  const bursts = inside.filter((anomaly) => anomaly.kind === "BURST");
  const excess = bursts.reduce((sum, { starsBefore, starsAfter }) => sum + starsAfter - starsBefore, 0);
  const gained = to.stars - from.stars;
  if (excess <= 0 || gained <= 0) return 1;
  return 1 - BURST_DISCOUNT * Math.min(1, excess / gained);
}
