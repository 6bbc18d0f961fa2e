import type { FunctionComponent as FC } from "preact";
import {
  ALIGNMENTS,
  CHART_WINDOWS,
  MAX_SERIES,
  METRIC_WORDS,
  METRICS,
  SCALES,
  THEMES,
  type Theme,
  VIEWS,
} from "../../charts/charts.js";
import { RANKING_DEFINITIONS, RANKINGS, WINDOW_LABELS, WINDOWS } from "../../growth/growth.js";
import { isoDay } from "../../lib/clock.js";
import { type EmbedQuery, KINDS, SCOPES, SIZES } from "../embed-pictures.js";
import { ALIGN_WORDS, RANGE_WORDS } from "./chart-controls.js";
import { AddField } from "./chosen-repositories.js";

const THEME_WORDS: Readonly<Record<Theme, string>> = {
  auto: "Match reader's theme",
  light: "Light",
  dark: "Dark",
};
const SCOPE_WORDS = { overall: "Overall", language: "In its language" } as const;
const VIEW_WORDS = { total: "Total", "per-day": "Gained per day" } as const;
const SCALE_WORDS = { linear: "Linear", log: "Logarithmic" } as const;

/** The form of the page for embeds: the options of the chosen kind of picture. The script embed.js updates the preview. */
export const EmbedForm: FC<{ keys: readonly string[]; query: EmbedQuery; refused: string }> = ({
  keys,
  query,
  refused,
}) => (
  <form action="/embed" data-embed="">
    {keys.map((key) => (
      <input type="hidden" name="repo" value={key} />
    ))}
    {keys.length >= MAX_SERIES ? null : (
      <AddField label={keys.length === 0 ? "Repository" : "Add a repository"} refused={refused} />
    )}
    <Choice name="kind" label="Picture" query={query} options={KINDS} word={(one) => KINDS[one]} />
    <div id="embed-options">
      <Options query={query} />
    </div>
    <button type="submit" class="press">
      Update
    </button>
  </form>
);

const Options: FC<{ query: EmbedQuery }> = ({ query }) => {
  const { kind } = query;
  if (kind === "card") return <p class="soft small">1200 × 630 pixels, for previews of links.</p>;
  const theme = (
    <Choice name="theme" label="Theme" query={query} options={THEMES} word={(one) => THEME_WORDS[one]} />
  );
  if (kind === "chart") {
    return (
      <>
        <Choice
          name="metric"
          label="Count"
          query={query}
          options={METRICS}
          word={(one) => METRIC_WORDS[one].title}
        />
        <Choice name="view" label="View" query={query} options={VIEWS} word={(one) => VIEW_WORDS[one]} />
        <Choice
          name="range"
          label="Time range"
          query={query}
          options={CHART_WINDOWS}
          word={(one) => RANGE_WORDS[one]}
        />
        <Day name="from" label="From" value={query.from} />
        <Day name="to" label="To" value={query.to} />
        <Choice
          name="align"
          label="Time axis"
          query={query}
          options={ALIGNMENTS}
          word={(one) => ALIGN_WORDS[one]}
        />
        {query.align === "index" ? <Day name="base" label="100 on" value={query.base} /> : null}
        {query.align === "first-count" ? (
          <div class="field">
            <label for="first">N, in {METRIC_WORDS[query.metric].unit}</label>
            <input
              id="first"
              name="first"
              type="number"
              min={1}
              max={1_000_000_000}
              value={query.first ?? ""}
            />
          </div>
        ) : null}
        <Choice name="scale" label="Scale" query={query} options={SCALES} word={(one) => SCALE_WORDS[one]} />
        <Choice name="size" label="Size" query={query} options={SIZES} word={(one) => SIZES[one].name} />
        {theme}
      </>
    );
  }
  return (
    <>
      {kind === "rank" ? (
        <Choice
          name="ranking"
          label="Ranking"
          query={query}
          options={RANKINGS}
          word={(one) => RANKING_DEFINITIONS[one].label}
        />
      ) : null}
      {kind === "rank" || kind === "trending" ? (
        <Choice name="scope" label="Among" query={query} options={SCOPES} word={(one) => SCOPE_WORDS[one]} />
      ) : null}
      {kind === "stars" ? null : (
        <Choice
          name="window"
          label="Window"
          query={query}
          options={WINDOWS}
          word={(one) => WINDOW_LABELS[one]}
        />
      )}
      <div class="field">
        <label for="label">Text at the left</label>
        <input id="label" name="label" maxlength={40} value={query.label ?? ""} autocomplete="off" />
      </div>
      {theme}
    </>
  );
};

const Day: FC<{ name: string; label: string; value: number | undefined }> = ({ name, label, value }) => (
  <div class="field">
    <label for={name}>{label}</label>
    <input id={name} name={name} type="date" value={value === undefined ? "" : isoDay(value)} />
  </div>
);

interface ChoiceProps<Name extends keyof EmbedQuery> {
  name: Name;
  label: string;
  query: EmbedQuery;
  /** The values, or an object with the values as keys. */
  options: readonly EmbedQuery[Name][] | Readonly<Record<EmbedQuery[Name] & string, unknown>>;
  word: (option: EmbedQuery[Name] & string) => string;
}

function Choice<Name extends keyof EmbedQuery>({ name, label, query, options, word }: ChoiceProps<Name>) {
  const values = (Array.isArray(options) ? options : Object.keys(options)) as (EmbedQuery[Name] & string)[];
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {values.map((option) => (
          <option value={option} selected={option === query[name]}>
            {word(option)}
          </option>
        ))}
      </select>
    </div>
  );
}
