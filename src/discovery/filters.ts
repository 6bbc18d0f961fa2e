/**
 * The filters of lists, each declared once. The parameters of queries, canonical addresses, the titles of feeds and the matches of lists
 * follow from this table. The fields of the form and the texts of its tags are in `web/components/filters.tsx`.
 */
import type { Window } from "../growth/growth.js";
import { isoTime } from "../lib/clock.js";
import { z } from "../lib/schema.js";
import { type NamedColumn, type PlainColumn, plainNumber } from "./columns.js";
import type { Evaluation } from "./model.js";
import { count, exactText, providerParameter, repeatable, timeParameter } from "./parameters.js";
import type { SlotSet } from "./slots.js";

/** The subject of a filter. Repositories are counted by a value without the filters that are about the same. */
export type Dimension =
  | NamedColumn
  | Exclude<PlainColumn, "forks">
  | "topic"
  | "archived"
  | "fork"
  /** The trend in the window of the list. */
  | "trend";

/** Tests a column, or whether a repository is in a set; `isMember` null: either. Both ends of a range are included. */
type ColumnTest =
  | { set: SlotSet; isMember: boolean | null }
  | { column: NamedColumn; isWanted: (name: string) => boolean }
  | { column: PlainColumn; first?: number; last?: number };

interface Filter<Value> {
  /** Its parameter, with its meaning for the OpenAPI document. */
  parameter: z.ZodType<Value>;
  dimension: Dimension;
  /** Its value as a canonical parameter. */
  text: (value: Value) => string | readonly string[];
  /** In English, such as `at least 100 stars`. */
  words: (value: Value) => string;
  test: (value: Value, evaluation: Evaluation, window: Window) => ColumnTest;
  /** The value that lists sorted by growth have without the parameter. */
  ofGrowth?: Value;
}

/** Infers the type of a filter's value from its parameter. */
const filter = <Value>(declared: Filter<Value>): Filter<Value> => declared;

const stars = () => count(0, 1e12);
const number = new Intl.NumberFormat("en-US");
const TRUTHS = ["true", "false", "any"] as const;

/** Its value is null for any. */
const flag = z
  .enum(TRUTHS)
  .transform((text) => (text === "any" ? null : text === "true"))
  .openapi({
    type: "string",
    enum: [...TRUTHS],
    description: "Default: any for plain sorts, false for sorts by growth.",
  });

/** Its value is undefined for false. */
const choice = (description: string) =>
  z
    .enum(["true", "false"])
    .transform((text) => (text === "true" ? true : undefined))
    .openapi({ type: "string", enum: ["true", "false"], default: "false", description });

/** Each filter, in the order in which they are written. A repository for which a fact is unknown meets no condition on it. */
const FILTERS = {
  provider: filter({
    parameter: providerParameter,
    dimension: "provider",
    text: (provider) => provider.toLowerCase(),
    words: (provider) => `on ${provider.toLowerCase()}`,
    test: (provider) => ({ column: "provider", isWanted: (name) => name === provider }),
  }),
  language: filter({
    parameter: repeatable("Any of these languages. Case is ignored.", "Rust"),
    dimension: "language",
    text: (languages) => languages,
    words: (languages) => `language ${languages.join(" or ")}`,
    test: (languages) => ({
      column: "language",
      isWanted: (name) => languages.includes(name.toLowerCase()),
    }),
  }),
  topic: filter({
    parameter: repeatable("Any of these topics. Case is ignored.", "cli"),
    dimension: "topic",
    text: (topics) => topics,
    words: (topics) => `topic ${topics.join(" or ")}`,
    test: (topics, evaluation) => {
      const set = evaluation.set();
      for (const topic of topics) evaluation.model.topics.addTo(set, topic);
      return { set, isMember: true };
    },
  }),
  license: filter({
    parameter: exactText.openapi({ description: "SPDX expression. Case is ignored.", example: "MIT" }),
    dimension: "license",
    text: (license) => license,
    words: (license) => `license ${license}`,
    test: (license) => ({
      column: "license",
      isWanted: (name) => foldedLicense(name) === foldedLicense(license),
    }),
  }),
  minStars: filter({
    parameter: stars().openapi({ description: "At least this many stars.", example: 1000 }),
    dimension: "stars",
    text: String,
    words: (least) => `at least ${number.format(least)} stars`,
    test: (least) => ({ column: "stars", first: plainNumber(least) }),
  }),
  maxStars: filter({
    parameter: stars().openapi({ description: "At most this many stars.", example: 5000 }),
    dimension: "stars",
    text: String,
    words: (most) => `at most ${number.format(most)} stars`,
    test: (most) => ({ column: "stars", last: plainNumber(most) }),
  }),
  createdAfter: filter({
    parameter: timeParameter.openapi({ description: "Created at this time or later." }),
    dimension: "created",
    text: timeText,
    words: (ms) => `created since ${timeText(ms)}`,
    test: (ms) => ({ column: "created", first: plainNumber(ms) }),
  }),
  createdBefore: filter({
    parameter: timeParameter.openapi({ description: "Created before this time." }),
    dimension: "created",
    text: timeText,
    words: (ms) => `created before ${timeText(ms)}`,
    test: (ms) => ({ column: "created", last: plainNumber(ms) - 1 }),
  }),
  pushedAfter: filter({
    parameter: timeParameter.openapi({ description: "Last push at this time or later." }),
    dimension: "pushed",
    text: timeText,
    words: (ms) => `pushed since ${timeText(ms)}`,
    test: (ms) => ({ column: "pushed", first: plainNumber(ms) }),
  }),
  updatedAfter: filter({
    parameter: timeParameter.openapi({
      description: "Read from the forge at this time or later: refreshedAt.",
    }),
    dimension: "updated",
    text: timeText,
    words: (ms) => `read since ${timeText(ms)}`,
    test: (ms) => ({ column: "updated", first: plainNumber(ms) }),
  }),
  archived: filter({
    parameter: flag,
    dimension: "archived",
    text: (isArchived) => String(isArchived ?? "any"),
    words: (isArchived) =>
      isArchived === null ? "archived or not" : isArchived ? "archived" : "not archived",
    test: (isMember, { model }) => ({ set: model.columns.archived, isMember }),
    ofGrowth: false,
  }),
  fork: filter({
    parameter: flag,
    dimension: "fork",
    text: (isFork) => String(isFork ?? "any"),
    words: (isFork) => (isFork === null ? "forks or not" : isFork ? "forks" : "no forks"),
    test: (isMember, { model }) => ({ set: model.columns.fork, isMember }),
    ofGrowth: false,
  }),
  reliableOnly: filter({
    parameter: choice("Only repositories whose trend in the window is reliable."),
    dimension: "trend",
    text: String,
    words: () => "reliable growth only",
    test: (_, { model }, window) => ({ set: model.columns.trust[window].reliable, isMember: true }),
  }),
  excludeAnomalous: filter({
    parameter: choice("Only repositories without an anomaly in the window."),
    dimension: "trend",
    text: String,
    words: () => "without unusual growth",
    test: (_, { model }, window) => ({ set: model.columns.trust[window].clean, isMember: true }),
  }),
};

export type FilterName = keyof typeof FILTERS;
export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

type Values = { [Name in FilterName]: (typeof FILTERS)[Name] extends Filter<infer Value> ? Value : never };
const TABLE: { readonly [Name in FilterName]: Filter<Values[Name]> } = FILTERS;

/** Values of filters. An absent one filters nothing, except for those that lists sorted by growth have by default. */
export type FilterValues = { readonly [Name in FilterName]?: Values[Name] | undefined };

/** Conditions that every listed repository meets; an absent one is not checked. */
export type Filters = { readonly [Name in FilterName]?: NonNullable<Values[Name]> };

/** The parameters of all filters, for a query. */
export const FILTER_PARAMETERS = Object.fromEntries(
  FILTER_NAMES.map((name) => [name, FILTERS[name].parameter.optional()]),
) as { [Name in FilterName]: z.ZodOptional<z.ZodType<Values[Name]>> };

/** Calls a function with each filter that has a value, in their order. */
export function eachFilter<Result>(
  values: FilterValues,
  use: <Value>(filter: Filter<Value>, value: Value, name: FilterName) => Result,
): Result[] {
  const useOf = <Name extends FilterName>(name: Name): Result[] => {
    const value = values[name];
    return value === undefined ? [] : [use<Values[Name]>(TABLE[name], value, name)];
  };
  return FILTER_NAMES.flatMap((name) => useOf(name));
}

/** Whether any of the filters is about this. */
export function isFiltered(filters: Filters, by: Dimension): boolean {
  return eachFilter(filters, ({ dimension }) => dimension).includes(by);
}

/** The conditions of a list with these values. */
export function filtersOf(values: FilterValues, isByGrowth: boolean): Filters {
  const wanted = FILTER_NAMES.map((name) => {
    const value = values[name];
    return [name, value === undefined && isByGrowth ? FILTERS[name].ofGrowth : value] as const;
  });
  return Object.fromEntries(wanted.filter(([, value]) => value !== undefined && value !== null)) as Filters;
}

/** A license without the case of its letters, as filters compare it. */
export function foldedLicense(license: string): string {
  return license.toLowerCase();
}

/** A time as text; midnight in UTC as the day alone. */
function timeText(ms: number): string {
  return isoTime(ms).replace("T00:00:00.000Z", "");
}
