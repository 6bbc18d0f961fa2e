import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { Facet, Summary } from "../../discovery/discovery.js";
import type { Problem } from "../page-query.js";
import {
  CheckField,
  ChoiceField,
  DayField,
  type FieldContext,
  Pair,
  SeveralField,
  TextField,
} from "./filter-fields.js";

/** Whether a filter can be answered. */
export type Answerable = (parameter: "topic" | "license" | "createdAfter" | "pushedAfter") => boolean;

export interface FilterFormProps {
  /** The address of the list, which fills the fields. */
  url: URL;
  problems: readonly Problem[];
  summary: Summary;
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

/**
 * All filters of a list, for exact values and those that no link offers. Submitting keeps sort and window, and goes to the first
 * page. With scripts, a change applies when its field is left.
 */
export const FilterForm: FC<FilterFormProps> = ({
  url,
  problems,
  summary,
  languages,
  topics,
  isAnswerable,
}) => {
  const own: FieldContext = { url, problems };
  const has = (name: string) => url.searchParams.has(name);
  const hasDates = isAnswerable("createdAfter") || has("createdAfter") || has("createdBefore");
  const kept = ["sort", "window"].flatMap((name) => {
    const value = url.searchParams.get(name);
    return value === null ? [] : [{ name, value }];
  });
  const started = new URLSearchParams(kept.map(({ name, value }): [string, string] => [name, value]));
  return (
    <form action="/explore" data-filters="" aria-label="Exact filters" autocomplete="off">
      {kept.map(({ name, value }) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <p class="soft small" data-scripted="" hidden>
        Changes apply when you leave a field.
      </p>
      <TextField {...own} name="q" label="Keywords" maxlength={200} />
      <SeveralField {...own} name="language" label="Language" known={languages} />
      {isAnswerable("topic") || has("topic") ? (
        <SeveralField {...own} name="topic" label="Topic" known={topics} />
      ) : null}
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
      {hasDates ? (
        <>
          <DayField {...own} name="createdAfter" label="Created after" />
          <DayField {...own} name="createdBefore" label="Created before" />
        </>
      ) : null}
      {isAnswerable("pushedAfter") || has("pushedAfter") ? (
        <DayField {...own} name="pushedAfter" label="Pushed after" />
      ) : null}
      {isAnswerable("license") || has("license") ? <LicenseField {...own} /> : null}
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
      <p class="row apply">
        <button type="submit" class="press">
          Apply
        </button>
        <a href={started.size === 0 ? "/explore" : `/explore?${started}`}>Clear</a>
      </p>
    </form>
  );
};

const LicenseField: FC<FieldContext> = (own) => (
  <>
    <TextField {...own} name="license" label="License (SPDX id, e.g. MIT)" maxlength={100} list="licenses" />
    <datalist id="licenses">
      {LICENSES.map((name) => (
        <option value={name} />
      ))}
    </datalist>
  </>
);

const TRUTHS: readonly [string, string][] = [
  ["", "Default"],
  ["any", "Include"],
  ["true", "Only"],
  ["false", "Exclude"],
];
