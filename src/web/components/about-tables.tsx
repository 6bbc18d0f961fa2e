import type { FunctionComponent as FC } from "preact";
import { type Explanation, type Trend, WINDOW_LABELS } from "../../growth/growth.js";
import type { Repository } from "../../repositories/repositories.js";
import { Scroll } from "./elements.js";
import { TermColumns } from "./explanation.js";
import { formatCount, formatDelta, Time } from "./numbers.js";

/** The tables of the page about scores. */

/** The scores, with their meaning and calculation. */
export const Scores: FC = () => (
  <Scroll label="Scores">
    <table>
      <caption class="hidden">Scores, what they mean and how they are calculated</caption>
      <thead>
        <tr>
          <th scope="col">Score</th>
          <th scope="col">Meaning</th>
          <th scope="col">Calculation</th>
        </tr>
      </thead>
      <tbody>
        {(
          [
            [
              "Trending",
              "broad recent momentum",
              "60% stars, 20% growth, 10% forks, 10% activity; 0 if no stars were gained",
            ],
            ["Rising", "growth relative to its size", "stars gained ÷ (stars at the start + 50)"],
            [
              "New and hot",
              "early momentum of a young repository",
              "70% stars, 30% forks, multiplied by youth: 1 at creation, 0 after 90 days; if the date of creation is unknown, from when it was first seen with few stars",
            ],
            ["Active", "recent work", "70% days since the last push, 30% change in open issues"],
            ["Star momentum", "stars only", "stars gained ÷ √stars at the start"],
            [
              "Fork momentum",
              "forks that stars confirm",
              "forks gained ÷ √forks at the start, as far as stars were gained too",
            ],
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
  </Scroll>
);

/** The kinds of unusual changes. */
export const Unusual: FC = () => (
  <Scroll label="Unusual changes">
    <table>
      <caption class="hidden">Changes that are marked, and how much of each counts</caption>
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col">What it looks like</th>
          <th scope="col">Counted</th>
        </tr>
      </thead>
      <tbody>
        {(
          [
            ["Failed reading", "a fall that the next reading takes back", "nothing; it is not compared"],
            [
              "Unconfirmed reading",
              "a fall by a quarter or more, not read a second time",
              "the reading before it",
            ],
            ["Dropped and recovered", "a jump or a fall that reverses within days", "nothing"],
            ["Level shift", "five times the stars in one step, without matching forks", "nothing"],
            [
              "Burst",
              "far more than usual, without matching forks, issues or watchers",
              "what those support",
            ],
            ["Purge", "a loss of 0.5% or more in one step", "the full loss"],
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
  </Scroll>
);

/** The trending score of a repository, with its terms. */
export interface Example {
  repository: Repository;
  /** Its page. */
  path: string;
  trend: Trend;
  /** Hours between the two snapshots compared. */
  hours: number;
  explanation: Explanation["trending"];
}

/** The calculation of each term. */
const TERMS: Readonly<Record<string, string>> = {
  stars: "stars gained ÷ √stars at the start, relative to the top 5% of the forge",
  growth: "stars gained ÷ (stars at the start + 50)",
  forks: "forks gained ÷ √forks at the start, relative to the top 5% of the forge",
  activity: "days since the last push, and change in open issues",
};

/** The two snapshots compared, then the terms, which add up to the score. */
export const WorkedExample: FC<Example> = ({
  repository,
  path,
  trend,
  hours,
  explanation: { score, terms },
}) => {
  const { provider, fullName } = repository;
  const json = `/api/repos/${provider.toLowerCase()}/by-full-name?${new URLSearchParams({ fullName, explain: "true" })}`;
  return (
    <>
      <p>
        <a href={path}>{repository.fullName}</a> is #1 in Trending for {WINDOW_LABELS[trend.window]}. It had{" "}
        {formatCount(trend.starsFrom)} stars at <Time at={trend.from} exact />, and gained{" "}
        {formatCount(trend.starsDelta)} in {hours.toFixed(1)} hours, until <Time at={trend.to} exact />
        {trend.forksDelta === null ? "" : `; its forks changed by ${formatDelta(trend.forksDelta)}`}.
      </p>
      <Scroll label="Terms of the score">
        <table>
          <caption>
            Each term ranges from 0 to 1. Value × weight × 100 gives its points; the points add up to the
            score.
          </caption>
          <TermColumns />
          <tbody>
            {terms.map(({ name, value, weight }) => (
              <tr>
                <th scope="row">
                  {name}
                  <div class="soft small">{TERMS[name] ?? ""}</div>
                </th>
                <td class="number">{value.toFixed(3)}</td>
                <td class="number">{weight.toFixed(2)}</td>
                <td class="number">{(100 * value * weight).toFixed(2)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Trending</th>
              <td />
              <td />
              <td class="number">
                <strong>{score === null ? "–" : score.toFixed(2)}</strong>
              </td>
            </tr>
          </tfoot>
        </table>
      </Scroll>
      <p class="soft small">
        The stars and forks terms also discount small gains: a gain of ten stars in a day has half the weight
        of a very large one. Confidence {trend.confidence.toFixed(2)}. Full details <a href={json}>as JSON</a>
        .
      </p>
    </>
  );
};
