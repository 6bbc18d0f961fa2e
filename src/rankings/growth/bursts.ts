import { median } from "../../catalog/catalog.js";
import { DAY_MS } from "../../clock.js";
import { type Anomaly, MIN_MOVEMENT, type Reading, type Step } from "./anomalies.js";
import { type Breadth, breadthOf, type UsualPaces, usualPaces } from "./breadth.js";

/** Steps from which the usual day is taken. */
const TRUSTED_STEPS = 30;
/** With fewer, a usual day is at least this part of the stars. */
const FEW_STEPS = 3;
const NEW_PART = 1 / 500;
/** A step is unusual from this multiple of the usual day, and this many stars a day more. */
const UNUSUAL_FACTOR = 4;
const UNUSUAL_MORE = 10;
/**
 * An unusual run is a burst if a real leap would bring so few forks less often than this. The more it exceeds the usual day, the
 * more must follow it: `least` at five times the usual, growing with that multiple, up to `most`.
 */
const BURST_CHANCE = { least: 0.01, multiple: 5, power: 1.3, most: 0.15 };
/** Stars a day added to the usual ones before they are compared with a gain. */
const USUAL_PRIOR = 3;
/**
 * Attention fades over days: after a real leap, the next day brings less than this part of it once in twenty times (measured).
 * A run that ends so abruptly is a burst below this chance, or from this multiple of the usual day where no forks are known.
 */
const ABRUPT = { part: 0.1, chance: 0.3, multiple: 15, clearedChance: 0.5, days: 2 };
/** Where no forks are known, a run is a burst from this multiple of the usual day, which real ones reach once in fifty times. */
const UNKNOWN_MULTIPLE = 55;
/** From this chance on, a run is what it looks like, and becomes part of the usual days. */
const TRUSTED_CHANCE = 0.3;
/** What came later clears a burst if it makes this multiple of the chance that raised it, or a chance that is trusted. */
const CLEARED_FACTOR = 3;
/** Forks may follow this long after a run; a run that pauses longer has ended. */
const FOLLOW_DAYS = 14;
const PAUSE_DAYS = 7;
/** A burst that has kept nine tenths of its stars for this long is history, whatever it was. */
const CLEARED_DAYS = 30;
const KEPT_PART = 0.9;
/** A level shift is a burst in one step to at least this multiple, and by at least this many: perhaps another repository. */
const SHIFT_FACTOR = 5;
const MIN_SHIFT = 1_000;
const SHIFT_LEVEL = 100;

/** What is found of bursts. */
export interface Bursts {
  anomalies: Anomaly[];
  /** Stars that do not count, by index of the step. */
  uncounted: ReadonlyMap<number, number>;
  /** Times of steps that gained far more than usual with little to match, whether or not they are bursts. */
  jumps: readonly number[];
}

/** Unusual steps that follow each other, compared with the days before the first of them. */
interface Run {
  before: Reading;
  usual: number;
  /** Whether enough days came before to know the usual one. */
  known: boolean;
  paces: UsualPaces;
  /** Indexes of its unusual steps. */
  indexes: number[];
  isBurst: boolean;
  /** Whether it became one by its abrupt end. */
  endedAbruptly: boolean;
}

/**
 * Finds runs of unusual gains that forks and watchers did not follow. The usual day and pace are taken from before the run, and
 * no step of a run is learned from unless its breadth shows that it is real. Steps in `explained` are left out.
 */
export function findBursts(steps: readonly Step[], explained: ReadonlyMap<number, number>): Bursts {
  const runs: Run[] = [];
  const jumps: number[] = [];
  let trusted: Step[] = [];
  let run: Run | undefined;
  for (const [i, step] of steps.entries()) {
    if (explained.has(i)) continue;
    if (run !== undefined && step.from.at - endOf(run, steps) > PAUSE_DAYS * DAY_MS) run = undefined;
    const usual = run?.usual ?? usualDay(trusted, step.from);
    if (step.gained / step.days < UNUSUAL_FACTOR * usual + UNUSUAL_MORE) {
      // Days that may belong to a pause of a campaign teach nothing.
      if (run === undefined && step.gained > -MIN_MOVEMENT) trusted = learn(trusted, [step]);
      if (run !== undefined && !run.isBurst && endsAbruptly(run, steps, i)) {
        run.isBurst = true;
        run.endedAbruptly = true;
      }
      continue;
    }
    if (run === undefined) {
      const paces = usualPaces(step.from, trusted);
      const known = trusted.length >= FEW_STEPS;
      run = { before: step.from, usual, known, paces, indexes: [], isBurst: false, endedAbruptly: false };
      runs.push(run);
    }
    run.indexes.push(i);
    const chance = chanceOf(run, steps);
    if (step.gained >= MIN_MOVEMENT && (chance === null || chance < 0.5)) jumps.push(step.to.at);
    if (isBurst(run, steps, chance)) run.isBurst = true;
    if (run.isBurst || chance === null || chance < TRUSTED_CHANCE) continue;
    trusted = learn(
      trusted,
      run.indexes.flatMap((index) => steps[index] ?? []),
    );
    run = undefined;
  }
  return { ...describe(runs, steps), jumps };
}

function learn(trusted: readonly Step[], more: readonly Step[]): Step[] {
  return [...trusted, ...more].slice(-TRUSTED_STEPS);
}

/** Stars on a usual day before a reading. */
function usualDay(trusted: readonly Step[], before: Reading): number {
  const known = trusted.length === 0 ? 0 : median(trusted.map(({ gained, days }) => gained / days));
  return Math.max(known, trusted.length < FEW_STEPS ? NEW_PART * before.stars : 0);
}

function endOf({ indexes }: Run, steps: readonly Step[]): number {
  return steps[indexes.at(-1) ?? -1]?.to.at ?? 0;
}

/** Stars of the unusual steps beyond the usual. */
function excessOf({ indexes, usual }: Run, steps: readonly Step[]): number {
  let excess = 0;
  for (const index of indexes) {
    const step = steps[index];
    if (step !== undefined) excess += step.gained - usual * step.days;
  }
  return excess;
}

/** The breadth of a run as seen at a reading at or after its end. */
function breadthAt(run: Run, steps: readonly Step[], after: Reading): Breadth {
  const end = endOf(run, steps);
  const leap = {
    before: run.before,
    after,
    days: (end - run.before.at) / DAY_MS,
    daysAfter: (after.at - end) / DAY_MS,
    excess: excessOf(run, steps),
  };
  return breadthOf(leap, run.paces);
}

function chanceOf(run: Run, steps: readonly Step[]): number | null {
  const last = steps[run.indexes.at(-1) ?? -1];
  return last === undefined ? null : breadthAt(run, steps, last.to).chance;
}

function isBurst(run: Run, steps: readonly Step[], chance: number | null): boolean {
  if (excessOf(run, steps) < MIN_MOVEMENT) return false;
  if (chance !== null) return chance < burstChance(run, steps);
  return isShift(run, steps) || (run.known && multipleOf(run, steps) >= UNKNOWN_MULTIPLE);
}

/** The chance below which a run is a burst. */
function burstChance(run: Run, steps: readonly Step[]): number {
  const { least, multiple, power, most } = BURST_CHANCE;
  return Math.min(most, least * (multipleOf(run, steps) / multiple) ** power);
}

/** The gain of a day of a run beyond the usual, as a multiple of the usual day. */
function multipleOf(run: Run, steps: readonly Step[]): number {
  let days = 0;
  for (const index of run.indexes) days += steps[index]?.days ?? 0;
  return excessOf(run, steps) / days / (run.usual + USUAL_PRIOR);
}

/** Whether the step at `index`, the first after a run of little breadth, brings almost nothing. */
function endsAbruptly(run: Run, steps: readonly Step[], index: number): boolean {
  const [last, next] = [steps[run.indexes.at(-1) ?? -1], steps[index]];
  if (last === undefined || next === undefined || index !== (run.indexes.at(-1) ?? 0) + 1) return false;
  if (Math.max(last.days, next.days) > ABRUPT.days) return false;
  if (last.gained < MIN_MOVEMENT || multipleOf(run, steps) < BURST_CHANCE.multiple) return false;
  const beyond = (step: Step) => step.gained / step.days - run.usual;
  if (beyond(next) >= ABRUPT.part * beyond(last)) return false;
  const { chance } = breadthAt(run, steps, next.to);
  return chance === null ? run.known && multipleOf(run, steps) >= ABRUPT.multiple : chance < ABRUPT.chance;
}

/** Whether a run is a single step to a multiple of the stars. */
function isShift({ indexes }: Run, steps: readonly Step[]): boolean {
  const step = steps[indexes[0] ?? -1];
  if (indexes.length !== 1 || step === undefined) return false;
  const { from, to, gained } = step;
  return from.stars >= SHIFT_LEVEL && gained >= MIN_SHIFT && to.stars >= SHIFT_FACTOR * from.stars;
}

function describe(runs: readonly Run[], steps: readonly Step[]): Pick<Bursts, "anomalies" | "uncounted"> {
  const uncounted = new Map<number, number>();
  const anomalies = runs
    .filter((run) => run.isBurst)
    .map((run): Anomaly => {
      const shift = isShift(run, steps);
      const excess = excessOf(run, steps);
      const supported = supportedOf(run, steps, excess);
      const cleared = clearedOf(run, steps, excess);
      const doubted = cleared !== undefined ? 0 : shift ? excess : excess - supported;
      for (const index of run.indexes) {
        const step = steps[index];
        if (step === undefined || doubted <= 0) continue;
        uncounted.set(index, ((step.gained - run.usual * step.days) / excess) * doubted);
      }
      return anomalyOf(run, steps, { shift, doubted, cleared });
    });
  return { anomalies, uncounted };
}

/** The stars beyond the usual that seem plausible: what followed explains them, or real gains often are that large. */
function supportedOf(run: Run, steps: readonly Step[], excess: number): number {
  const last = followingReadings(run, steps).at(-1) ?? run.before;
  const { supported } = breadthAt(run, steps, last);
  return supported ?? Math.min(excess, (excess * ABRUPT.multiple) / multipleOf(run, steps));
}

/** The readings that may show what followed a run: within two weeks of its end. */

function followingReadings(run: Run, steps: readonly Step[]): Reading[] {
  const end = endOf(run, steps);
  const last = run.indexes.at(-1) ?? -1;
  return steps.flatMap(({ to }, i) => (i >= last && to.at - end <= FOLLOW_DAYS * DAY_MS ? [to] : []));
}

function clearedOf(run: Run, steps: readonly Step[], excess: number): Anomaly["cleared"] {
  const enough = run.endedAbruptly
    ? ABRUPT.clearedChance
    : Math.min(TRUSTED_CHANCE, CLEARED_FACTOR * burstChance(run, steps));
  for (const reading of followingReadings(run, steps)) {
    const { chance } = breadthAt(run, steps, reading);
    if (chance !== null && chance >= enough) return { at: reading.at, by: "BREADTH" };
  }
  const end = endOf(run, steps);
  const newest = steps.at(-1)?.to;
  if (newest === undefined || newest.at - end < CLEARED_DAYS * DAY_MS) return undefined;
  const kept = Math.min(...steps.flatMap(({ to }) => (to.at > end ? [to.stars] : [])));
  const at = end + CLEARED_DAYS * DAY_MS;
  return kept >= run.before.stars + KEPT_PART * excess ? { at, by: "TIME" } : undefined;
}

function anomalyOf(
  run: Run,
  steps: readonly Step[],
  { shift, doubted, cleared }: { shift: boolean; doubted: number; cleared: Anomaly["cleared"] },
): Anomaly {
  const [first, last] = [steps[run.indexes[0] ?? -1], steps[run.indexes.at(-1) ?? -1]];
  const [before, end] = [run.before, last?.to ?? run.before];
  let gained = 0;
  for (const index of run.indexes) gained += steps[index]?.gained ?? 0;
  const counted = Math.max(0, Math.round(gained - doubted));
  return {
    kind: shift ? "LEVEL_SHIFT" : "BURST",
    measure: "stars",
    at: first?.to.at ?? end.at,
    until: end.at,
    reason: reasonOf(run, { gained, end, counted }),
    before: before.stars,
    after: end.stars,
    counted,
    ...(cleared === undefined ? {} : { cleared }),
  };
}

function reasonOf(
  { before, usual, paces }: Run,
  { gained, end, counted }: { gained: number; end: Reading; counted: number },
): string {
  const days = Math.max(1, Math.round((end.at - before.at) / DAY_MS));
  const what = `${gained} stars in ${days === 1 ? "a day" : `${days} days`} against about ${Math.round(usual)} a day`;
  const { forks } = paces;
  if (forks === null || before.forks === null || end.forks === null)
    return `${what}; ${counted} of them count`;
  const followed = Math.max(0, end.forks - before.forks);
  const expected = Math.round(forks.aDay * days + forks.ratio * gained);
  return `${what}, with ${followed} forks where its own history makes about ${expected} likely; ${counted} of them count`;
}
