import type { Availability } from "../repositories/repositories.js";
import { WINDOW_HOURS, type Window } from "./definitions.js";

/** A trend is reliable from this confidence: all factors near 1, or one of them at 0.7. */
export const RELIABLE_FROM = 0.7;

/** Below this a reader must know: a reading is in doubt, or the time measured is far from the window. */
const LOW_BELOW = 0.5;

export const isUnsure = ({ confidence: stored }: { confidence: number }): boolean => stored < LOW_BELOW;

/** Snapshots in a window, both ends included, beyond which more add no confidence. */
const ENOUGH_SNAPSHOTS: Readonly<Record<Window, number>> = { "24h": 2, "7d": 4, "30d": 8 };
const DOUBTFUL = 0.3;
const UNKNOWN_USUAL = 0.8;
/** A factor above this is not given as a reason. */
const NEARLY_ONE = 0.95;

/** The facts about its confidence that a stored trend has. */
interface Known {
  window: Window;
  /** Hours between the two counts compared. */
  coveredHours: number;
  /** Counts from `from` to `to`, both included. */
  snapshots: number;
  /** Whether an anomaly in the window makes its growth doubtful. */
  hasDoubtfulReading: boolean;
  hasUsualDay: boolean;
}

interface ConfidenceInput extends Known {
  availability: Availability;
  /** Hours of them that nobody looked at. */
  unseenHours: number;
  /** Whether the repository is younger than the window: before that there was nothing to gain. */
  isYounger: boolean;
}

/** The factors that a stored trend shows, each from 0 to 1. */
interface Factors {
  coverage: number;
  history: number;
  readings: number;
  usual: number;
}

function factorsOf({ window, coveredHours, snapshots, hasDoubtfulReading, hasUsualDay }: Known): Factors {
  const windowHours = WINDOW_HOURS[window];
  return {
    coverage: Math.min(coveredHours / windowHours, windowHours / coveredHours),
    history: Math.min(1, snapshots / ENOUGH_SNAPSHOTS[window]),
    readings: hasDoubtfulReading ? DOUBTFUL : 1,
    usual: hasUsualDay ? 1 : UNKNOWN_USUAL,
  };
}

/** What a low factor means, as a phrase. */
const REASONS: readonly [keyof Factors, (known: Known) => string][] = [
  ["coverage", ({ coveredHours }) => `measured over ${Math.round(coveredHours)} hours`],
  ["history", ({ snapshots }) => `only ${snapshots} snapshots`],
  ["readings", () => "an unusual change in the window"],
  ["usual", () => "its usual day is not known yet"],
];

/**
 * How far a trend can be trusted, from 0 to 1 with two decimals: coverage × history × readings × usual. Coverage is how well the time
 * between the two counts fits the window, without what nobody looked at; history whether there are enough counts, readings whether one is
 * in doubt, usual whether the usual day is known. 0 for an unavailable repository.
 */
export function confidence(input: ConfidenceInput): number {
  if (input.availability !== "AVAILABLE") return 0;
  const { coverage, history, readings, usual } = factorsOf(input);
  const seen = 1 - input.unseenHours / input.coveredHours;
  const covered = input.isYounger ? seen : seen * coverage;
  return Math.round(covered * history * readings * usual * 100) / 100;
}

/** What lowers the confidence of a stored trend, as phrases. */
export function confidenceReasons({
  confidence: stored,
  ...known
}: Known & { confidence: number }): string[] {
  if (stored === 0) return ["the repository is not available"];
  const factors = factorsOf(known);
  const { coverage, history, readings, usual } = factors;
  const covered = stored / (history * readings * usual);
  // The other factors leave the time that nobody looked at.
  const unseen = covered < NEARLY_ONE * coverage ? ["a part of that time was not measured"] : [];
  const isWhole = covered >= NEARLY_ONE;
  const reasons = REASONS.flatMap(([name, reasonOf]) =>
    factors[name] < NEARLY_ONE && !(isWhole && name === "coverage") ? [reasonOf(known)] : [],
  );
  return [...reasons, ...unseen];
}
