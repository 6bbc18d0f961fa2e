import { DAY_MS } from "../../clock.js";
import { type Anomaly, countText } from "./anomalies.js";
import { type Run, unusualFrom } from "./run.js";

/** What came later clears a burst if it makes this multiple of the chance below which it was raised, up to one that supports a run. */
const CLEARED = { factor: 3, most: 0.3, abrupt: 0.5, readings: 2 };
/** A burst that has kept nine tenths of its stars for this long is history, whatever it was. */
const CLEARED_DAYS = 30;
const KEPT_PART = 0.9;
/** Where no forks are known, this multiple of the usual day is plausible: a quarter of the real jumps exceed it. */
const PLAUSIBLE_MULTIPLE = 15;

/** A burst as seen after the last reading: the anomaly, and the stars in doubt. */
export function describeBurst(run: Run): { anomaly: Anomaly; doubted: number } {
  const cleared = clearedOf(run);
  const doubted =
    cleared?.by === "TIME"
      ? 0
      : run.isShift
        ? run.excess
        : run.excess - supportedOf(run, cleared !== undefined);
  const counted = Math.max(0, Math.round(run.gained - doubted));
  const anomaly: Anomaly = {
    kind: run.isShift ? "LEVEL_SHIFT" : "BURST",
    measure: "stars",
    at: run.steps[0]?.to.at ?? run.end.at,
    until: run.end.at,
    reason: reasonOf(run, counted),
    before: run.before.stars,
    after: run.end.stars,
    counted,
    ...(cleared === undefined ? {} : { cleared }),
  };
  return { anomaly, doubted };
}

/**
 * The stars beyond the usual that seem plausible: what followed explains them, or real gains often are that large. Until they are
 * cleared, at most what these days may gain without being unusual: forks come with campaigns too, though few.
 */
function supportedOf(run: Run, isCleared: boolean): number {
  const supported = run.seen.at(-1)?.supported;
  if (supported === undefined) return Math.min(run.excess, (run.excess * PLAUSIBLE_MULTIPLE) / run.multiple);
  return isCleared ? supported : Math.min(supported, (unusualFrom(run.usual) - run.usual) * run.days);
}

function clearedOf(run: Run): Anomaly["cleared"] {
  const enough = run.endedAbruptly
    ? CLEARED.abrupt
    : Math.min(CLEARED.most, CLEARED.factor * (run.raisedBelow ?? 0));
  // Forks of one moment are quickly made, and another repository has forks of its own.
  const seen = run.isShift ? [] : run.seen;
  const since = seen.slice(seen.findLastIndex(({ chance }) => chance < enough) + 1);
  if (since[0] !== undefined && since.length >= CLEARED.readings)
    return { at: since[0].reading.at, by: "BREADTH" };
  const { later, end, before, excess } = run;
  const at = end.at + CLEARED_DAYS * DAY_MS;
  if ((later.at(-1)?.at ?? 0) < at) return undefined;
  const least = Math.min(...later.map(({ stars }) => stars));
  return least >= before.stars + KEPT_PART * excess ? { at, by: "TIME" } : undefined;
}

/** "6,584 stars in 4 days against about 5 a day, with 27 forks where its own history makes about 400 likely; 600 of them count" */
function reasonOf({ before, end, usual, gained, paces }: Run, counted: number): string {
  const days = Math.max(1, Math.round((end.at - before.at) / DAY_MS));
  const time = days === 1 ? "a day" : `${days} days`;
  const what = `${countText(gained)} stars in ${time} against about ${countText(Math.round(usual))} a day`;
  const { forks } = paces;
  if (forks === null || before.forks === null || end.forks === null)
    return `${what}; ${countText(counted)} of them count`;
  const followed = Math.max(0, end.forks - before.forks);
  const likely = Math.round(forks.aDay * days + forks.ratio * gained);
  return `${what}, with ${countText(followed)} forks where its own history makes about ${countText(likely)} likely; ${countText(counted)} of them count`;
}
