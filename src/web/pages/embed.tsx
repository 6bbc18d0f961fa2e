import type { FunctionComponent as FC } from "preact";
import { MAX_SERIES, METRIC_WORDS, snippetsOf, type Theme } from "../../charts/charts.js";
import { RANKING_DEFINITIONS, WINDOW_LABELS } from "../../growth/growth.js";
import { isoDay } from "../../lib/clock.js";
import { chartPage, repositoryKey } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import {
  ALIGN_WORDS,
  METRIC_TITLES,
  RANGE_WORDS,
  readChartQuery,
  VIEW_WORDS,
  wordsOf,
} from "../components/chart-controls.js";
import { Chosen, RefusedNames } from "../components/chosen-repositories.js";
import { MainButton, RepositoryField, Snippet, withQuery } from "../components/elements.js";
import {
  type EmbedPicture,
  type EmbedQuery,
  embedQuery,
  KINDS,
  picturesOf,
  SIZES,
} from "../embed-pictures.js";
import { readComparedNames } from "../naming.js";
import { Problems } from "../page.js";
import type { Page, PageRequest } from "../page-request.js";
import { FIELD_SCRIPTS } from "../tracking.js";

/** Pictures for other sites: a form with their options, a preview, and the code to copy. */
export async function showEmbeds(request: PageRequest): Promise<Page> {
  const { modules, url, site } = request;
  const parsed = readChartQuery(embedQuery, url);
  const given = await readComparedNames(modules, url.searchParams.getAll("repo"));
  const { repositories, refused } = given;
  const keys = repositories.map(repositoryKey);
  const here = new URL(withQuery(parsed.url, { repo: keys }), "http://localhost");
  const examples = repositories.length > 0 ? [] : await readExamples(request);
  const pictures = picturesOf(parsed.query, repositories);
  return {
    title: "Charts and badges",
    showsAge: true,
    description: "Star charts, badges and cards for a README or any other page, with the code to copy.",
    canonical: "/embed",
    status: parsed.problems.length === 0 && refused.length === 0 && !given.isCut ? 200 : 400,
    scripts: ["copy.js", "embed.js", ...FIELD_SCRIPTS],
    body: (
      <>
        <h1>Charts and badges</h1>
        <p class="lead">Live charts and badges for your README.</p>
        <Problems problems={parsed.problems} isLeftOut />
        <RefusedNames names={given} here={here} />
        <Chosen repositories={repositories} here={here} />
        <div class="embed-page">
          <form action="/embed" data-embed="">
            {keys.map((key) => (
              <input type="hidden" name="repo" value={key} />
            ))}
            {keys.length >= MAX_SERIES ? null : (
              <RepositoryField
                id="add"
                name="repo"
                label={keys.length === 0 ? "Repositories" : "Add repositories"}
                value={refused.find(({ reason }) => reason !== "twice")?.text ?? ""}
              />
            )}
            <Choice name="kind" label="Picture" query={parsed.query} words={KINDS} />
            <div id="embed-options">
              <Options query={parsed.query} />
            </div>
            <MainButton>Update</MainButton>
          </form>
          <div id="embed-result">
            {pictures.length === 0 ? (
              <>
                <p>Add a repository to see its picture here.</p>
                <Examples examples={examples} here={here} />
              </>
            ) : (
              <Result pictures={pictures} baseUrl={site.baseUrl} />
            )}
          </div>
        </div>
      </>
    ),
  };
}

/** Trending repositories to start with. */
async function readExamples({ modules }: PageRequest): Promise<Repository[]> {
  const { trending } = await modules.rankings.home();
  return modules.catalog.findMany(trending.ids.slice(0, 3));
}

const Examples: FC<{ examples: readonly Repository[]; here: URL }> = ({ examples, here }) =>
  examples.length === 0 ? null : (
    <p>
      For example{" "}
      {examples.map((one, i) => (
        <>
          {i === 0 ? "" : ", "}
          <a href={withQuery(here, { repo: repositoryKey(one) })}>{one.fullName}</a>
        </>
      ))}
      .
    </p>
  );

const Result: FC<{ pictures: readonly EmbedPicture[]; baseUrl: string }> = ({ pictures, baseUrl }) => {
  const snippets = pictures.map(({ path, alt, width, height, repositories }) =>
    snippetsOf({
      image: baseUrl + path,
      page: baseUrl + chartPage(repositories),
      alt,
      height,
      ...(width === undefined ? {} : { width }),
    }),
  );
  return (
    <>
      <h2>Preview</h2>
      <p class="embed-preview">
        {pictures.map(({ path, alt, width, height }) => (
          <img src={path} alt={alt} width={width} height={height} decoding="async" />
        ))}
      </p>
      <Snippet
        id="embed-markdown"
        label="Markdown"
        text={snippets.map(({ markdown }) => markdown).join("\n")}
      />
      <Snippet id="embed-html" label="HTML" text={snippets.map(({ html }) => html).join("\n")} />
      <Snippet
        id="embed-url"
        label={pictures.length === 1 ? "Image URL" : "Image URLs"}
        text={pictures.map(({ path }) => baseUrl + path).join("\n")}
      />
    </>
  );
};

const THEME_WORDS: Readonly<Record<Theme, string>> = {
  auto: "System",
  light: "Light",
  dark: "Dark",
};
const SCOPE_WORDS = { overall: "Overall", language: "In its language" } as const;
const SIZE_WORDS = wordsOf(SIZES, ({ width, height }) => `${width} × ${height}`);
const RANKING_WORDS = wordsOf(RANKING_DEFINITIONS, ({ label }) => label);
const SCALE_WORDS = { linear: "Linear", log: "Logarithmic" } as const;

const Options: FC<{ query: EmbedQuery }> = ({ query }) => {
  const { kind } = query;
  if (kind === "card") return <p class="soft small">1200 × 630 pixels, for previews of links.</p>;
  const theme = <Choice name="theme" label="Theme" query={query} words={THEME_WORDS} />;
  if (kind === "chart")
    return (
      <>
        <Choice name="metric" label="Count" query={query} words={METRIC_TITLES} />
        <Choice name="view" label="View" query={query} words={VIEW_WORDS} />
        <Choice name="range" label="Time range" query={query} words={RANGE_WORDS} />
        <Day name="from" label="From" value={query.from} />
        <Day name="to" label="To" value={query.to} />
        <Choice name="align" label="Time axis" query={query} words={ALIGN_WORDS} />
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
        <Choice name="scale" label="Scale" query={query} words={SCALE_WORDS} />
        <Choice name="size" label="Size" query={query} words={SIZE_WORDS} />
        {theme}
      </>
    );
  return (
    <>
      {kind === "rank" ? <Choice name="ranking" label="Ranking" query={query} words={RANKING_WORDS} /> : null}
      {kind === "rank" || kind === "trending" ? (
        <Choice name="scope" label="Among" query={query} words={SCOPE_WORDS} />
      ) : null}
      {kind === "stars" ? null : <Choice name="window" label="Window" query={query} words={WINDOW_LABELS} />}
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

interface ChoiceProps {
  name: keyof EmbedQuery;
  label: string;
  query: EmbedQuery;
  /** The values with their names. */
  words: Readonly<Record<string, string>>;
}

const Choice: FC<ChoiceProps> = ({ name, label, query, words }) => (
  <div class="field">
    <label for={name}>{label}</label>
    <select id={name} name={name}>
      {Object.entries(words).map(([value, word]) => (
        <option value={value} selected={value === query[name]}>
          {word}
        </option>
      ))}
    </select>
  </div>
);
