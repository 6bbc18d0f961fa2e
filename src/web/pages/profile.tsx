import type { FunctionComponent as FC } from "preact";
import {
  type ChartPoint,
  chartPoints,
  type DrawnSeries,
  drawOnPage,
  type PageLook,
  sentencesOf,
  seriesOf,
  shortNamesOf,
  starPath,
} from "../../charts/charts.js";
import { forgeName } from "../../config/config.js";
import { type ListRow, listPage, listQuery } from "../../discovery/discovery.js";
import { readSeveralSeries, sumCounts } from "../../growth/growth.js";
import { DAY_MS } from "../../lib/clock.js";
import { chartPage, explorePage, queryOf, repositoryKey, repositoryPage } from "../../lib/page-addresses.js";
import type { Modules } from "../../modules.js";
import { Link } from "../components/elements.js";
import { forgesText, timeWords } from "../components/front.js";
import { type News, newsOf } from "../components/news.js";
import {
  capital,
  Delta,
  Dot,
  formatCount,
  formatDate,
  isOld,
  monthText,
  numberWord,
  withEmoji,
} from "../components/numbers.js";
import { frameData, readingsData } from "../components/plot.js";
import { Mark, ThemeButton } from "../layout.js";
import type { Comparison, FileSite, Page, PageRequest } from "../page-request.js";
import { compareQuery, readCompared } from "./compare.js";

/** The first page of a site of files: what somebody's repositories have together, their news, the life of each, and comparisons. */

/** More are only in the list of all. */
const CARDS = 24;
/** More comparisons are only links. */
const DRAWN = 6;
/** Rows of a page of a list. */
const ROWS = 100;

/** A repository with its past. */
interface Own {
  row: ListRow;
  points: readonly ChartPoint[];
}

type Profile = Awaited<ReturnType<typeof readProfile>>;

export async function showProfile(request: PageRequest, files: FileSite): Promise<Page> {
  const profile = await readProfile(request, files);
  const { title, stars, week, count } = profile;
  const isEmpty = count === 0;
  return {
    title: isEmpty ? title : `${title}: ${formatCount(stars)} stars`,
    description: isEmpty ? "" : `${repositoriesWords(profile)}, ${formatCount(stars)} stars.`,
    isCover: true,
    alternates: [{ type: "application/atom+xml", href: FEED, title }],
    body: (
      <>
        <header class="cover-head">
          <div class="frame">
            <ThemeButton />
            <h1>
              <bdi>{title}</bdi>
            </h1>
            <p class="cover-sub">
              {isEmpty
                ? "No repository could be read yet."
                : `${repositoriesWords(profile)} on ${profile.forges}`}
            </p>
            {isEmpty ? null : <Sums {...{ stars, week }} {...profile} />}
          </div>
          <Hero {...profile} />
        </header>
        <main id="content" tabindex={-1}>
          <NewsList news={profile.news} />
          <Cards {...profile} />
          <SideBySide {...profile} />
        </main>
        <Foot {...profile} />
      </>
    ),
  };
}

const FEED = "/api/feeds/trending.atom?window=7d";

async function readProfile({ modules, summary, now }: PageRequest, { title, comparisons }: FileSite) {
  const rows = await readRows(modules);
  const repositories = rows.map(({ repository }) => repository);
  const months = await modules.rankings.trends(
    repositories.map(({ id }) => id),
    "30d",
  );
  const sum = await sumCounts(modules.database, repositories, { recency: await modules.catalog.recency() });
  const own = await readOwn(modules, rows.slice(0, CARDS));
  const isPast = isOld(summary.asOf, now);
  return {
    title,
    count: rows.length,
    forges: forgesText(summary.providers),
    stars: sumOf(repositories.map(({ stars }) => stars)),
    week: sumOf(rows.map(({ trend }) => trend?.starsDelta)),
    month: sumOf([...months.values()].map(({ starsDelta }) => starsDelta)),
    life: sum.points.map(({ at, stars }) => ({ at, value: stars, source: "OBSERVED" as const })),
    news: newsOf(own.map(({ row, points }) => ({ repository: row.repository, points }))),
    compared: await Promise.all(comparisons.map((one, i) => readSide(modules, one, i < DRAWN))),
    ...{ own, isPast, now, asOf: summary.asOf },
  };
}

/** All repositories, those with most stars first. */
async function readRows(modules: Modules): Promise<ListRow[]> {
  const all: ListRow[] = [];
  for (let page = 1; all.length === (page - 1) * ROWS; page++) {
    const query = { sort: "stars", window: "7d", limit: String(ROWS), page: String(page) };
    const { rows } = await listPage(modules, listQuery.parse(query));
    if (rows.length === 0) break;
    all.push(...rows);
  }
  return all;
}

async function readOwn({ database }: Modules, rows: readonly ListRow[]): Promise<Own[]> {
  const points = new Map<number, ChartPoint[]>();
  const ids = rows.map(({ repository }) => repository.id);
  for await (const [id, { series }] of readSeveralSeries(database, ids)) {
    const all = chartPoints(series, "stars");
    // What came between its creation and the first count is unknown.
    points.set(id, all[1]?.isApart ? all.slice(1) : all);
  }
  return rows.map((row) => ({ row, points: points.get(row.repository.id) ?? [] }));
}

interface Side {
  comparison: Comparison;
  names: readonly string[];
  compared: Awaited<ReturnType<typeof readCompared>>;
}

/** `isDrawn`: with its past. */
async function readSide(modules: Modules, comparison: Comparison, isDrawn: boolean): Promise<Side> {
  const { repositories } = comparison;
  const state = compareQuery.parse({ range: "all" });
  const compared = isDrawn ? await readCompared(modules, repositories, state) : [];
  return { comparison, names: shortNamesOf(repositories), compared };
}

const sumOf = (values: readonly (number | null | undefined)[]): number | null =>
  values.reduce<number | null>((sum, value) => (value == null ? sum : (sum ?? 0) + value), null);

const repositoriesWords = ({ count }: Pick<Profile, "count">): string =>
  `${capital(numberWord(count))} ${count === 1 ? "repository" : "repositories"}`;

const Sums: FC<Pick<Profile, "stars" | "week" | "month" | "isPast">> = ({ stars, week, month, isPast }) => (
  <dl class="cover-sums">
    {(
      [
        ["stars", formatCount(stars)],
        [timeWords("7d", isPast), week === null ? undefined : <Delta value={week} />],
        ["in 30 days", month === null ? undefined : formatCount(month)],
      ] as const
    ).map(([name, value]) =>
      value === undefined ? null : (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ),
    )}
  </dl>
);

const Hero: FC<Pick<Profile, "life">> = ({ life }) => {
  const series = [{ name: "", points: life }];
  return life.length < 2 ? null : (
    <div class="cover-life" {...readingsData(series)}>
      <Course series={series} look="wide" id="all" />
      <Course series={series} look="narrow" id="all-narrow" />
    </div>
  );
};

/** Lines with what the script of the site needs to read their points. */
const Course: FC<{ series: DrawnSeries; look: PageLook; id: string; label?: string }> = (drawn) => {
  const { svg, geometry } = drawOnPage(drawn);
  const width = drawn.look === "card" ? "" : drawn.look.endsWith("narrow") ? "plot-narrow" : "plot-wide";
  return (
    // Safe: numbers, and names that the drawing escapes.
    <div
      class={`course ${width}`}
      {...(geometry && frameData(geometry))}
      dangerouslySetInnerHTML={{ __html: svg }}
    />
  );
};

const NewsList: FC<{ news: readonly News[] }> = ({ news }) =>
  news.length === 0 ? null : (
    <ul class="cover-news frame">
      {news.map(({ kind, repository, words }) => (
        <li class={kind}>
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path
              d={kind === "passed" ? "M3 19V1H18L14 6 18 11H4V19Z" : starPath(10, 10, 9)}
              fill="currentColor"
            />
          </svg>
          <bdi>{repository.name}</bdi> {words}
        </li>
      ))}
    </ul>
  );

const Cards: FC<Profile> = ({ own, count, isPast, now }) =>
  own.length === 0 ? null : (
    <section class="frame">
      <h2>{own.length === 1 ? "Repository" : "Repositories"}</h2>
      <ul class="cover-cards">
        {own.map((one) => (
          <Card {...one} {...{ isPast, now }} />
        ))}
      </ul>
      {count <= CARDS ? null : (
        <p>
          <Link href={explorePage(new URLSearchParams({ sort: "stars" }))} isControl>
            All {formatCount(count)} repositories
          </Link>
        </p>
      )}
    </section>
  );

const Card: FC<Own & Pick<Profile, "isPast" | "now">> = ({
  row: { repository, trend },
  points,
  isPast,
  now,
}) => {
  const { name, description, language, provider, stars } = repository;
  const since = repository.createdAt ?? points[0]?.at ?? repository.discoveredAt;
  const isNew = !isPast && now - since < DAY_MS;
  const series = [{ name, points }];
  return (
    <li class="card" {...readingsData(series)}>
      <div>
        <h3>
          <a href={repositoryPage(repository)}>
            <bdi>{name}</bdi>
          </a>
        </h3>
        <b>{formatCount(stars)}</b>
        <p class="about">
          <bdi>{withEmoji(description ?? "")}</bdi>
        </p>
        {trend === undefined ? null : (
          <p>
            <Delta value={trend.starsDelta} /> {isNew ? "today" : timeWords("7d", isPast)}
          </p>
        )}
        <p class="small">
          {language === null ? null : <Dot name={language} />}
          {[language ?? [], provider === "GITHUB" ? [] : forgeName(provider)].flat().join(" · ")}
        </p>
        <p class="small">since {isNew ? "today" : monthText(since)}</p>
      </div>
      {points.length < 2 ? null : <Course series={series} look="card" id={`life-${repository.id}`} />}
    </li>
  );
};

const SideBySide: FC<Pick<Profile, "compared">> = ({ compared }) =>
  compared.length === 0 ? null : (
    <section class="frame">
      <h2>Side by side</h2>
      {compared.slice(0, DRAWN).map((side, i) => (
        <Versus {...side} id={`versus-${i + 1}`} />
      ))}
      <ul class="plain">
        {compared.slice(DRAWN).map(({ comparison: { name, repositories }, names }) => (
          <li>
            <Link href={chartPage(repositories)}>{name ?? names.join(", ")}</Link>
          </li>
        ))}
      </ul>
    </section>
  );

const Versus: FC<Side & { id: string }> = ({ id, comparison, names, compared }) => {
  const histories = compared.map(({ history }) => history);
  const series = seriesOf(histories, { align: "date" });
  const [sentence] = sentencesOf({ metric: "stars", align: "date" }, series).sentences;
  const label = `Stars: ${names.join(", ")}`;
  return (
    <div class="card versus" {...readingsData(series)}>
      <h3>
        <Link href={chartPage(comparison.repositories)}>
          {comparison.name === undefined ? <Names names={names} /> : <bdi>{comparison.name}</bdi>}
        </Link>
      </h3>
      {sentence === "" ? null : <p class="soft">{sentence}</p>}
      {series.some(({ points }) => points.length > 1) ? (
        <>
          <Course {...{ series, label, id }} look="several" />
          <Course {...{ series, label }} look="several-narrow" id={`${id}-narrow`} />
        </>
      ) : null}
    </div>
  );
};

/** "loom and moss", each in the colour of its line. */
const Names: FC<{ names: readonly string[] }> = ({ names }) => (
  <>
    {names.map((name, i) => (
      <>
        {i === 0 ? "" : i === names.length - 1 ? " and " : ", "}
        <bdi class={`line-${i + 1}`}>{name}</bdi>
      </>
    ))}
  </>
);

/** The feed, the data and the pictures. */
const Foot: FC<Profile> = ({ own, asOf }) => (
  <footer class="cover-foot frame">
    <p class="brand">
      <Mark />
      Sidereal
    </p>
    <Link href={FEED} isControl>
      Feed
    </Link>
    {own.length === 0 ? null : (
      <>
        <a href={`/api/repos?format=csv&limit=${ROWS}&sort=stars&window=7d`}>Data as CSV</a>
        <Link href="/explore" isControl>
          Rankings
        </Link>
        <details>
          <summary>Pictures for a README</summary>
          <ul class="plain">
            {own.map(({ row: { repository } }) => (
              <li>
                <a
                  href={`/api/embed/chart.svg?${queryOf([
                    ["repo", repositoryKey(repository)],
                    ["window", "all"],
                  ])}`}
                >
                  <bdi>{repository.fullName}</bdi>
                </a>
              </li>
            ))}
          </ul>
        </details>
      </>
    )}
    {asOf === null ? null : <p>Counted on {formatDate(asOf)}</p>}
  </footer>
);
