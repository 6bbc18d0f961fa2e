import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type {
  BoundFilter,
  CountRequest,
  CurrentCounters,
  Facet,
  FacetCounts,
  Precision,
  ValueCounts,
} from "../../discovery/discovery.js";
import { DAY_MS } from "../../lib/clock.js";
import { withQuery } from "./elements.js";
import { Dot, formatCompact, formatCount, formatDate, formatDay, isOld } from "./numbers.js";

export interface FilterChoicesProps {
  /** The address of the list. */
  url: URL;
  /** Absent: the values are offered without counts. */
  counts: FacetCounts | undefined;
  presets: readonly PresetGroup[];
  summary: Pick<CurrentCounters, "providers">;
  /** The most frequent ones of the catalogue, for lists without counts. */
  languages: readonly Facet[];
  topics: readonly Facet[];
  /** Whether the list is empty: then only chosen values are offered, to be removed. */
  isEmpty: boolean;
}

/** A value of a filter, as a link that adds or removes it. */
interface Choice {
  label: string;
  href: string;
  isChosen: boolean;
  /** Null: not known. */
  count: number | null;
}

/** The choices of one filter. */
interface ChoiceGroup {
  title: string;
  /** The parameter, which identifies the group. */
  name: string;
  precision: Precision;
  choices: readonly Choice[];
  hasDots?: boolean;
  /** Whether the choices keep their order; otherwise those that are chosen come first. */
  isOrdered?: boolean;
}

/** Choices of a group that are shown outside of its fold. */
const SHOWN = 8;
/** Values of a repeated parameter. */
const MOST_VALUES = 20;

/** Characters of the addresses in all links: each repeats the other filters, which may be very long. */
const MAX_LINK_CHARACTERS = 200_000;

/** The filters as links, each with the number of repositories that it leaves; nothing that this catalogue cannot answer. */
export const FilterChoices: FC<FilterChoicesProps> = (props) => {
  const groups = groupsOf(props);
  const most = Math.floor(MAX_LINK_CHARACTERS / groups.length / (props.url.href.length + 1));
  return (
    <nav class="choices" aria-label="Filters">
      {groups.map((group) => (
        <Group
          group={props.isEmpty ? { ...group, choices: group.choices.filter(isChosen) } : group}
          most={most}
        />
      ))}
    </nav>
  );
};

/** At most `most` choices. */
const Group: FC<{ group: ChoiceGroup; most: number }> = ({ group, most }) => {
  const { title, choices, isOrdered = false } = group;
  // First means never in the fold.
  const sorted = (
    isOrdered ? choices : [...choices.filter(isChosen), ...choices.filter((choice) => !isChosen(choice))]
  ).slice(0, most);
  const shown = Math.max(SHOWN, choices.filter(isChosen).length);
  const rest = sorted.slice(shown);
  if (sorted.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <Choices {...group} choices={sorted.slice(0, shown)} />
      {rest.length === 0 ? null : (
        <details>
          <summary>{rest.length} more</summary>
          <Choices {...group} choices={rest} />
        </details>
      )}
    </section>
  );
};

const isChosen = (choice: Choice) => choice.isChosen;

const Choices: FC<ChoiceGroup> = ({ name, choices, precision, hasDots = false }) => (
  <ul>
    {choices.map(({ label, href, isChosen, count }) => (
      <li>
        <a
          href={href}
          rel="nofollow"
          aria-current={isChosen ? "true" : undefined}
          data-choice={`${name} ${label}`}
        >
          <span>
            {isChosen ? <span aria-hidden="true">✓ </span> : null}
            {hasDots ? <Dot name={label} /> : null}
            <bdi>{label}</bdi>
            {isChosen ? <span class="hidden">, remove this filter</span> : null}
          </span>{" "}
          {count === null ? null : <span class="soft">{countText(count, precision)}</span>}
        </a>
      </li>
    ))}
  </ul>
);

/** 1,234, or 1.2K+ of a search with more matches, or ≈1.2K of a sample. */
function countText(count: number, precision: Precision): string {
  return precision === "exact" ? formatCount(count) : `≈${formatCompact(count)}`;
}

function groupsOf({ url, counts, presets, summary, languages, topics }: FilterChoicesProps): ChoiceGroup[] {
  const namesOf = (names: readonly string[]): ValueCounts => {
    const distinct = names.filter((name, i) => names.findIndex((other) => isSame(other, name)) === i);
    return { precision: "exact", values: distinct.map((name) => ({ name, count: null })) };
  };
  const known = (facets: readonly Facet[]) => namesOf(facets.map(({ name }) => name));
  const [stars, ...dates] = presets.map((group) => presetsOf(url, group, counts));
  const groups: ChoiceGroup[] = [
    {
      title: "Language",
      name: "language",
      hasDots: true,
      ...choicesOf(url, "language", counts?.language ?? known(languages)),
    },
    ...(stars === undefined ? [] : [stars]),
    { title: "Topic", name: "topic", ...choicesOf(url, "topic", counts?.topic ?? known(topics)) },
    ...dates,
  ];
  if (summary.providers.length > 1) {
    const forges = counts?.provider ?? namesOf(summary.providers.map(({ provider }) => provider));
    const values = forges.values.map((value) => ({ ...value, name: value.name.toLowerCase() }));
    const { precision, choices } = choicesOf(url, "provider", { ...forges, values });
    const labelled = choices.map((choice) => ({ ...choice, label: forgeName(choice.label.toUpperCase()) }));
    groups.push({ title: "Forge", name: "provider", precision, choices: labelled });
  }
  if (counts?.known.license)
    groups.push({ title: "License", name: "license", ...choicesOf(url, "license", counts.license) });
  return groups;
}

/** The choices of a parameter. */
function choicesOf(
  url: URL,
  name: string,
  { precision, values }: ValueCounts,
): Pick<ChoiceGroup, "precision" | "choices"> {
  const isRepeatable = name === "language" || name === "topic";
  const given = url.searchParams.getAll(name);
  const spelled = (value: string) => given.find((one) => isSame(one, value));
  const unknown = given.filter((one) => !values.some((value) => isSame(value.name, one)));
  // The address has room for no more.
  const isFull = given.length >= MOST_VALUES;
  const offered = [
    ...unknown.map((one) => ({ name: one, count: null })),
    ...values.filter((value) => !isFull || spelled(value.name) !== undefined),
  ];
  const choices = offered.map(({ name: value, count }): Choice => {
    const isChosen = spelled(value) !== undefined;
    const others = given.filter((one) => !isSame(one, value));
    const added = isRepeatable ? [...given, value] : value;
    return {
      // Nothing in the catalogue spells a value that no repository has.
      label: (count === 0 ? spelled(value) : undefined) ?? value,
      href: withQuery(url, { [name]: isChosen ? others : added }),
      isChosen,
      count,
    };
  });
  return { precision, choices };
}

/** The choices of presets; without a count of 0, and none about facts that no repository has. */
function presetsOf(
  url: URL,
  { parameter, title, replaces, presets }: PresetGroup,
  counts: FacetCounts | undefined,
): ChoiceGroup {
  const given = url.searchParams.get(parameter);
  const counted = counts?.[parameter];
  const choices = presets.map(({ label, value }, i): Choice => {
    const isChosen = given === value;
    const others = Object.fromEntries(replaces.map((name) => [name, undefined]));
    return {
      label,
      href: withQuery(url, { ...others, [parameter]: isChosen ? undefined : value }),
      isChosen,
      count: counted?.[i] ?? null,
    };
  });
  const useful = choices.filter(({ count, isChosen }) => count !== 0 || isChosen);
  return { title, name: parameter, precision: "exact", choices: useful, isOrdered: true };
}

/** Filters by name ignore case. */
function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
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
  // If the data are old, "last" alone would promise more.
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
