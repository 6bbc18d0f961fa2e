import type { Rank } from "../discovery/discovery.js";
import type { Trend, Window } from "../growth/growth.js";
import { DAY_MS } from "../lib/clock.js";

import { type Crossing, countAt, crossingsOf, hasDay } from "./crossings.js";
import { milestonesOf } from "./events.js";
import { shortNames } from "./lines.js";
import { ageText, ageUnitOf, dateText, exactNumber, signedNumber } from "./numbers.js";
import {
  type ChartInput,
  type ChartPoint,
  type ChartSeries,
  gainOfLine,
  METRIC_WORDS,
  unitOf,
} from "./series.js";
import { dayGains, headlineOf, lifeWords, strongest } from "./words.js";

/** What happened between several lines of totals by date, in sentences, and what their pace leads to. */

/** A line in a story. */
export interface StoryLine {
  /** A short name. */
  name: string;
  points: readonly ChartPoint[];
  /** What it gains a day now; null: unknown. */
  perDay: number | null;
}

/** The days of a pace. */
const PACE_DAYS = 14;
const LEAST_PACE_DAYS = 3;
/** What a pace leads to later is no forecast. */
const MOST_DAYS = 730;

/** What a line gains a day in its last 14 days, or in fewer if it has no more; null with fewer than three. */
export function paceOf(points: readonly ChartPoint[]): number | null {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  const from = Math.max(first.at, last.at - PACE_DAYS * DAY_MS);
  const days = (last.at - from) / DAY_MS;
  return days < LEAST_PACE_DAYS ? null : (last.value - (countAt(points, from) ?? last.value)) / days;
}

/** The line that a line would pass first at the pace of both. */
export interface Overtaking {
  /** Its index. */
  other: number;
  days: number;
  /** When it is. */
  at: number;
}

/** Where a line stands among the others: the index of the next one above it, and what it would pass. */
export interface Standing {
  value: number;
  /** undefined: it leads. */
  above: number | undefined;
  /** undefined: nothing within two years. */
  next: Overtaking | undefined;
}

/** The standings of lines; undefined for one without points. */
export function standingsOf(lines: readonly StoryLine[]): (Standing | undefined)[] {
  const values = lines.map(({ points }) => points.at(-1)?.value);
  const end = Math.max(...lines.map(({ points }) => points.at(-1)?.at ?? 0));
  return lines.map(({ perDay }, i) => {
    const value = values[i];
    if (value === undefined) return undefined;
    const higher = lines.flatMap((line, other) => {
      const gap = (values[other] ?? value) - value;
      return gap > 0 ? [{ other, gap, faster: (perDay ?? 0) - (line.perDay ?? perDay ?? 0) }] : [];
    });
    const [next] = higher
      .map(({ other, gap, faster }) => ({ other, days: faster > 0 ? gap / faster : MOST_DAYS + 1 }))
      .filter(({ days }) => days <= MOST_DAYS)
      .sort((a, b) => a.days - b.days);
    return {
      value,
      above: higher.sort((a, b) => a.gap - b.gap)[0]?.other,
      next: next && { ...next, at: end + next.days * DAY_MS },
    };
  });
}

export interface Story {
  /** "opencode passed all three in January", "claude-code took second place on 2 April"; without crossings who leads. */
  clauses: readonly string[];
  /** Those that the clauses name. */
  crossings: readonly Crossing[];
  /** The next one to pass another; undefined: nobody within two years. */
  next: string | undefined;
}

/** The story of lines of totals by date, counts of a unit; undefined if none has points. */
export function storyOf(lines: readonly StoryLine[], unit: string): Story | undefined {
  const standings = standingsOf(lines);
  const order = standings
    .flatMap((standing, i) => (standing === undefined ? [] : [i]))
    .sort((a, b) => (standings[b]?.value ?? 0) - (standings[a]?.value ?? 0));
  if (order.length === 0) return undefined;
  const end = Math.max(...lines.map(({ points }) => points.at(-1)?.at ?? 0));
  // The last crossing of two lines is the one that still holds.
  const lasting = new Map(
    crossingsOf(lines.map(({ points }) => points)).map((one) => [
      [one.passer, one.passed].sort().join(),
      one,
    ]),
  );
  const byPasser = Map.groupBy(lasting.values(), ({ passer }) => passer);
  const passers = order.flatMap((i) => byPasser.get(i) ?? []);
  const named = [...Map.groupBy(passers, ({ passer }) => passer).values()].slice(0, 2);
  const clauses = named.map((crossings, i) =>
    clauseOf(crossings, { lines, end, isFirst: i === 0, others: order.length - 1 }),
  );
  return {
    crossings: named.flat(),
    clauses: clauses.length > 0 ? clauses : leadWords(lines, { standings, order, unit }),
    next: nextWords(lines, standings, end),
  };
}

interface Telling {
  lines: readonly StoryLine[];
  end: number;
  isFirst: boolean;
  /** The number of the other lines. */
  others: number;
}

const COUNTS = ["", "", "both", "all three", "all four", "all five"];
const SOME = ["", "", "", "three", "four"];

/** What one line passed, which may be several at different times. */
function clauseOf(crossings: readonly Crossing[], { lines, end, isFirst, others }: Telling): string {
  const ordered = crossings.toSorted((a, b) => a.at - b.at);
  const last = ordered.at(-1) as Crossing;
  const name = lines[last.passer]?.name;
  if (!isFirst && last.place === 2) return `${name} took second place ${timeWords([last], { lines, end })}`;
  const names = ordered.map(({ passed }) => lines[passed]?.name);
  const some = names.length > 2 ? `${SOME[names.length]} others` : names.join(" and ");
  const whom = ordered.length === others && others > 1 ? COUNTS[others] : some;
  return `${name} passed ${whom} ${timeWords(ordered, { lines, end })}`;
}

/** "on 2 April", "in January", "between November and January"; the year if it is not that of the end, no day that is not known. */
function timeWords(crossings: readonly Crossing[], { lines, end }: Pick<Telling, "lines" | "end">): string {
  const [first, last] = [crossings[0]?.at ?? end, crossings.at(-1)?.at ?? end];
  const all = lines.map(({ points }) => points);
  if (crossings.length === 1 && crossings.every((one) => hasDay(one, all)))
    return `on ${new Date(first).getUTCDate()} ${monthWords(first, end)}`;
  const months = [first, last].map((at) => monthWords(at, end));
  return months[0] === months[1] ? `in ${months[0]}` : `between ${months.join(" and ")}`;
}

const MONTH = new Intl.DateTimeFormat("en-US", { month: "long", timeZone: "UTC" });

/** "January"; "January 2025" if the year is not the one of `end`. */
export function monthWords(at: number, end?: number): string {
  const year = new Date(at).getUTCFullYear();
  const isSame = end !== undefined && new Date(end).getUTCFullYear() === year;
  return isSame ? MONTH.format(at) : `${MONTH.format(at)} ${year}`;
}

interface Leading {
  standings: readonly (Standing | undefined)[];
  order: readonly number[];
  unit: string;
}

/** Who leads by how much, and who gains most. */
function leadWords(lines: readonly StoryLine[], { standings, order, unit }: Leading): string[] {
  const ranked = order.flatMap((i) => {
    const line = lines[i];
    return line === undefined ? [] : [{ ...line, value: standings[i]?.value ?? 0 }];
  });
  const [lead, second] = ranked;
  if (lead === undefined || second === undefined)
    return [`${lead?.name} has ${exactNumber(lead?.value ?? 0)} ${unit}`];
  const gap = lead.value - second.value;
  const leads =
    gap === 0 ? `${lead.name} and ${second.name} are level` : `${lead.name} leads by ${exactNumber(gap)}`;
  const [fastest] = ranked.toSorted((a, b) => (b.perDay ?? 0) - (a.perDay ?? 0));
  if (fastest === undefined || (fastest.perDay ?? 0) < LEAST_TOLD) return [leads];
  if (fastest === lead) return [`${leads} and gains most`];
  return [leads, `${fastest.name} gains ${fasterWords(fastest.perDay ?? 0, lead.perDay)}`];
}

/** A smaller daily gain rounds to 0. */
const LEAST_TOLD = 0.5;

/** "2.5 times as much a day"; without a pace to compare with "246 a day". */
function fasterWords(perDay: number, than: number | null): string {
  const times = than === null || than <= 0 ? 0 : perDay / than;
  const isTold = times >= 1.1 && times < 100;
  return isTold
    ? `${times.toFixed(times < 10 ? 1 : 0).replace(".0", "")} times as much a day`
    : `${exactNumber(perDay)} a day`;
}

const SOON_DAYS = 60;

/** "codex is 23,794 behind gemini-cli, gains 2.5 times as much a day, and would pass it in October." */
function nextWords(
  lines: readonly StoryLine[],
  standings: readonly (Standing | undefined)[],
  end: number,
): string | undefined {
  const [soonest] = standings
    .flatMap((standing, i) => (standing?.next === undefined ? [] : [{ i, ...standing, ...standing.next }]))
    .sort((a, b) => a.days - b.days);
  const [line, other] = [lines[soonest?.i ?? -1], lines[soonest?.other ?? -1]];
  if (soonest === undefined || line === undefined || other === undefined) return undefined;
  const gap = (standings[soonest.other]?.value ?? 0) - soonest.value;
  const days = Math.max(1, Math.round(soonest.days));
  const when =
    days <= SOON_DAYS ? `in ${days} day${days === 1 ? "" : "s"}` : `in ${monthWords(soonest.at, end)}`;
  const gains =
    (line.perDay ?? 0) < LEAST_TOLD ? "" : `, gains ${fasterWords(line.perDay ?? 0, other.perDay)},`;
  return `${line.name} is ${exactNumber(gap)} behind ${other.name}${gains} and would pass it ${when}.`;
}

/** What a picture says of its lines: sentences, the longest first (one is shown), and the crossings that they name. */
export function sentencesOf(
  input: Pick<ChartInput, "metric" | "align" | "alignedAt" | "view" | "sentence">,
  series: readonly ChartSeries[],
): { sentences: readonly string[]; crossings: readonly Crossing[] } {
  const { metric, align, view = "total", sentence } = input;
  const { unit } = METRIC_WORDS[metric];
  const [only, ...others] = series;
  if (sentence !== undefined) return { sentences: [sentence], crossings: [] };
  if (only === undefined || others.length === 0)
    return {
      sentences: only === undefined ? [] : [gainSentence(only.points, { align, metric })],
      crossings: [],
    };
  const names = shortNames(series.map(({ name }) => name));
  const lines = series.map(({ points }, i) => ({ name: names[i] ?? "", points, perDay: paceOf(points) }));
  if (align === "date" && view === "total") {
    const { clauses = [], crossings = [] } = storyOf(lines, unit) ?? {};
    const [first = "", second] = clauses;
    const lead = second === undefined ? leadGap(first, { lines, crossings }) : "";
    const named = [clauses.join(", ") + lead, first];
    return { sentences: [...new Set(named)].map(asSentence), crossings };
  }
  return { sentences: [asSentence(leadSentence(lines, input))], crossings: [] };
}

const asSentence = (words: string): string => (words === "" ? "" : `${words}.`);

/** " and leads by 34,955", of a line that passed another one and is the first since. */
function leadGap(
  clause: string,
  { lines, crossings }: { lines: readonly StoryLine[]; crossings: readonly Crossing[] },
): string {
  const values = lines.map(({ points }) => points.at(-1)?.value ?? 0);
  const own = values[crossings[0]?.passer ?? -1];
  const [most, next] = values.toSorted((a, b) => b - a);
  const isFirst = own !== undefined && own === most && next !== undefined && own > next;
  return clause !== "" && isFirst ? ` and leads by ${exactNumber(own - next)}` : "";
}

/** "+1,234 forks since 30 Apr 2025."; "12,345 stars after 10 months." */
function gainSentence(
  points: readonly ChartPoint[],
  { align, metric }: Pick<ChartInput, "align" | "metric">,
): string {
  const gain = gainOfLine(points);
  const last = points.at(-1);
  if (gain === undefined || last === undefined) return "";
  if (align === "index") return `From 100 to ${exactNumber(last.value)} since ${dateText(gain.first.at)}.`;
  if (align !== "date")
    return `${exactNumber(last.value)} ${unitOf(metric, last.value)} after ${ageText(last.at, ageUnitOf(last.at))}.`;
  const since = dateText(gain.first.at);
  if (gain.gained < 0)
    return `${exactNumber(-gain.gained)} ${unitOf(metric, -gain.gained)} fewer than on ${since}.`;
  return `${signedNumber(gain.gained)} ${unitOf(metric, gain.gained)} since ${since}.`;
}

/** Who leads, of lines that are not totals by date. */
function leadSentence(
  lines: readonly StoryLine[],
  { align, view, alignedAt }: Pick<ChartInput, "align" | "view" | "alignedAt">,
): string {
  const known = lines.filter(({ points }) => points.length > 0);
  const end = Math.min(...known.map(({ points }) => points.at(-1)?.at ?? 0));
  const isByAge = align !== "date" && align !== "index";
  const countOf = ({ points }: StoryLine) => (isByAge ? countAt(points, end) : points.at(-1)?.value) ?? 0;
  const [lead, second] = known.toSorted((a, b) => countOf(b) - countOf(a));
  if (lead === undefined || second === undefined) return "";
  if (view === "per-day" && !isByAge) return `${lead.name} gains most now`;
  if (align === "index") {
    const since = alignedAt === undefined ? "" : ` since ${dateText(alignedAt)}`;
    return `${lead.name} grew most${since}: from 100 to ${exactNumber(countOf(lead))}`;
  }
  const after = `${align === "age" ? "At the age of" : "After"} ${ageText(end, ageUnitOf(end))}`;
  if (view === "per-day") return `${after}, ${lead.name} gains most`;
  return `${after}, ${lead.name} leads by ${exactNumber(countOf(lead) - countOf(second))}`;
}

/** The headline of a repository as its page has it, in a text; what it gained in a year, if that says no more than a gain. `points`: of its whole life. `ranks`: none in a catalogue of fewer than LEAST_RANKED. */
export function headlineText(
  trends: Readonly<Record<Window, Trend | null>>,
  ranks: readonly Rank[],
  points: readonly ChartPoint[],
): string | undefined {
  const passed = milestonesOf({ metric: "stars", align: "date", series: [{ points }] }).at(-1);
  const headline = headlineOf(trends[strongest(trends, ranks)], { days: dayGains(points), passed });
  const life = lifeWords(points);
  // A gain alone is next to the bars.
  const isPlain = headline === undefined || (headline.gain !== "" && !/[,:]/.test(headline.words));
  if (isPlain && life !== undefined)
    return `${life.replace(/^\S+/, (gain) => `${gain} ${gain === "+1" ? "star" : "stars"}`)}.`;
  return headline && `${headline.gain} ${headline.words}`.trim();
}
