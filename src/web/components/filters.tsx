import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import {
  type CurrentCounters,
  type Facet,
  FILTER_NAMES,
  type FilterName,
} from "../../discovery/discovery.js";
import type { Problem } from "../page.js";
import { MainButton, withQuery } from "./elements.js";
import { formatCount } from "./numbers.js";

/** Whether a filter can be answered. */
export type Answerable = (parameter: "topic" | "license" | "createdAfter" | "pushedAfter") => boolean;

interface FilterFormProps {
  /** The address of the list, which fills the fields. */
  url: URL;
  problems: readonly Problem[];
  summary: Pick<CurrentCounters, "providers">;
  languages: readonly Facet[];
  topics: readonly Facet[];
  isAnswerable: Answerable;
}

/** Suggested licenses. */
const LICENSES = [
  "MIT",
  "Apache-2.0",
  "GPL-3.0",
  "AGPL-3.0",
  "BSD-3-Clause",
  "BSD-2-Clause",
  "MPL-2.0",
  "LGPL-3.0",
  "ISC",
  "Unlicense",
];

const TRUTHS: readonly [string, string][] = [
  ["", "Default"],
  ["any", "Include"],
  ["true", "Only"],
  ["false", "Exclude"],
];

/** How the pages show a filter. */
interface FilterField {
  /** A value of it as a tag; undefined for one that filters nothing. */
  tag: (value: string) => string | undefined;
  /** Its field, or the filter that has it in its row. */
  Field: FC<FilterFormProps> | FilterName;
}

/** Every filter, in the order of the form. */
export const FILTER_FIELDS: Readonly<Record<FilterName | "q", FilterField>> = {
  q: {
    tag: (value) => `“${value}”`,
    Field: (form) => <TextField {...form} name="q" label="Keywords" maxlength={200} />,
  },
  language: {
    tag: (value) => value,
    Field: (form) => <SeveralField {...form} name="language" label="Language" known={form.languages} />,
  },
  topic: {
    tag: (value) => `topic ${value}`,
    Field: (form) =>
      isUseful(form, "topic") && <SeveralField {...form} name="topic" label="Topic" known={form.topics} />,
  },
  provider: {
    tag: (value) => forgeName(value.toUpperCase()),
    Field: (form) =>
      form.summary.providers.length > 1 && (
        <ChoiceField
          {...form}
          name="provider"
          label="Forge"
          choices={[
            ["", "All"],
            ...form.summary.providers.map(({ provider }): [string, string] => [
              provider.toLowerCase(),
              forgeName(provider),
            ]),
          ]}
        />
      ),
  },
  minStars: {
    tag: (value) => `at least ${starsText(value)} stars`,
    Field: (form) => (
      <div class="pair">
        <TextField {...form} name="minStars" label="Min. stars" isNumber maxlength={15} />
        <TextField {...form} name="maxStars" label="Max. stars" isNumber maxlength={15} />
      </div>
    ),
  },
  maxStars: { tag: (value) => `at most ${starsText(value)} stars`, Field: "minStars" },
  createdAfter: {
    tag: (value) => `created after ${value}`,
    Field: (form) =>
      (isUseful(form, "createdAfter") || form.url.searchParams.has("createdBefore")) && (
        <>
          <DayField {...form} name="createdAfter" label="Created after" />
          <DayField {...form} name="createdBefore" label="Created before" />
        </>
      ),
  },
  createdBefore: { tag: (value) => `created before ${value}`, Field: "createdAfter" },
  pushedAfter: {
    tag: (value) => `pushed after ${value}`,
    Field: (form) =>
      isUseful(form, "pushedAfter") && <DayField {...form} name="pushedAfter" label="Pushed after" />,
  },
  // For programs, which follow changes.
  updatedAfter: { tag: (value) => `read after ${value}`, Field: () => null },
  license: {
    tag: (value) => `license ${value}`,
    Field: (form) =>
      isUseful(form, "license") && (
        <>
          <TextField
            {...form}
            name="license"
            label="License (SPDX id, e.g. MIT)"
            maxlength={100}
            list="licenses"
          />
          <datalist id="licenses">
            {LICENSES.map((name) => (
              <option value={name} />
            ))}
          </datalist>
        </>
      ),
  },
  reliableOnly: {
    tag: (value) => (value === "true" ? "reliable growth" : undefined),
    Field: (form) => (
      <Pair legend="Growth">
        <CheckField {...form} name="reliableOnly" label="Hide low confidence" />
        <CheckField {...form} name="excludeAnomalous" label="Hide unusual changes" />
      </Pair>
    ),
  },
  excludeAnomalous: {
    tag: (value) => (value === "true" ? "unusual hidden" : undefined),
    Field: "reliableOnly",
  },
  archived: {
    tag: flagTag({ true: "only archived", false: "not archived", any: "including archived" }),
    Field: (form) => (
      <Pair legend="Growth lists hide archived repositories and forks by default.">
        <ChoiceField {...form} name="archived" label="Archived" choices={TRUTHS} />
        <ChoiceField {...form} name="fork" label="Forks" choices={TRUTHS} />
      </Pair>
    ),
  },
  fork: {
    tag: flagTag({ true: "only forks", false: "no forks", any: "including forks" }),
    Field: "archived",
  },
};

/** Whether a filter can be answered, or has a value already. */
function isUseful({ isAnswerable, url }: FilterFormProps, name: Parameters<Answerable>[0]): boolean {
  return isAnswerable(name) || url.searchParams.has(name);
}

const starsText = (text: string) => (/^\d{1,15}$/.test(text) ? formatCount(Number(text)) : text);

function flagTag(texts: Readonly<Record<"true" | "false" | "any", string>>): FilterField["tag"] {
  return (value) => new Map(Object.entries(texts)).get(value);
}

/**
 * All filters of a list, for exact values and those that no link offers. Submitting keeps sort and window, and goes to the first
 * page.
 */
export const FilterForm: FC<FilterFormProps> = (form) => {
  const kept = ["sort", "window"].flatMap((name) => {
    const value = form.url.searchParams.get(name);
    return value === null ? [] : [{ name, value }];
  });
  const started = new URLSearchParams(kept.map(({ name, value }): [string, string] => [name, value]));
  return (
    <form action="/explore" data-filters="" aria-label="More filters" autocomplete="off">
      {kept.map(({ name, value }) => (
        <input type="hidden" name={name} value={value} />
      ))}

      {Object.values(FILTER_FIELDS).map(({ Field }) =>
        typeof Field === "string" ? null : <Field {...form} />,
      )}
      <div class="pair">
        <ChoiceField
          {...form}
          name="order"
          label="Order"
          choices={[
            ["", "Highest"],
            ["asc", "Lowest"],
          ]}
        />
        <ChoiceField
          {...form}
          name="limit"
          label="Rows"
          choices={[
            ["", "25"],
            ["50", "50"],
            ["100", "100"],
          ]}
        />
      </div>
      <p class="row apply">
        <MainButton>Apply</MainButton>
        <a href={started.size === 0 ? "/explore" : `/explore?${started}`}>Clear</a>
      </p>
    </form>
  );
};

/** Parameters with a field, whose id is the name of the parameter. */
type Field = FilterName | "q" | "order" | "limit";

interface FieldProps {
  url: URL;
  problems: readonly Problem[];
  name: Field;
  label: string;
}

/** The problem of a field; one of several values is reported by its index, such as `language[1]`. */
function problemOf({ problems, name }: FieldProps): Problem | undefined {
  return problems.find(({ parameter }) => parameter === name || parameter.startsWith(`${name}[`));
}

/** The attributes of a field, including those that point to its problem. */
function attributesOf(props: FieldProps) {
  const isWrong = problemOf(props) !== undefined;
  return {
    id: props.name,
    name: props.name,
    ...(isWrong ? { "aria-invalid": true, "aria-describedby": `${props.name}-wrong` } : {}),
  };
}

const Framed: FC<FieldProps & { children: Child }> = ({ children, ...props }) => {
  const problem = problemOf(props);
  return (
    <div class="field">
      <label for={props.name}>{props.label}</label>
      {children}
      {problem === undefined ? null : (
        <div class="wrong" id={`${props.name}-wrong`}>
          {problem.message}
        </div>
      )}
    </div>
  );
};

const Pair: FC<{ legend: string; children: Child }> = ({ legend, children }) => (
  <fieldset>
    <legend>{legend}</legend>
    <div class="pair">{children}</div>
  </fieldset>
);

const TextField: FC<FieldProps & { maxlength: number; isNumber?: boolean; list?: string }> = ({
  maxlength,
  isNumber = false,
  list,
  ...props
}) => (
  <Framed {...props}>
    <input
      {...attributesOf(props)}
      type="text"
      value={props.url.searchParams.get(props.name) ?? ""}
      maxlength={maxlength}
      inputmode={isNumber ? "numeric" : undefined}
      list={list}
      autocomplete="off"
      spellcheck={false}
    />
  </Framed>
);

/** A date field. Any other value, such as a time, gets a text field: a date field would hide it. */
const DayField: FC<FieldProps> = (props) => {
  const value = props.url.searchParams.get(props.name) ?? "";
  const isDay = value === "" || (/^\d{4}-\d{2}-\d{2}$/.test(value) && problemOf(props) === undefined);
  return (
    <Framed {...props}>
      <input {...attributesOf(props)} type={isDay ? "date" : "text"} value={value} />
    </Framed>
  );
};

const ChoiceField: FC<FieldProps & { choices: readonly (readonly [string, string])[] }> = ({
  choices,
  ...props
}) => {
  const given = props.url.searchParams.get(props.name) ?? "";
  const chosen = given.toLowerCase();
  // An unknown value becomes a choice, so that it is shown.
  const all = choices.some(([value]) => value === chosen) ? choices : [...choices, [given, given] as const];
  return (
    <Framed {...props}>
      <select {...attributesOf(props)}>
        {all.map(([value, text]) => (
          <option value={value} selected={value === chosen || value === given}>
            {text}
          </option>
        ))}
      </select>
    </Framed>
  );
};

const CheckField: FC<FieldProps> = ({ url, name, label }) => (
  <label>
    <input
      type="checkbox"
      id={name}
      name={name}
      value="true"
      checked={url.searchParams.get(name) === "true"}
    />
    {label}
  </label>
);

/** A filter with several values: a checkbox for each value, and a field to add one. */
const SeveralField: FC<FieldProps & { known: readonly Facet[] }> = ({ known, ...props }) => {
  const { name, url } = props;
  const chosen = url.searchParams.getAll(name);
  return (
    <Framed {...props}>
      {chosen.map((value) => (
        <label>
          <input type="checkbox" name={name} value={value} checked />
          {value}
        </label>
      ))}
      <input
        {...attributesOf(props)}
        type="text"
        maxlength={100}
        list={`${name}-names`}
        placeholder={chosen.length === 0 ? "Any" : "Add another"}
        autocomplete="off"
        spellcheck={false}
        data-suggest={name}
      />
      <datalist id={`${name}-names`}>
        {known.map((facet) => (
          <option value={facet.name} />
        ))}
      </datalist>
    </Framed>
  );
};

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
