import type { Anomaly, Trend } from "./growth/growth.js";

/** The counts whose gains may count in part. */
export type CountedMeasure = "stars" | "forks";

/** Why a part of a movement does not count; kinds that are absent leave nothing out of what is compared. */
function reasonsOf(other: CountedMeasure): Readonly<Partial<Record<Anomaly["kind"], string>>> {
  return {
    RETURN: "dropped and recovered",
    LEVEL_SHIFT: `a change of level without ${other} to match`,
    BURST: `far more than usual without ${other} to match`,
    PURGE: "what is gone had not counted when it came",
  };
}

/** By the count that moved: each is judged by the other. */
const REASONS = { stars: reasonsOf("forks"), forks: reasonsOf("stars") } as const;

const whole = new Intl.NumberFormat("en-US");
const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });

/** What counts of a gain, in words. */
export interface GainWords {
  /** "none counted", "still held, 240 counted". */
  short: string;
  /** The same with the reasons: "none counted: dropped and recovered". */
  full: string;
}

/** What readers must know about a gain: that it compares stars still held, and what of it counts. */
export function gainWords(
  trend: Pick<Trend, "basis"> & CountedTrend,
  measure: CountedMeasure,
): GainWords | undefined {
  const counted = countedWords(trend, measure);
  if (trend.basis !== "RETAINED" || measure !== "stars") return counted;
  const { short, full } = RETAINED_WORDS;
  if (counted === undefined) return RETAINED_WORDS;
  return { short: `${short}, ${counted.short}`, full: `${full}; ${counted.full}` };
}

/** Names a gain between two counts of stars still held. */
const RETAINED_WORDS: GainWords = {
  short: "still held",
  full: "given in this time and still held, as the forge reported later",
};

type CountedTrend = Pick<Trend, "starsDelta" | "starsCounted" | "forksDelta" | "forksCounted" | "anomalies">;

/** The part of a gain that counts, with the reason; undefined if all of it counts. The only place with these words. */
function countedWords(trend: CountedTrend, measure: CountedMeasure): GainWords | undefined {
  const [delta, counted] =
    measure === "stars" ? [trend.starsDelta, trend.starsCounted] : [trend.forksDelta, trend.forksCounted];
  if (counted === null || delta === counted) return undefined;
  const short = counted === 0 ? "none counted" : `${(counted < 0 ? signed : whole).format(counted)} counted`;
  const cause = trend.anomalies.findLast(
    (anomaly) =>
      anomaly.measure === measure &&
      anomaly.cleared?.by !== "TIME" &&
      REASONS[measure][anomaly.kind] !== undefined,
  );
  const reason = cause === undefined ? "" : `: ${REASONS[measure][cause.kind]}`;
  return { short, full: short + reason };
}
