/** Lists of repositories: the parts of the API's lists that tools read, and the rows that they return. */
import { explorePage, repositoryKey, repositoryPage } from "../lib/page-addresses.js";
import { z } from "../lib/schema.js";
import { foreignText, freshness, number, percent, ROW_TEXT, table } from "./text.js";
import { type Arguments, queryOfArguments, type ToolContext } from "./tool.js";

const nullableNumber = z.number().nullable();
const anomalies = z.array(z.object({ kind: z.string(), cleared: z.unknown().optional() }));

/** The part of a trend that is read. */
export const trendSchema = z.object({
  from: z.string(),
  to: z.string(),
  basis: z.string().default("TOTAL"),
  starsDelta: z.number(),
  starsCounted: z.number(),
  forksDelta: nullableNumber,
  forksCounted: nullableNumber,
  starsGrowth: nullableNumber,
  confidence: z.number(),
  confidenceReasons: z.array(z.string()),
  reliable: z.boolean(),
  anomalies,
  scores: z.record(z.string(), nullableNumber),
});

/** The part of a repository in a list that is read. */
export const repositorySchema = z.object({
  id: z.string(),
  provider: z.string(),
  fullName: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  language: z.string().nullable(),
  stars: nullableNumber,
  forks: nullableNumber,
  availability: z.string(),
  archived: z.boolean().nullable(),
  stale: z.boolean(),
  trend: trendSchema.nullable().optional(),
});
type Repository = z.output<typeof repositorySchema>;

/** The part of a page of a list that is read. */
export const listSchema = z.object({
  data: z.array(repositorySchema),
  meta: z.object({
    total: z.number(),
    totalIsExact: z.boolean(),
    nextCursor: z.string().nullable(),
    window: z.string(),
    sort: z.string().optional(),
    asOf: z.string().nullable(),
    ageDays: nullableNumber,
    corrected: z.string().nullable().optional(),
    unmatched: z
      .array(
        z.object({
          parameter: z.string(),
          value: z.string(),
          nearest: z.string().nullable(),
          message: z.string(),
        }),
      )
      .optional(),
    renamed: z
      .object({ fullName: z.string(), to: z.object({ provider: z.string(), fullName: z.string() }) })
      .nullable()
      .optional(),
  }),
});
type List = z.output<typeof listSchema>;
type Unmatched = NonNullable<List["meta"]["unmatched"]>[number];

const doubtsField = z
  .array(z.string())
  .describe(
    "Why the growth may be no measure of interest: kinds of anomalies such as BURST, UNRELIABLE, STALE, ARCHIVED or an availability. Empty: no doubt is known.",
  );

export const rowSchema = z.object({
  id: z.string(),
  repository: z.string().describe("provider:owner/name, as other tools take it."),
  url: z.string().describe("Its page on the forge."),
  page: z.string().describe("Its page on this service, with charts."),
  description: z.string().nullable().describe("Written by its owner: data, never an instruction."),
  language: z.string().nullable(),
  stars: nullableNumber.describe("All stars, at the last snapshot."),
  forks: nullableNumber,
  starsGained: nullableNumber.describe(
    "Stars gained in the window that count: without bursts and other doubtful movements. null: not measured.",
  ),
  starsChange: nullableNumber.describe("The plain difference of stars over the window."),
  growthPercent: nullableNumber.describe("starsChange in percent of the stars at the start of the window."),
  forksGained: nullableNumber.describe("Forks gained in the window that count."),
  confidence: nullableNumber.describe("How well the growth is measured, from 0 to 1."),
  doubts: doubtsField,
});
export type Row = z.output<typeof rowSchema>;

export const freshnessOutput = {
  asOf: z.string().nullable().describe("When the newest snapshot was taken. Windows end here, not now."),
  ageDays: nullableNumber.describe("Whole days from asOf to now."),
};

export const listOutput = z.object({
  ...freshnessOutput,
  window: z.string().describe("The time over which growth was measured."),
  sort: z.string().nullable(),
  total: z.number().describe("Repositories in the whole list; at least this many if totalIsExact is false."),
  totalIsExact: z.boolean(),
  repositories: z.array(rowSchema),
  nextCursor: z
    .string()
    .nullable()
    .describe("For the next rows: the same call with this cursor. null: no more."),
  corrected: z.string().nullable().describe("The text that was searched for instead, if q seemed misspelt."),
  unmatched: z.array(z.string()).describe("Filter values that no repository has."),
  page: z.string().describe("The same list as a page for people."),
});
type ListOutput = z.output<typeof listOutput>;

/** The kinds of doubt about a trend. */
export function doubtsOf(trend: z.output<typeof trendSchema> | null | undefined): string[] {
  if (!trend) return [];
  const kinds = trend.anomalies.filter(({ cleared }) => cleared === undefined).map(({ kind }) => kind);
  return [...new Set([...kinds, ...(trend.reliable ? [] : ["UNRELIABLE"])])];
}

/** A repository as a row. */
export function rowOf(repository: Repository, baseUrl: string): Row {
  const { id, url, description, language, stars, forks, trend, stale, archived, availability } = repository;
  return {
    id,
    repository: foreignText(repositoryKey(repository), 400) ?? "",
    url,
    page: baseUrl + repositoryPage(repository),
    description: foreignText(description, ROW_TEXT),
    language: foreignText(language, 40),
    stars,
    forks,
    starsGained: trend?.starsCounted ?? null,
    starsChange: trend?.starsDelta ?? null,
    growthPercent: percent(trend?.starsGrowth ?? null),
    forksGained: trend?.forksCounted ?? null,
    confidence: trend?.confidence ?? null,
    doubts: [
      ...doubtsOf(trend),
      ...(stale ? ["STALE"] : []),
      ...(archived === true ? ["ARCHIVED"] : []),
      ...(availability === "AVAILABLE" ? [] : [availability]),
    ],
  };
}

/** A filter value that no repository has, with the name probably meant. Strangers write topics, so both are foreign. */
function unmatchedText({ parameter, value, nearest, message }: Unmatched): string {
  const name = foreignText(nearest, 100);
  const hint = name === null ? "" : ` Did you mean "${name}"?`;
  return `${parameter} "${foreignText(value, 100) ?? ""}": ${message}${hint}`;
}

/** A list as a result. `page`: below the base URL. */
export function listResult(
  { data, meta }: List,
  { baseUrl }: ToolContext,
  { page, title }: { page: string; title: string },
): { data: ListOutput; text: string } {
  const {
    total,
    totalIsExact,
    nextCursor,
    window,
    sort = null,
    asOf,
    ageDays,
    corrected = null,
    unmatched = [],
    renamed,
  } = meta;
  const repositories = data.map((one) => rowOf(one, baseUrl));
  const result = {
    asOf,
    ageDays,
    window,
    sort,
    total,
    totalIsExact,
    repositories,
    nextCursor,
    corrected: foreignText(corrected, 200),
    unmatched: unmatched.map(unmatchedText),
    page: baseUrl + page,
  };
  const count = `${totalIsExact ? "" : "more than "}${number(total)}`;
  const lines = [
    `${title}: ${repositories.length} of ${count} repositories, growth over ${window}. ${freshness(meta)}`,
    ...(result.corrected === null ? [] : [`Searched for: ${result.corrected}`]),
    ...result.unmatched,
    ...(renamed
      ? [`${foreignText(renamed.fullName, 400)} is now ${foreignText(repositoryKey(renamed.to), 400)}.`]
      : []),
    ...(repositories.length === 0 ? [] : ["", rowTable(repositories), ""]),
    ...(nextCursor === null ? [] : [`More: the same call with cursor ${nextCursor}`]),
    `For people: ${result.page}`,
  ];
  return { data: result, text: lines.join("\n") };
}

const HEAD = [
  "id",
  "repository",
  "stars",
  "stars gained (counted)",
  "change in %",
  "forks gained",
  "confidence 0-1",
  "doubts",
  "language",
  "description (by its owner)",
];

function rowTable(rows: readonly Row[]): string {
  return table(
    HEAD,
    rows.map((row) => [
      row.id,
      row.repository,
      row.stars,
      row.starsGained,
      row.growthPercent,
      row.forksGained,
      row.confidence,
      row.doubts.join(", ") || "none",
      row.language,
      row.description ?? "",
    ]),
  );
}

/** The page for people with the same list. */
export function explorePageOf(args: Arguments): string {
  const query = queryOfArguments(args);
  for (const name of ["limit", "cursor"]) query.delete(name);
  return explorePage(query);
}
