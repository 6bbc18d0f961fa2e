import type { Child, FC } from "hono/jsx";
import { HOUR_MS } from "../../clock.js";
import type { Modules } from "../../modules.js";
import { repositoryPage } from "../../page-addresses.js";
import { Command } from "../components/command.js";
import { type Example, WorkedExample } from "../components/worked-example.js";
import type { Page, PageRequest } from "../page-request.js";

/** How scores are made, for people: docs/RANKINGS.md has the formulas. */
export async function showAbout({ modules, baseUrl }: PageRequest): Promise<Page> {
  return {
    title: "How scores are made",
    description: "Where the numbers come from, what is compared, and how a score is put together from it.",
    body: <About example={await readExample(modules)} baseUrl={baseUrl} />,
  };
}

/** The first of the trending ones, explained; undefined while nothing is trending. */
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
  // Between two of these reads it may have been taken out.
  if (repository === undefined || trend === null || explanation === null) return undefined;
  const hours = (trend.to - trend.from) / HOUR_MS;
  return { repository, path: repositoryPage(repository), trend, hours, explanation: explanation.trending };
}

const SECTIONS = [
  ["numbers", "Where the numbers come from"],
  ["windows", "What a window is"],
  ["scores", "What the scores say"],
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

const About: FC<{ example: Example | undefined; baseUrl: string }> = ({ example, baseUrl }) => (
  <div class="beside">
    <nav class="contents" aria-label="Contents">
      <ul>
        {SECTIONS.map(([id, title]) => (
          <li>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
    <div class="read">
      <h1>How scores are made</h1>
      <p class="lead">
        Everything here is counted from snapshots that were really taken. Nothing is estimated in between, and
        every score can be taken apart.
      </p>
      <Section id="numbers">
        <p>
          Sidereal asks forges what a repository counts at that moment: stars, forks, open issues, watchers.
          Each answer is kept as a <dfn>snapshot</dfn> with its time and is never rewritten. The busier a
          repository is, the sooner it is asked again: after an hour at best, after a week at worst.
        </p>
        <p>
          Some snapshots are older than that: archives that were imported, and stars of past days that a forge
          told afterwards. They are marked as such; growth that begins with one told afterwards has less
          confidence. What a forge does not tell is a dash here, never 0.
        </p>
      </Section>
      <Section id="windows">
        <p>
          Growth is the difference between two snapshots of one repository. A <dfn>window</dfn> says how far
          apart they should be: 24 hours, 7 days or 30 days. It ends at the newest snapshot of the forge, not
          at the present time.
        </p>
        <p>
          The newest snapshot is compared with the one nearest to a window before it. That one may lie half a
          window to two windows back, so a missing day does not empty the list. Where there is none, there is
          no growth to tell: a dash.
        </p>
        <p>
          Gains are shown as they are. Only scores are scaled to the time really covered: 100 stars in 48
          hours count as 50 a day.
        </p>
      </Section>
      <Section id="scores">
        <Scores />
        <p>
          A score is from 0 to 100. A term that cannot be known, such as forks where a forge does not tell
          them, leaves its weight to the others. Lists by growth leave forks and archived repositories out
          unless asked for.
        </p>
      </Section>
      <Section id="example">
        {example === undefined ? (
          <p>
            Nothing is trending at the moment, so there is nothing to take apart. As soon as something is, the
            first of the list stands here with all its terms.
          </p>
        ) : (
          <WorkedExample {...example} />
        )}
      </Section>
      <Section id="confidence">
        <p>
          <dfn>Confidence</dfn> is from 0 to 1 and says how far growth can be trusted. Four parts are
          multiplied:
        </p>
        <ul>
          <li>
            <strong>coverage</strong>: how well the two snapshots fit the window; a missing day makes it one
            half
          </li>
          <li>
            <strong>freshness</strong>: how near the newest snapshot is to the newest of the forge
          </li>
          <li>
            <strong>history</strong>: whether there are enough snapshots in between: 2, 4 and 8 for the three
            windows
          </li>
          <li>
            <strong>readings</strong>: less where one of them looks wrong, or the first was told afterwards by
            the forge
          </li>
        </ul>
        <p>
          From 0.7 on growth is <dfn>reliable</dfn>. The <a href="/explore">filters</a> can narrow a list to
          that.
        </p>
      </Section>
      <Section id="unusual">
        <p>
          Some movements should not be taken as they stand. They are marked{" "}
          <span class="badge caution">unusual</span>, with the figures. That says nothing of who did it or
          why: clean-ups of a forge, failed readings and campaigns look alike from outside. Movements below
          100 stars are never marked.
        </p>
        <Unusual />
      </Section>
      <Section id="begin">
        <p>Stop the service and start it again with the names of the forges to track:</p>
        <Command text="SIDEREAL_PROVIDERS=github,codeberg SIDEREAL_GITHUB_TOKENS=<token> npm start" />
        <p>
          The token needs no permission; without one GitHub allows 60 requests an hour. GitLab, Forgejo, Gitea
          and GitHub Enterprise of your own can be tracked too. One repository is taken up at once with
        </p>
        <Command text="npm run -s sidereal -- track github:acme/kite" />
        <p>A history that you have as files is brought in with</p>
        <Command text="npm run -s sidereal -- import github-ranking-2026-04-*.csv" />
        <p>
          Everything that is shown can also be asked for, at <code>{baseUrl}/api</code>: see the{" "}
          <a href="/docs">API reference</a>.
        </p>
      </Section>
    </div>
  </div>
);

const Scores: FC = () => (
  <table>
    <caption class="hidden">The scores, and what each is made of</caption>
    <thead>
      <tr>
        <th scope="col">Score</th>
        <th scope="col">Says</th>
        <th scope="col">Made of</th>
      </tr>
    </thead>
    <tbody>
      {(
        [
          [
            "Trending",
            "broad recent momentum",
            "6 parts stars, 2 growth, 1 forks, 1 activity; 0 without a star gained",
          ],
          [
            "Rising",
            "growth against its own size",
            "growth: stars gained against the stars there were, plus 50",
          ],
          [
            "New and hot",
            "young, with a real start",
            "7 parts stars, 3 forks, times youth: 1 at birth, 0 from 90 days on",
          ],
          ["Active", "whether work goes on", "7 parts days since the last push, 3 movement of issues"],
          ["Star momentum", "stars alone", "stars gained against the root of the stars there were"],
          ["Fork momentum", "forks alone", "the same with forks"],
        ] as const
      ).map(([name, says, terms]) => (
        <tr>
          <th scope="row">{name}</th>
          <td>{says}</td>
          <td>{terms}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Unusual: FC = () => (
  <table>
    <caption class="hidden">Movements that are marked, and how much of them counts</caption>
    <thead>
      <tr>
        <th scope="col">Kind</th>
        <th scope="col">What the figures show</th>
        <th scope="col">Counted</th>
      </tr>
    </thead>
    <tbody>
      {(
        [
          ["Failed reading", "a tenth or less of what was there before and after", "nothing"],
          ["Return", "a jump that is taken back within ten days", "nothing"],
          ["Level shift", "five times the stars in one step, without forks to match", "nothing"],
          ["Burst", "ten times the usual day, without forks, issues or pushes to match", "a quarter"],
          ["Purge", "half a percent or more lost in one step", "the loss as it is"],
        ] as const
      ).map(([kind, shows, counted]) => (
        <tr>
          <th scope="row">{kind}</th>
          <td>{shows}</td>
          <td>{counted}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
