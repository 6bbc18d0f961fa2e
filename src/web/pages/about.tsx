import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { openIssuesRule } from "../../config/config.js";
import {
  type Explanation,
  formulaOf,
  SCORE_LABELS,
  SCORE_NAMES,
  type Trend,
  WINDOW_LABELS,
} from "../../growth/growth.js";
import { HOUR_MS } from "../../lib/clock.js";
import { repositoryPage } from "../../lib/page-addresses.js";
import type { Modules } from "../../modules.js";
import type { Repository } from "../../repositories/repositories.js";
import { Command, Contents, Scroll } from "../components/elements.js";
import { ScoreTable } from "../components/growth.js";
import { formatCount, formatDelta, Time } from "../components/numbers.js";
import { Table } from "../components/table.js";
import type { Page, PageRequest, RenderContext } from "../page-request.js";

/** The methodology for people; docs/RANKINGS.md has the formulas. */
export async function showAbout({ modules, site }: PageRequest): Promise<Page> {
  return {
    title: "How scores work",
    description: "Where the numbers come from, which snapshots are compared, and how scores are calculated.",
    body: <About example={await readExample(modules)} baseUrl={site.baseUrl} />,
  };
}

/** The top trending repository with its score explained; undefined if nothing is trending. */
async function readExample({ catalog, rankings }: Modules): Promise<Example | undefined> {
  const { trending } = await rankings.home();
  const [id] = trending.ids;
  if (id === undefined) return undefined;
  const { window } = trending;
  const [repository, trends, explained] = await Promise.all([
    catalog.find(id),
    rankings.trendsOf(id),
    rankings.explain(id),
  ]);
  const [trend, explanation] = [trends[window], explained[window]];
  // It may have been removed between two of these reads.
  if (repository === undefined || trend === null || explanation === null) return undefined;
  return { repository, trend, explanation };
}

const SECTIONS = [
  ["numbers", "Where the numbers come from"],
  ["windows", "What a window is"],
  ["scores", "What the scores mean"],
  ["example", "One score, step by step"],
  ["confidence", "What confidence means"],
  ["unusual", "What “unusual” means"],
  ["begin", "How to track real forges"],
] as const;
type SectionName = (typeof SECTIONS)[number][0];

const Section: FC<{ id: SectionName; children: Child }> = ({ id, children }) => (
  <section>
    <h2 id={id}>{SECTIONS.find(([name]) => name === id)?.[1]}</h2>
    {children}
  </section>
);

const UNUSUAL = [
  ["Failed reading", "a fall that the next reading takes back", "nothing; it is not compared"],
  ["Unconfirmed reading", "a fall by a quarter or more, not read a second time", "the reading before it"],
  ["Dropped and recovered", "a jump or a fall that reverses within days", "nothing"],
  ["Burst", "a day of 100 stars and 5 times the usual day or more, with hardly any forks", "a usual day"],
  ["Purge", "a loss of 0.5% or more in one step", "the full loss"],
] as const;

const About: FC<{ example: Example | undefined; baseUrl: string }> = (
  { example, baseUrl },
  { isStatic }: RenderContext,
) => (
  <div class="beside">
    <Contents>
      <ul>
        {SECTIONS.filter(([id]) => id !== "begin" || !isStatic).map(([id, title]) => (
          <li>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </Contents>
    <div class="read">
      <h1>How scores work</h1>
      <p class="lead">
        Every number here comes from recorded snapshots and star histories, and every score can be recomputed
        from the numbers that its page shows.
      </p>
      <Numbers />
      <Windows />
      <Scores />
      <Section id="example">
        {example === undefined ? (
          <p>
            Nothing is trending yet. Once something is, this section recomputes the score of the top
            repository.
          </p>
        ) : (
          <WorkedExample {...example} />
        )}
      </Section>
      <Confidence />
      <Unusual />
      {isStatic ? null : <Begin baseUrl={baseUrl} />}
    </div>
  </div>
);

const Numbers: FC = () => (
  <Section id="numbers">
    <p>
      Sidereal reads the current counts of a repository from its forge: stars, forks, open issues, watchers.{" "}
      {openIssuesRule()} It stores them as a <dfn>snapshot</dfn> with a timestamp and never changes it. Busy
      repositories are refreshed as often as every hour, quiet ones at least once a week.
    </p>
    <p>
      Some history is older: imported archives, and the star history of a forge, which says how many stars of
      each past day are <dfn>still held</dfn>. Both are labelled. A history lacks the stars that were taken
      back before it was read, so it is joined to our first count; stars that it has no day for are at its
      beginning, and are no gain of any day. A count that a forge does not report is shown as a dash, never as
      0.
    </p>
  </Section>
);

const Windows: FC = () => (
  <Section id="windows">
    <p>
      Growth is the difference between two snapshots of a repository. The <dfn>window</dfn> is the intended
      time between them: 24 hours, 7 days or 30 days. It ends with the newest counts of the repository, not
      now.
    </p>
    <p>
      The newest snapshot is compared with the one closest to the start of the window, which may be half a
      window to 2.25 windows earlier, so a missing day does not empty the list. Without such a snapshot growth
      is unknown and shown as a dash.
    </p>
    <p>
      For the time before our first count, the gain comes from the star history, if the forge has one; from
      then on, from our own counts.
    </p>
    <p>
      Growth counts only while its last reading is recent: for at most two of the repository’s own refresh
      intervals, or as long as the newest file of the archive it is from still has it, and never for more than
      half a window. After that the repository leaves all rankings by growth and is marked with the day it was
      last seen.
    </p>
    <p>
      Gains are shown unscaled. Scores are scaled to the time between the two snapshots: 100 stars in 48 hours
      count as 50 a day.
    </p>
  </Section>
);

const Scores: FC = () => (
  <Section id="scores">
    <Table
      label="Scores, what they mean and how they are calculated"
      columns={[
        { head: "Score", cell: (name) => SCORE_LABELS[name].label },
        { head: "Meaning", cell: (name) => SCORE_LABELS[name].description },
        { head: "Calculation", cell: (name) => formulaOf(name, "24h") },
      ]}
      rows={SCORE_NAMES}
    />
    <p>
      The formulas are those of 24 hours; Rising has no list of 30 days. If the usual day is not known, it is
      taken as the pace of the window, with less confidence. Growth lists hide forks and archived repositories
      by default.
    </p>
  </Section>
);

const Confidence: FC = (_, { isStatic }: RenderContext) => (
  <Section id="confidence">
    <p>
      <dfn>Confidence</dfn> ranges from 0 to 1 and says how reliable growth is. It is the product of four
      factors:
    </p>
    <ul>
      <li>
        <strong>coverage</strong>: how well the time between the two snapshots matches the window; a missing
        day in the 24-hour window halves it
      </li>
      <li>
        <strong>history</strong>: whether the window has enough snapshots: 2, 4 and 8 for the three windows
      </li>
      <li>
        <strong>readings</strong>: lower if one of them looks wrong
      </li>
      <li>
        <strong>usual day</strong>: lower if it is not known yet
      </li>
    </ul>
    <p>
      Growth with a confidence of 0.7 or more is <dfn>reliable</dfn>.
      {isStatic ? null : (
        <>
          {" "}
          You can <a href="/explore">filter</a> lists by it.
        </>
      )}
    </p>
  </Section>
);

const Unusual: FC = () => (
  <Section id="unusual">
    <p>
      Some changes should not be taken at face value. They are marked{" "}
      <span class="badge caution">unusual</span> and shown with their numbers. The mark does not say who
      caused a change or why: forge clean-ups, failed readings and campaigns look the same from outside.
      Changes of less than 80 stars are not marked, except falls by a quarter.
    </p>
    <Table
      label="Changes that are marked, and how much of each counts"
      columns={[
        { head: "Kind", cell: ([kind]) => kind },
        { head: "What it looks like", cell: ([, shows]) => shows },
        { head: "Counted", cell: ([, , counted]) => counted },
      ]}
      rows={UNUSUAL}
    />
  </Section>
);

const Begin: FC<{ baseUrl: string }> = ({ baseUrl }) => (
  <Section id="begin">
    <p>Restart the service with the names of the forges to track:</p>
    <Command text="SIDEREAL_PROVIDERS=github,codeberg SIDEREAL_GITHUB_TOKENS=<token> npm start" />
    <p>
      The token needs no permissions; without one GitHub allows 60 requests an hour. You can also track your
      own GitLab, Forgejo, Gitea and GitHub Enterprise. To add one repository immediately:
    </p>
    <Command text="npm run -s sidereal -- track github:acme/kite" />
    <p>To import history from files:</p>
    <Command text="npm run -s sidereal -- import github-ranking-2026-04-*.csv" />
    <p>
      All data is also available from the API at <code>{baseUrl}/api</code>: see the{" "}
      <a href="/docs">API reference</a>.
    </p>
  </Section>
);

/** A repository with its trending score. */
interface Example {
  repository: Repository;
  trend: Trend;
  explanation: Explanation;
}

/** The two snapshots compared, then the score with its values. */
const WorkedExample: FC<Example> = ({ repository, trend, explanation }) => {
  const { provider, fullName } = repository;
  const json = `/api/repos/${provider.toLowerCase()}/by-full-name?${new URLSearchParams({ fullName, explain: "true" })}`;
  return (
    <>
      <p>
        <a href={repositoryPage(repository)}>{repository.fullName}</a> is #1 in Trending for{" "}
        {WINDOW_LABELS[trend.window]}. It had {formatCount(trend.starsFrom)} stars at{" "}
        <Time at={trend.from} exact />, and gained {formatCount(trend.starsDelta)} in{" "}
        {((trend.to - trend.from) / HOUR_MS).toFixed(1)} hours, until <Time at={trend.to} exact />
        {trend.forksDelta === null ? "" : `; its forks changed by ${formatDelta(trend.forksDelta)}`}.
      </p>
      <Scroll label="The trending score">
        <ScoreTable explanation={explanation} window={trend.window} />
      </Scroll>
      <p class="soft small">
        Confidence {trend.confidence.toFixed(2)}. Full details <a href={json}>as JSON</a>.
      </p>
    </>
  );
};
