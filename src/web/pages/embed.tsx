import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { METRIC_WORDS, snippetsOf, type Theme } from "../../charts/charts.js";
import { RANKING_DEFINITIONS, WINDOW_LABELS } from "../../growth/growth.js";
import { isoDay } from "../../lib/clock.js";
import { chartPage, queryOf, repositoryKey } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import {
  ALIGN_WORDS,
  METRIC_TITLES,
  RANGE_WORDS,
  readChartQuery,
  VIEW_WORDS,
  wordsOf,
} from "../components/chart-controls.js";
import { AddForm, Chosen, RefusedNames } from "../components/chosen-repositories.js";
import { Snippet, withQuery } from "../components/elements.js";
import { readComparedNames } from "../naming.js";
import { Problems } from "../page.js";
import type { Page, PageRequest } from "../page-request.js";
import {
  BADGES,
  cardOfList,
  chartChoices,
  currentQuery,
  fileNameOf,
  isPosted,
  KINDS,
  type Kind,
  picturesOf,
  SHARE_SCRIPTS,
  type SharedPicture,
  type ShareQuery,
  SIZES,
  shareQuery,
  themeOf,
} from "../share.js";
import { FIELD_SCRIPTS } from "../tracking.js";

/** The panel with pictures to post and to embed: a form with their choices, the picture, and ways to take it. Other pages show it as a dialog. */
export async function showEmbeds(request: PageRequest): Promise<Page> {
  const { modules, url, site } = request;
  const parsed = readChartQuery(shareQuery, url);
  const given = await readComparedNames(modules, url.searchParams.getAll("repo"));
  const { repositories, refused } = given;
  // A picture of a repository is of its whole life, unless its chart was of another time.
  const isWhole =
    repositories.length === 1 && !["range", "from", "to"].some((one) => url.searchParams.has(one));
  const query = { ...currentQuery(parsed.query), ...(isWhole && { range: "all" as const }) };
  const keys = repositories.map(repositoryKey);
  const here = new URL(withQuery(parsed.url, { repo: keys }), "http://localhost");
  const card = query.list === undefined ? undefined : cardOfList(query.list);
  const state = Object.fromEntries([...here.searchParams].filter(([name]) => name !== "repo"));
  const examples = keys.length > 0 || card !== undefined ? [] : await readExamples(request);
  const pictures = card === undefined ? picturesOf(query, repositories) : [card.picture];
  const page = card?.page ?? pageOf(query, repositories);
  return {
    title: "Share",
    showsAge: true,
    description:
      "Star charts, badges and cards for a post, a README or any other page, with the code to copy.",
    canonical: "/embed",
    status: parsed.problems.length === 0 && refused.length === 0 && !given.isCut ? 200 : 400,
    scripts: [...SHARE_SCRIPTS, ...FIELD_SCRIPTS],
    body: (
      <>
        <h1>Share</h1>
        <Problems problems={parsed.problems} isLeftOut />
        <RefusedNames names={given} here={here} />
        {card === undefined ? (
          <div class="compare-bar">
            <div class="row">
              <Chosen repositories={repositories} here={here} />
              <AddForm action="/embed" {...{ keys, state }} refused={refused[0]?.text ?? ""} />
            </div>
          </div>
        ) : null}
        {pictures.length === 0 ? (
          <>
            <p>Add a repository to see its picture here.</p>
            <Examples examples={examples} here={here} />
          </>
        ) : (
          <section id="share" class="share-panel" aria-label="Share">
            {card === undefined ? <Choices {...{ query, keys, here }} /> : null}
            <Result {...{ query, pictures, repositories, page }} baseUrl={site.baseUrl} />
          </section>
        )}
      </>
    ),
  };
}

/** The page that a picture is of, with the choices of its chart. */
function pageOf(query: ShareQuery, repositories: readonly Repository[]): string {
  const [page, choices] = [chartPage(repositories), queryOf(chartChoices({ ...query, theme: "auto" }))];
  return choices === "" ? page : `${page}${page.includes("?") ? "&" : "?"}${choices}`;
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

interface ResultProps {
  query: ShareQuery;
  pictures: readonly SharedPicture[];
  repositories: readonly Repository[];
  /** The page that the link leads to. */
  page: string;
  baseUrl: string;
}

/** The pictures as they are, and ways to take them. */
const Result: FC<ResultProps> = ({ query, pictures, repositories, page, baseUrl }) => {
  const snippets = pictures.map(({ path, alt, width, height, repositories: of }) =>
    snippetsOf({
      image: baseUrl + path,
      page: baseUrl + (of.length === 0 ? page : chartPage(of)),
      ...{ alt, height },
      ...(width === undefined ? {} : { width }),
    }),
  );
  return (
    <div id="share-result">
      <p class="share-picture" data-look={themeOf(query)}>
        {pictures.map(({ path, alt, width, height }) => (
          <img src={path} alt={alt} width={width} height={height} decoding="async" />
        ))}
      </p>
      <Take {...{ pictures, page, baseUrl }} file={fileNameOf(query, repositories) || "sidereal"} />
      <details>
        <summary>Code</summary>
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
      </details>
    </div>
  );
};

interface TakeProps extends Pick<ResultProps, "pictures" | "page" | "baseUrl"> {
  /** The name of files, without an ending. */
  file: string;
}

/** Buttons that copy and links that save. Of several pictures only the code is copied. */
const Take: FC<TakeProps> = ({ pictures: [picture, ...others], page, baseUrl, file }) => {
  const { path = "", png } = others.length === 0 ? (picture ?? {}) : {};
  return (
    <div class="buttons">
      {png === undefined ? null : (
        <button type="button" class="press scripted" data-image={png}>
          Copy image
        </button>
      )}
      <button type="button" class={`scripted ${png === undefined ? "press" : ""}`} data-copy="embed-markdown">
        Copy Markdown
      </button>
      {png === undefined ? null : (
        <a class="button" href={png} download={`${file}.png`}>
          Download PNG
        </a>
      )}
      {path === "" || path === png ? null : (
        <a class="button" href={path} download={`${file}.svg`}>
          SVG
        </a>
      )}
      <span class="hidden" id="page-link">
        {baseUrl + page}
      </span>
      <button type="button" class="scripted" data-copy="page-link">
        Copy link
      </button>
    </div>
  );
};

const THEME_WORDS: Readonly<Record<Theme, string>> = { auto: "Auto", light: "Light", dark: "Dark" };
const SCOPE_WORDS = { overall: "Overall", language: "In its language" } as const;
const SIZE_WORDS = wordsOf(SIZES, ({ width, height }) => `${width} × ${height}`);
const RANKING_WORDS = wordsOf(RANKING_DEFINITIONS, ({ label }) => label);
const SCALE_WORDS = { linear: "Linear", log: "Logarithmic" } as const;

const CHART_FIELDS = ["metric", "view", "range", "from", "to", "align", "base", "first", "scale"] as const;
const PICTURE_FIELDS = ["theme", "title", "style", "background"] as const;
/** The choices that each kind of picture offers. The form keeps the others. */
const FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  post: [...PICTURE_FIELDS, ...CHART_FIELDS],
  square: [...PICTURE_FIELDS, ...CHART_FIELDS],
  readme: [...PICTURE_FIELDS, ...CHART_FIELDS, "size"],
  badge: ["theme", "badge", "ranking", "scope", "window", "label"],
  card: [],
};

/** The form. Without scripts its button shows the picture that is chosen. */
const Choices: FC<{ query: ShareQuery; keys: readonly string[]; here: URL }> = ({ query, keys, here }) => {
  const { kind } = query;
  const kept = [...here.searchParams].filter(
    ([name]) => name !== "repo" && name !== "kind" && name !== "list" && !FIELDS[kind].includes(name),
  );
  return (
    <form action="/embed" data-choices="">
      {keys.map((key) => (
        <input type="hidden" name="repo" value={key} />
      ))}
      <Radios name="kind" label="Picture" query={query} words={KINDS} />
      <div id="share-options">
        {kept.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        {kind === "card" ? (
          <p class="soft small">1200 × 630, as previews of links show it.</p>
        ) : kind === "badge" ? (
          <BadgeOptions query={query} />
        ) : (
          <PictureOptions query={query} />
        )}
      </div>
      <button type="submit" class="unscripted">
        Update
      </button>
    </form>
  );
};

const Themes: FC<{ query: ShareQuery }> = ({ query }) => {
  // The other pictures keep `auto`.
  const isFixed = isPosted(query.kind);
  return (
    <Radios
      name="theme"
      label="Theme"
      query={isFixed && query.theme === "light" ? { ...query, theme: "auto" } : query}
      words={isFixed ? { auto: THEME_WORDS.light, dark: THEME_WORDS.dark } : THEME_WORDS}
    />
  );
};

const PictureOptions: FC<{ query: ShareQuery }> = ({ query }) => (
  <>
    <Themes query={query} />
    <Text name="title" label="Title" value={query.title} maxlength={80} placeholder="As in the picture" />
    <p class="row">
      <Check name="style" value="sketch" query={query}>
        Sketch
      </Check>
      <Check name="background" value="clear" query={query}>
        Clear background
      </Check>
    </p>
    <details class="share-chart">
      <summary>
        {METRIC_TITLES[query.metric]}, {RANGE_WORDS[query.range]}
      </summary>
      <div>
        <Choice name="metric" label="Count" query={query} words={METRIC_TITLES} />
        <Choice name="view" label="View" query={query} words={VIEW_WORDS} />
        <Choice name="range" label="Time range" query={query} words={RANGE_WORDS} />
        <Choice name="scale" label="Scale" query={query} words={SCALE_WORDS} />
        <Day name="from" label="From" value={query.from} />
        <Day name="to" label="To" value={query.to} />
        <Choice name="align" label="Time axis" query={query} words={ALIGN_WORDS} />
        {query.align === "index" ? <Day name="base" label="100 on" value={query.base} /> : null}
        {query.align === "first-count" ? (
          <div class="field">
            <label for="share-first">N, in {METRIC_WORDS[query.metric].unit}</label>
            <input
              id="share-first"
              name="first"
              type="number"
              min={1}
              max={1_000_000_000}
              value={query.first ?? ""}
            />
          </div>
        ) : null}
        {query.kind === "readme" ? (
          <Choice name="size" label="Size" query={query} words={SIZE_WORDS} />
        ) : null}
      </div>
    </details>
  </>
);

const BadgeOptions: FC<{ query: ShareQuery }> = ({ query }) => {
  const { badge } = query;
  return (
    <>
      <Choice name="badge" label="Badge" query={query} words={BADGES} />
      {badge === "rank" ? (
        <Choice name="ranking" label="Ranking" query={query} words={RANKING_WORDS} />
      ) : null}
      {badge === "rank" || badge === "trending" ? (
        <Choice name="scope" label="Among" query={query} words={SCOPE_WORDS} />
      ) : null}
      {badge === "stars" ? null : <Choice name="window" label="Window" query={query} words={WINDOW_LABELS} />}
      <Text name="label" label="Text at the left" value={query.label} maxlength={40} />
      <Themes query={query} />
    </>
  );
};

interface TextProps {
  name: string;
  label: string;
  value: string | undefined;
  maxlength: number;
  placeholder?: string;
}

const Text: FC<TextProps> = ({ name, label, value = "", ...field }) => (
  <div class="field">
    <label for={`share-${name}`}>{label}</label>
    <input id={`share-${name}`} name={name} value={value} autocomplete="off" {...field} />
  </div>
);

const Day: FC<{ name: string; label: string; value: number | undefined }> = ({ name, label, value }) => (
  <div class="field">
    <label for={`share-${name}`}>{label}</label>
    <input id={`share-${name}`} name={name} type="date" value={value === undefined ? "" : isoDay(value)} />
  </div>
);

interface ChoiceProps {
  name: keyof ShareQuery;
  label: string;
  query: ShareQuery;
  /** The values with their names. */
  words: Readonly<Record<string, string>>;
}

const Choice: FC<ChoiceProps> = ({ name, label, query, words }) => (
  <div class="field">
    <label for={`share-${name}`}>{label}</label>
    <select id={`share-${name}`} name={name}>
      {Object.entries(words).map(([value, word]) => (
        <option value={value} selected={value === query[name]}>
          {word}
        </option>
      ))}
    </select>
  </div>
);

/** The values of a choice next to each other. */
const Radios: FC<ChoiceProps> = ({ name, label, query, words }) => (
  <fieldset class="radios">
    <legend class="hidden">{label}</legend>
    {Object.entries(words).map(([value, word]) => (
      <label>
        <input
          type="radio"
          id={`share-${name}-${value}`}
          name={name}
          value={value}
          checked={value === query[name]}
        />
        {word}
      </label>
    ))}
  </fieldset>
);

interface CheckProps extends Pick<ChoiceProps, "name" | "query"> {
  value: string;
  children: Child;
}

const Check: FC<CheckProps> = ({ name, value, query, children }) => (
  <label>
    <input type="checkbox" id={`share-${name}`} name={name} value={value} checked={query[name] === value} />
    {children}
  </label>
);
