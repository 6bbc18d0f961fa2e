import type { Anomaly } from "../rankings/rankings.js";
import { datesText, exactNumber } from "./numbers.js";
import type { ChartPoint, Metric } from "./series.js";

/** Times in which counts are unusual or missing. Charts shade them, and number them for a note. */

export interface ChartSpan {
  from: number;
  to: number;
  /** Time of the point before it: a movement that it shows began there. */
  since?: number;
  kind: "unusual" | "unseen";
  /** The note, without the date. */
  words: string;
  /** Whether its counts are wrong, or soon taken back: they reach no milestone, and their bars may be cut. */
  isDoubtful: boolean;
}

/** Further ones are left out. */
export const MAX_SPANS = 9;

/** What happened, and what of it counts: "dropped by 22,000 and recovered; neither counts". `turn`: the first count of a return. */
export function anomalyWords(
  { kind, before, after, counted, cleared }: Anomaly,
  turn: number | undefined,
): string {
  const moved = (change: number) => `${change < 0 ? "dropped" : "rose"} by ${exactNumber(Math.abs(change))}`;
  const [low, high] = [Math.min(before, after), Math.max(before, after)].map(exactNumber);
  const counts = (otherwise: string) => (cleared?.by === "TIME" ? "all of it counts by now" : otherwise);
  switch (kind) {
    case "FAILED_READING":
      return `read as ${low} instead of about ${high}: a failed reading, which does not count`;
    case "UNCONFIRMED":
      return `read as ${exactNumber(after)} after ${exactNumber(before)}; counts once another reading confirms it`;
    case "RETURN":
      if (turn === undefined || turn === before) return "moved and returned; neither counts";
      return `${moved(turn - before)} and ${turn < before ? "recovered" : "fell back"}; neither counts`;
    case "LEVEL_SHIFT":
      return `${moved(after - before)} in one step; ${counts("that does not count")}`;
    case "BURST":
      return `${moved(after - before)}, far more than usual; ${counts(`${exactNumber(counted ?? 0)} of it count`)}`;
    case "PURGE":
      return `${moved(after - before)}; the loss counts in full`;
  }
}

/** Kinds in which the counts themselves are wrong, or soon taken back. */
const PASSING: readonly Anomaly["kind"][] = ["FAILED_READING", "UNCONFIRMED", "RETURN"];

/** The anomalies of a metric in the trends of a repository, each once, oldest first. */
export function anomalySpans(
  trends: readonly ({ anomalies: readonly Anomaly[] } | null | undefined)[],
  metric: Metric,
  points: readonly ChartPoint[],
): ChartSpan[] {
  const turnOf = ({ at, until }: Anomaly) =>
    points.find((point) => point.at >= at && point.at <= until)?.value;
  const found = new Map<string, Anomaly>();
  for (const trend of trends)
    for (const anomaly of trend?.anomalies ?? [])
      if (anomaly.measure === metric) found.set(`${anomaly.kind} ${anomaly.at}`, anomaly);
  return [...found.values()]
    .sort((a, b) => a.at - b.at)
    .slice(-MAX_SPANS)
    .map((anomaly) => ({
      from: anomaly.at,
      to: Math.max(anomaly.at, anomaly.until),
      since: points.findLast(({ at }) => at < anomaly.at)?.at ?? anomaly.at,
      kind: "unusual",
      words: anomalyWords(anomaly, turnOf(anomaly)),
      isDoubtful: PASSING.includes(anomaly.kind),
    }));
}

/** The part of the spans between two times. */
export function spansWithin(spans: readonly ChartSpan[], from: number, to: number): ChartSpan[] {
  return spans
    .filter((span) => span.to >= from && span.from <= to)
    .map((span) => ({ ...span, from: Math.max(from, span.from), to: Math.min(to, span.to) }));
}

/** The note of a span: its date or dates, and its words. */
export function noteOfSpan({ from, to, words }: Pick<ChartSpan, "from" | "to" | "words">): string {
  return `${datesText(from, to)}: ${words}`;
}
