import type { Availability } from "../repositories/repositories.js";
import { WINDOW_HOURS, type Window } from "./definitions.js";

/** A trend is reliable from this confidence: all factors near 1, or one of them at 0.7. */
export const RELIABLE_FROM = 0.7;

/** Snapshots in a window, both ends included, beyond which more add no confidence. */
const ENOUGH_SNAPSHOTS: Readonly<Record<Window, number>> = { "24h": 2, "7d": 4, "30d": 8 };
const DOUBTFUL = 0.3;
const RETAINED = 0.8;
const UNKNOWN_USUAL = 0.8;
/** A factor above this is not given as a reason. */
const NEARLY_ONE = 0.95;

/** The facts about its confidence that a stored trend has. */
interface Known {
  window: Window;
  /** Hours between the two snapshots compared. */
  coveredHours: number;
  /** Snapshots from `from` to `to`, both included. */
  snapshots: number;
  /** Whether an anomaly in the window makes its growth doubtful. */
  hasDoubtfulReading: boolean;
  /** Whether the forge reported the first count, or both, later. */
  isRetained: boolean;
  /** Whether the usual day is known; it never is if the basis is RETAINED. */
  hasUsualDay: boolean;
}

interface ConfidenceInput extends Known {
  availability: Availability;
}

/** The factors that a stored trend shows, each from 0 to 1. */
interface Factors {
  coverage: number;
  history: number;
  readings: number;
  basis: number;
  usual: number;
}

function factorsOf({
  window,
  coveredHours,
  snapshots,
  hasDoubtfulReading,
  isRetained,
  hasUsualDay,
}: Known): Factors {
  const windowHours = WINDOW_HOURS[window];
  return {
    coverage: Math.min(coveredHours / windowHours, windowHours / coveredHours),
    history: Math.min(1, snapshots / ENOUGH_SNAPSHOTS[window]),
    readings: hasDoubtfulReading ? DOUBTFUL : 1,
    basis: isRetained ? RETAINED : 1,
    usual: isRetained || hasUsualDay ? 1 : UNKNOWN_USUAL,
  };
}

/** What a low factor means, as a phrase. */
const REASONS: readonly [keyof Factors, (known: Known) => string][] = [
  ["coverage", ({ coveredHours }) => `measured over ${Math.round(coveredHours)} hours`],
  ["history", ({ snapshots }) => `only ${snapshots} snapshots`],
  ["readings", () => "an unusual change in the window"],
  ["basis", () => "the forge reported the counts later"],
  ["usual", () => "its usual day is not known yet"],
];

/**
 * How far a trend can be trusted, from 0 to 1 with two decimals: coverage × history × readings × usual. Coverage is how well the compared
 * snapshots fit the window, history whether there are enough of them, readings whether one is in doubt or was reported later,
 * usual whether the usual day is known. 0 for an unavailable repository.
 */
export function confidence(input: ConfidenceInput): number {
  if (input.availability !== "AVAILABLE") return 0;
  const { coverage, history, readings, basis, usual } = factorsOf(input);
  return Math.round(coverage * history * readings * basis * usual * 100) / 100;
}

/** What lowers the confidence of a stored trend, as phrases. */
export function confidenceReasons({
  confidence: stored,
  ...known
}: Known & { confidence: number }): string[] {
  if (stored === 0) return ["the repository is not available"];
  const factors = factorsOf(known);
  return REASONS.flatMap(([name, reasonOf]) => (factors[name] < NEARLY_ONE ? [reasonOf(known)] : []));
}
