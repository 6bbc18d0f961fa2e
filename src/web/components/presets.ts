import { DAY_MS } from "../../clock.js";
import type { CountRequest } from "../../lists/lists.js";
import { formatCompact, formatDate, formatDay, isOld } from "./numbers.js";

/** Values of filters that are offered as links: one click instead of a form. */

/** A value of a parameter, under a name. */
export interface Preset {
  label: string;
  value: string;
}

/** The presets of a parameter. */
export interface PresetGroup {
  parameter: "minStars" | "createdAfter" | "pushedAfter";
  title: string;
  /** Other parameters that a preset replaces. */
  replaces: readonly string[];
  presets: readonly Preset[];
}

const STARS = [1_000, 10_000, 100_000];
const CREATED_DAYS = [30, 90, 365];
const PUSHED_DAYS = [30];
/** Values of each kind that are counted: those that are shown, and more in a fold. */
const VALUES = 30;

/** The time of the newest snapshot, null without any, and now. */
export interface Times {
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

/** What to count for these presets. */
export function countedBy(groups: readonly PresetGroup[]): CountRequest {
  const valuesOf = (parameter: PresetGroup["parameter"]) =>
    groups
      .filter((group) => group.parameter === parameter)
      .flatMap(({ presets }) =>
        presets.map(({ value }) => (parameter === "minStars" ? Number(value) : Date.parse(value))),
      );
  return {
    minStars: valuesOf("minStars"),
    createdAfter: valuesOf("createdAfter"),
    pushedAfter: valuesOf("pushedAfter"),
    values: VALUES,
  };
}
