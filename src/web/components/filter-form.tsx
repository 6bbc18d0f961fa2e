import type { Child, FC } from "hono/jsx";
import { forgeName } from "../../forges.js";
import type { Facet, Summary } from "../../rankings/rankings.js";
import type { Problem } from "../page-query.js";

export interface FilterFormProps {
  /** The address of the list, which fills the fields. */
  url: URL;
  problems: readonly Problem[];
  summary: Summary;
  languages: readonly Facet[];
  topics: readonly Facet[];
}

/** Parameters with a field, whose id is the name of the parameter. */
export const FILTER_FIELDS = [
  "q",
  "language",
  "topic",
  "provider",
  "minStars",
  "maxStars",
  "createdAfter",
  "createdBefore",
  "pushedAfter",
  "license",
  "archived",
  "fork",
  "order",
  "limit",
] as const;
type Field = (typeof FILTER_FIELDS)[number];

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

/** All filters of a list. Submitting keeps sort and window, and goes to the first page. */
export const FilterForm: FC<FilterFormProps> = ({ url, problems, summary, languages, topics }) => {
  const own: FieldContext = { url, problems };
  const kept = ["sort", "window"].flatMap((name) => {
    const value = url.searchParams.get(name);
    return value === null ? [] : [{ name, value }];
  });
  const started = new URLSearchParams(kept.map(({ name, value }): [string, string] => [name, value]));
  return (
    <form action="/explore" data-filters="" aria-label="Filters">
      {kept.map(({ name, value }) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <TextField {...own} name="q" label="Keywords" maxlength={200} />
      <SeveralField {...own} name="language" label="Language" known={languages} />
      <SeveralField {...own} name="topic" label="Topic" known={topics} />
      {summary.providers.length < 2 ? null : (
        <ChoiceField
          {...own}
          name="provider"
          label="Forge"
          choices={[
            ["", "All"],
            ...summary.providers.map(({ provider }): [string, string] => [
              provider.toLowerCase(),
              forgeName(provider),
            ]),
          ]}
        />
      )}
      <div class="pair">
        <TextField {...own} name="minStars" label="Min. stars" isNumber maxlength={15} />
        <TextField {...own} name="maxStars" label="Max. stars" isNumber maxlength={15} />
      </div>
      <DayField {...own} name="createdAfter" label="Created after" />
      <DayField {...own} name="createdBefore" label="Created before" />
      <DayField {...own} name="pushedAfter" label="Pushed after" />
      <TextField
        {...own}
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
      <Pair legend="Growth">
        <CheckField {...own} name="reliableOnly" label="Only reliable" />
        <CheckField {...own} name="excludeAnomalous" label="Hide unusual" />
      </Pair>
      <Pair legend="Growth lists hide archived repositories and forks by default.">
        <ChoiceField {...own} name="archived" label="Archived" choices={TRUTHS} />
        <ChoiceField {...own} name="fork" label="Forks" choices={TRUTHS} />
      </Pair>
      <div class="pair">
        <ChoiceField
          {...own}
          name="order"
          label="Order"
          choices={[
            ["", "Highest"],
            ["asc", "Lowest"],
          ]}
        />
        <ChoiceField
          {...own}
          name="limit"
          label="Rows"
          choices={[
            ["", "25"],
            ["50", "50"],
            ["100", "100"],
          ]}
        />
      </div>
      <p class="row">
        <button type="submit" class="press">
          Apply
        </button>
        <a href={started.size === 0 ? "/explore" : `/explore?${started}`}>Clear</a>
      </p>
    </form>
  );
};

const TRUTHS: readonly [string, string][] = [
  ["", "Default"],
  ["any", "Include"],
  ["true", "Only"],
  ["false", "Exclude"],
];

interface FieldContext {
  url: URL;
  problems: readonly Problem[];
}

interface FieldProps extends FieldContext {
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

const CheckField: FC<FieldContext & { name: string; label: string }> = ({ url, name, label }) => (
  <label>
    <input type="checkbox" name={name} value="true" checked={url.searchParams.get(name) === "true"} />
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
