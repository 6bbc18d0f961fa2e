/** What a run has found, in Markdown: for a terminal, the summary of a job, a file on the branch or a mail. */
import {
  DAY_STEP,
  dateText,
  exactNumber,
  gainsOf,
  MILESTONES,
  markdownText,
  signedNumber,
} from "../charts/charts.js";
import { countAgo, type Series } from "../growth/growth.js";
import { WEEK_MS } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import type { Repository } from "../repositories/repositories.js";
import type { Published } from "./pictures.js";

/** The stars of a repository since the last run. */
export interface StarNews {
  repository: string;
  stars: number | null;
  /** Since the state was written; null: it is new. */
  gained: number | null;
  /** In 7 days; null: unknown. */
  gainedInWeek: number | null;
  /** The round number that it has reached. */
  milestone: number | null;
  /** Its gain on the newest day, if that is the highest in the days before. */
  record: { gained: number; since: number } | null;
}

export interface Totals {
  totalStars: number;
  newStars: number;
  newStarsInWeek: number;
}

/** Fewer days have no record, and neither have a few stars. */
const [LEAST_DAYS, LEAST_RECORD] = [30, 10];

/** `before`: the repository as the last run has left it. */
export function newsOf(
  { repository, points }: Pick<Published, "repository" | "points">,
  series: Series,
  before: Repository | undefined,
): StarNews {
  const { stars } = repository;
  const [last, weekAgo] = [points.at(-1), countAgo(series, WEEK_MS)];
  const known = before?.stars ?? null;
  const news = {
    repository: repositoryKey(repository),
    stars,
    gained: stars === null || known === null ? null : stars - known,
    gainedInWeek: last === undefined || weekAgo === undefined ? null : last.value - weekAgo.stars,
  };
  const readAt = before?.countedAt ?? Number.POSITIVE_INFINITY;
  if (last === undefined || last.at <= readAt) return { ...news, milestone: null, record: null };
  const highest = points.reduce((most, { at, value }) => (at <= readAt ? Math.max(most, value) : most), 0);
  const milestone = MILESTONES.findLast((one) => one > highest && one <= last.value) ?? null;
  const days = gainsOf(points, DAY_STEP);
  const newest = days.pop()?.perDay ?? 0;
  const since = days.findLastIndex(({ perDay }) => perDay === null || perDay >= newest) + 1;
  const isRecord = newest >= LEAST_RECORD && days.length - since >= LEAST_DAYS;
  const [first] = days.slice(since);
  return {
    ...news,
    milestone,
    record: isRecord && first !== undefined ? { gained: Math.round(newest), since: first.since } : null,
  };
}

export function totalsOf(all: readonly StarNews[]): Totals {
  const sum = (of: (one: StarNews) => number | null) => all.reduce((total, one) => total + (of(one) ?? 0), 0);
  return {
    totalStars: sum(({ stars }) => stars),
    newStars: sum(({ gained }) => gained),
    newStarsInWeek: sum(({ gainedInWeek }) => gainedInWeek),
  };
}

/** Rows of a report; the others are counted. */
const MAX_ROWS = 100;

export interface Reported extends Totals {
  now: number;
  /** When the last run read something; null: this is the first one. */
  lastAt: number | null;
  listed: number;
  read: number;
  drawn: number;
  repositories: readonly (StarNews & { embed?: string | undefined })[];
  /** Sentences about what is no longer there. */
  gone: readonly string[];
  problems: readonly string[];
}

export function reportText(report: Reported): string {
  const { now, lastAt, repositories, gone } = report;
  const changed = repositories.filter(({ gained }) => gained !== 0);
  const rows = changed
    .toSorted((a, b) => Math.abs(b.gained ?? 0) - Math.abs(a.gained ?? 0))
    .slice(0, MAX_ROWS)
    .map((one) => `| ${cellsOf(one).join(" | ")} |`);
  const since = lastAt === null ? "" : `, ${signedNumber(report.newStars)} since ${dateText(lastAt)}`;
  const left = changed.length - rows.length;
  return [
    `## Stars on ${dateText(now)}`,
    "",
    `**${counted(report.totalStars, "star")}** in ${counted(repositories.length, "repository")}${since}, ${signedNumber(report.newStarsInWeek)} in 7 days.`,
    `${report.read} of ${report.listed} read, ${changed.length || "none"} changed. Pictures redrawn: ${report.drawn}. Problems: ${report.problems.length}.`,
    ...(rows.length === 0
      ? []
      : ["", "| Repository | Stars | New | In 7 days | |", "| :-- | --: | --: | --: | :-- |", ...rows]),
    ...(left === 0 ? [] : ["", `And ${counted(left, "repository")} with smaller changes.`]),
    ...embedsOf(repositories),
    ...(gone.length === 0 ? [] : ["", ...gone.map((sentence) => `- ${markdownText(sentence)}`)]),
    "",
  ].join("\n");
}

/** The Markdown for READMEs of those that are new. */
function embedsOf(repositories: Reported["repositories"]): string[] {
  const embeds = repositories.flatMap(({ gained, embed }) => (gained === null ? (embed ?? []) : []));
  if (embeds.length === 0) return [];
  return [
    "",
    "To show charts in a README, in a package or in a mail:",
    "",
    "```markdown",
    ...embeds.slice(0, MAX_ROWS),
    "```",
  ];
}

function cellsOf({ repository, stars, gained, gainedInWeek, milestone, record }: StarNews): string[] {
  const signed = (value: number | null) => (value === null ? "" : signedNumber(value));
  const events = [
    ...(milestone === null ? [] : [`reached ${exactNumber(milestone)}`]),
    ...(record === null
      ? []
      : [`${signedNumber(record.gained)} in a day, the most since ${dateText(record.since)}`]),
  ];
  return [
    markdownText(repository),
    stars === null ? "unknown" : exactNumber(stars),
    gained === null ? "first reading" : signed(gained),
    signed(gainedInWeek),
    events.join("; "),
  ];
}

const counted = (count: number, noun: string): string =>
  `${exactNumber(count)} ${count === 1 ? noun : noun.replace(/y$/, "ie").concat("s")}`;
