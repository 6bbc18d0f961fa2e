import { type BoundFilter, type CountRequest, FILTER_NAMES } from "../../discovery/discovery.js";
import { DAY_MS } from "../../lib/clock.js";
import { FILTER_FIELDS } from "./filter-form.js";
import { withQuery } from "./links.js";
import { formatCompact, formatDate, formatDay, isOld } from "./numbers.js";

/** The filters of lists in words, and the values of filters that are offered as links. */

/** A filter in the address of a list. */
export interface ActiveFilter {
  text: string;
  /** The same list without it. */
  href: string;
}

const isFilter = (parameter: string): parameter is keyof typeof FILTER_FIELDS =>
  Object.hasOwn(FILTER_FIELDS, parameter);

/** A filter with this value in words; undefined for one that filters nothing. */
export function filterText(parameter: string, value: string): string | undefined {
  return isFilter(parameter) ? FILTER_FIELDS[parameter].tag(value) : undefined;
}

/** The filters of an address. */
export function activeFilters(url: URL): ActiveFilter[] {
  return (["q", ...FILTER_NAMES] as const).flatMap((name) => {
    const values = url.searchParams.getAll(name);
    return values.flatMap((value): ActiveFilter[] => {
      const text = FILTER_FIELDS[name].tag(value);
      if (text === undefined) return [];
      // Sorting by relevance needs keywords.
      const sort = name === "q" && url.searchParams.get("sort") === "relevance" ? { sort: undefined } : {};
      const href = withQuery(url, { [name]: values.filter((other) => other !== value), ...sort });
      return [{ text, href }];
    });
  });
}

/** A value of a parameter that is offered as a link. */
interface Preset {
  label: string;
  value: string;
}

/** The presets of a parameter. */
export interface PresetGroup {
  parameter: BoundFilter;
  title: string;
  /** Other parameters that a preset replaces. */
  replaces: readonly string[];
  presets: readonly Preset[];
}

const STARS = [1_000, 10_000, 100_000];
const CREATED_DAYS = [30, 90, 365];
const PUSHED_DAYS = [30];
/** Values counted of each kind: those that are shown, and more in a fold. */
const VALUES = 30;

interface Times {
  /** The newest snapshot; null without any. */
  asOf: number | null;
  now: number;
}

/** The presets of a catalogue. Their times end with its newest snapshot, as the windows of growth do. */
export function presetGroups({ asOf, now }: Times): PresetGroup[] {
  const end = asOf ?? now;
  // Where the data are old, "last" alone would promise more.
  const suffix = isOld(end, now) ? `, until ${formatDate(end)}` : "";
  const days = (counts: readonly number[]) =>
    counts.map((count): Preset => ({ label: `Last ${count} days`, value: formatDay(end - count * DAY_MS) }));
  return [
    {
      parameter: "minStars",
      title: "Stars",
      replaces: ["maxStars"],
      presets: STARS.map((stars) => ({ label: `${formatCompact(stars)}+`, value: String(stars) })),
    },
    {
      parameter: "createdAfter",
      title: `Created${suffix}`,
      replaces: ["createdBefore"],
      presets: days(CREATED_DAYS),
    },
    { parameter: "pushedAfter", title: `Pushed${suffix}`, replaces: [], presets: days(PUSHED_DAYS) },
  ];
}

/** The counts that these presets need. */
export function countedBy(groups: readonly PresetGroup[]): CountRequest {
  const valuesOf = (parameter: BoundFilter, boundOf: (value: string) => number) =>
    groups
      .filter((group) => group.parameter === parameter)
      .flatMap(({ presets }) => presets.map(({ value }) => boundOf(value)));
  return {
    minStars: valuesOf("minStars", Number),
    createdAfter: valuesOf("createdAfter", Date.parse),
    pushedAfter: valuesOf("pushedAfter", Date.parse),
    values: VALUES,
  };
}
