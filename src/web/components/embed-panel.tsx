import type { FC } from "hono/jsx";
import {
  CHART_WINDOWS,
  type ChartWindow,
  METRICS,
  type Metric,
  snippetsOf,
  THEMES,
  type Theme,
} from "../../embeds/embeds.js";
import { chartPage, queryOf, repositoryKey } from "../../page-addresses.js";
import { METRIC_WORDS } from "./plot.js";
import { Snippet } from "./snippet.js";

/** Names of time ranges. */
export const RANGE_WORDS: Readonly<Record<ChartWindow, string>> = {
  "30d": "30 days",
  "90d": "90 days",
  "1y": "1 year",
  all: "All",
};

const THEME_WORDS: Readonly<Record<Theme, string>> = {
  auto: "automatic",
  light: "light",
  dark: "dark",
};

const SIZE = { width: 600, height: 380 } as const;

export interface EmbedPanelProps {
  repositories: readonly { provider: string; fullName: string }[];
  baseUrl: string;
  /** Path of the page, which its form submits to. */
  path: string;
  metric: Metric;
  range: ChartWindow;
  theme: Theme;
  /** Other parameters of the page, which its form keeps. */
  kept: readonly (readonly [string, string])[];
  /** Other parameters of both the page and the picture. */
  shared?: readonly (readonly [string, string])[];
}

/** Pictures for other sites, with the snippets that embed them. */
export const EmbedPanel: FC<EmbedPanelProps> = ({
  repositories,
  baseUrl,
  path,
  metric,
  range,
  theme,
  kept,
  shared = [],
}) => {
  const repos = repositories.map((one) => ["repo", repositoryKey(one)] as const);
  const choices = [
    ["metric", metric],
    ["window", range],
    ["theme", theme],
  ] as const;
  const chart = `/api/embed/chart.svg?${queryOf([...repos, ...choices, ...shared])}`;
  const page = baseUrl + chartPage(repositories);
  const only = repositories.length === 1 ? repositories[0] : undefined;
  const names = repositories.map(({ fullName }) => fullName).join(", ");
  const alt = `${METRIC_WORDS[metric].title}: ${names}`;
  const chartSnippets = snippetsOf({ image: baseUrl + chart, page, alt, ...SIZE });
  return (
    <section id="embed">
      <h2>Embed</h2>
      <form action={`${path}#embed`} class="row choices">
        {[...kept, ...shared].map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <Choice
          name="metric"
          label="Metric"
          value={metric}
          options={METRICS}
          word={(one) => METRIC_WORDS[one].title}
        />
        <Choice
          name="range"
          label="Time range"
          value={range}
          options={CHART_WINDOWS}
          word={(one) => RANGE_WORDS[one]}
        />
        <Choice name="theme" label="Theme" value={theme} options={THEMES} word={(one) => THEME_WORDS[one]} />
        <button type="submit">Update</button>
      </form>
      <div class="grid">
        <div>
          <img class="picture" src={chart} alt={alt} {...SIZE} loading="lazy" decoding="async" />
        </div>
        <div>
          <Snippet id="chart-markdown" label="Chart (Markdown)" text={chartSnippets.markdown} />
          <Snippet id="chart-html" label="Chart (HTML)" text={chartSnippets.html} />
          {only === undefined ? null : <Badges {...{ only, baseUrl, page, theme }} />}
        </div>
      </div>
    </section>
  );
};

interface ChoiceProps<T extends string> {
  name: string;
  label: string;
  value: T;
  options: readonly T[];
  word: (option: T) => string;
}

function Choice<T extends string>({ name, label, value, options, word }: ChoiceProps<T>) {
  return (
    <label class="field">
      <span class="soft small">{label}</span>{" "}
      <select name={name}>
        {options.map((option) => (
          <option value={option} selected={option === value}>
            {word(option)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface BadgesProps {
  only: EmbedPanelProps["repositories"][number];
  baseUrl: string;
  page: string;
  theme: Theme;
}

/** The badges of one repository; their pictures load when the disclosure is opened. */
const Badges: FC<BadgesProps> = ({ only, baseUrl, page, theme }) => {
  const address = (kind: string) =>
    `/api/embed/badge.svg?${queryOf([
      ["repo", repositoryKey(only)],
      ["kind", kind],
      ["window", "7d"],
      ["theme", theme],
    ])}`;
  const badges = [
    { kind: "stars", label: "Stars badge (Markdown)", alt: `Stars of ${only.fullName}` },
    {
      kind: "rank",
      label: "Rank badge (Markdown)",
      alt: `Rank of ${only.fullName} in Trending`,
    },
  ];
  return (
    <details>
      <summary>Badges</summary>
      {badges.map(({ kind, label, alt }) => (
        <>
          <img
            class="picture badge-picture"
            src={address(kind)}
            alt={alt}
            height={28}
            loading="lazy"
            decoding="async"
          />
          <Snippet
            id={`badge-${kind}`}
            label={label}
            text={snippetsOf({ image: baseUrl + address(kind), page, alt, ...SIZE }).markdown}
          />
        </>
      ))}
    </details>
  );
};
