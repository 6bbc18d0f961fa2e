import type { FC } from "hono/jsx";
import { z } from "zod";
import { isStale, type Repository } from "../../catalog/catalog.js";
import {
  ALIGNMENTS,
  CHART_WINDOWS,
  type History,
  MAX_SERIES,
  METRICS,
  newestOf,
  readHistory,
  SCALES,
  seriesOf,
  THEMES,
} from "../../embeds/embeds.js";
import type { Modules } from "../../modules.js";
import { queryOf, repositoryKey } from "../../page-addresses.js";
import { WINDOWS, type Window } from "../../rankings/rankings.js";
import { withQuery } from "../components/addresses.js";
import { type Compared, ComparedNumbers, ComparisonTable } from "../components/comparison.js";
import { AddForm, Examples } from "../components/comparison-start.js";
import { EmbedPanel, RANGE_WORDS } from "../components/embed-panel.js";
import { METRIC_WORDS, PLOT_SCRIPTS, Plot } from "../components/plot.js";
import { Problems } from "../components/problems.js";
import { Tabs } from "../components/tabs.js";
import { TrackForms } from "../components/track-forms.js";
import { findMeant, isolated, readName } from "../naming.js";
import { type Problem, readUsableQuery } from "../page-query.js";
import type { Page, PageRequest } from "../page-request.js";
import { offerTracking } from "../tracking-offer.js";

/** Names looked up per request; the rest is ignored. */
export const MAX_NAMES = 20;

/** Repositories on one chart, and their facts side by side. */
export const compareQuery = z.object({
  metric: z.enum(METRICS).default("stars"),
  range: z.enum(CHART_WINDOWS).default("1y"),
  align: z.enum(ALIGNMENTS).default("date"),
  scale: z.enum(SCALES).default("linear"),
  theme: z.enum(THEMES).default("auto"),
});
type State = z.output<typeof compareQuery>;

export async function showComparison(request: PageRequest): Promise<Page> {
  const { modules, url } = request;
  const parsed = readUsableQuery(compareQuery, url);
  const state = parsed.query;
  const { repositories, problems, unknown } = await readRepositories(
    modules,
    url.searchParams.getAll("repo"),
  );
  problems.push(...parsed.problems);
  const keys = repositories.map(repositoryKey);
  const here = new URL(withQuery(parsed.url, { repo: keys }), "http://localhost");
  const [histories, compared, examples, offers] = await Promise.all([
    Promise.all(
      repositories.map((one) =>
        readHistory(modules.catalog, one, { metric: state.metric, window: state.range }),
      ),
    ),
    readCompared(modules, repositories, here),
    repositories.length < 2 ? readExamples(modules, repositories) : [],
    offerTracking(request, unknown),
  ]);
  const names = repositories.map(({ fullName }) => fullName);
  return {
    title: names.length === 0 ? "Compare repositories" : `Compare ${names.join(", ")}`,
    status: problems.length === 0 ? 200 : 400,
    description: "Up to six repositories on one chart, by date or by age, and their numbers side by side.",
    canonical:
      keys.length === 0 ? "/compare" : `/compare?${queryOf(keys.map((key) => ["repo", key] as const))}`,
    scripts: [...(names.length === 0 ? [] : PLOT_SCRIPTS), "copy.js", "compare.js"],
    body: (
      <>
        <h1>Compare repositories</h1>
        <Problems problems={problems} isLeftOut />
        <AddForm keys={keys} state={state} refused={unknown[0] ?? ""} />
        <TrackForms offers={offers} />
        {repositories.length < 2 ? <Examples examples={examples} keys={keys} here={here} /> : null}
        {repositories.length === 0 ? null : (
          <Comparison {...{ here, state, histories, compared, baseUrl: request.baseUrl }} />
        )}
      </>
    ),
  };
}

/** The named repositories, each once and at most six; the problems of other names; and the names that were not found. */
async function readRepositories(
  modules: Modules,
  given: readonly string[],
): Promise<{ repositories: Repository[]; problems: Problem[]; unknown: string[] }> {
  const problems: Problem[] = [];
  const refuse = (message: string) => void problems.push({ parameter: "repo", message });
  const texts = given.map((text) => text.trim()).filter((text) => text !== "");
  const read = texts.slice(0, MAX_NAMES).map((text) => ({ text, written: readName(text) }));
  const meant = await findMeant(
    modules,
    read.map(({ written }) => written),
  );
  const known = await modules.catalog.findMany(meant.flatMap((one) => one?.id ?? []));
  const byId = new Map(known.map((repository) => [repository.id, repository]));
  const found = read.map((one, i) => ({ ...one, repository: byId.get(meant[i]?.id ?? 0) }));
  const chosen = new Map<number, Repository>();
  const unknown = found.filter(({ repository }) => repository === undefined).map(({ text }) => text);
  for (const { text, written, repository } of found) {
    const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
    if (written === undefined)
      refuse(`“${isolated(shown)}” is not a valid name: use owner/name, provider:owner/name, or its URL`);
    else if (repository === undefined) refuse(`“${isolated(shown)}” is not tracked here`);
    else if (chosen.has(repository.id)) refuse(`${isolated(repository.fullName)} is given twice`);
    else if (chosen.size === MAX_SERIES)
      refuse(`${isolated(repository.fullName)} is left out: a chart has at most ${MAX_SERIES} repositories`);
    else chosen.set(repository.id, repository);
  }
  if (texts.length > MAX_NAMES) refuse(`has more than ${MAX_NAMES} names; the rest was ignored`);
  return { repositories: [...chosen.values()], problems, unknown };
}

async function readCompared(
  { rankings, catalog }: Modules,
  repositories: readonly Repository[],
  here: URL,
): Promise<Compared[]> {
  const ids = repositories.map(({ id }) => id);
  const [trends, ranks, recency] = await Promise.all([
    Promise.all(WINDOWS.map(async (window) => [window, await rankings.trends(ids, window)] as const)),
    Promise.all(ids.map((id) => rankings.ranks(id))),
    catalog.recency(),
  ]);
  return repositories.map((repository, i) => {
    const of = (window: Window) => trends.find(([name]) => name === window)?.[1].get(repository.id);
    const others = repositories.filter(({ id }) => id !== repository.id).map(repositoryKey);
    return {
      repository,
      trends: { "24h": of("24h"), "7d": of("7d"), "30d": of("30d") },
      ranks: ranks[i] ?? [],
      isStale: isStale(repository, recency),
      without: withQuery(here, { repo: others }),
    };
  });
}

/** Trending repositories as examples. */
async function readExamples(
  { catalog, rankings }: Modules,
  chosen: readonly Repository[],
): Promise<Repository[]> {
  const { trending } = await rankings.home();
  const taken = new Set(chosen.map(({ id }) => id));
  return catalog.findMany(trending.ids.filter((id) => !taken.has(id)).slice(0, 6));
}

/** Repositories whose age is counted from the first snapshot. */
const UnknownAges: FC<{ histories: readonly History[] }> = ({ histories }) => {
  const unknown = histories.filter(({ repository }) => repository.createdAt === null);
  if (unknown.length === 0) return null;
  return (
    <p class="soft small">
      Creation date unknown, so age is counted from the first snapshot:{" "}
      {unknown.map(({ repository }) => repository.fullName).join(", ")}.
    </p>
  );
};

const ALIGN_WORDS = { date: "By date", age: "By age" } as const;
const SCALE_WORDS = { linear: "Linear", log: "Log" } as const;

interface ComparisonProps {
  here: URL;
  state: State;
  histories: readonly History[];
  compared: readonly Compared[];
  baseUrl: string;
}

const Comparison: FC<ComparisonProps> = ({ here, state, histories, compared, baseUrl }) => {
  const { metric, range, align, scale, theme } = state;
  const series = seriesOf(histories, align);
  const tabs = <K extends "metric" | "range" | "align" | "scale">(
    parameter: K,
    values: readonly State[K][],
    word: (value: State[K]) => string,
  ) =>
    values.map((value) => ({
      name: word(value),
      href: withQuery(here, { [parameter]: value }),
      isCurrent: value === state[parameter],
    }));
  const { title } = METRIC_WORDS[metric];
  const names = series.map(({ name }) => name).join(", ");
  return (
    <>
      <section class="after">
        <h2>{align === "age" ? `${title} by age` : `${title} over time`}</h2>
        <div class="row">
          <Tabs label="Metric" tabs={tabs("metric", METRICS, (one) => METRIC_WORDS[one].title)} />
          <Tabs label="Time range" tabs={tabs("range", CHART_WINDOWS, (one) => RANGE_WORDS[one])} />
          <Tabs label="Alignment" tabs={tabs("align", ALIGNMENTS, (one) => ALIGN_WORDS[one])} />
          <Tabs label="Scale" tabs={tabs("scale", SCALES, (one) => SCALE_WORDS[one])} />
        </div>
        {align === "age" ? <UnknownAges histories={histories} /> : null}
        {series.some(({ points }) => points.length > 1) ? (
          <>
            <Plot
              {...{ metric, series, scale, align, asOf: newestOf(histories) }}
              label={`${title} of ${names}`}
              shape="whole"
            />
            <ComparedNumbers {...{ metric, range, align, series }} />
          </>
        ) : (
          <p class="plot-empty">
            No repository has two snapshots with {METRIC_WORDS[metric].unit} in this time range; a chart needs
            two.
          </p>
        )}
      </section>
      <section>
        <h2>Side by side</h2>
        <ComparisonTable compared={compared} />
      </section>
      <EmbedPanel
        repositories={compared.map(({ repository }) => repository)}
        {...{ baseUrl, metric, range, theme }}
        path="/compare"
        kept={compared.map(({ repository }) => ["repo", repositoryKey(repository)] as const)}
        shared={[
          ["align", align],
          ["scale", scale],
        ]}
      />
    </>
  );
};
