import type { FunctionComponent as FC } from "preact";
import {
  type Explanation,
  formulaOf,
  SCORE_LABELS,
  SCORE_NAMES,
  type Trend,
  WINDOW_LABELS,
} from "../../growth/growth.js";
import type { Repository } from "../../repositories/repositories.js";
import { Scroll } from "./elements.js";
import { ScoreTable } from "./explanation.js";
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
        {SCORE_NAMES.map((name) => (
          <tr>
            <th scope="row">{SCORE_LABELS[name].label}</th>
            <td>{SCORE_LABELS[name].description}</td>
            <td>{formulaOf(name, "24h")}</td>
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

/** A repository with its trending score. */
export interface Example {
  repository: Repository;
  /** Its page. */
  path: string;
  trend: Trend;
  /** Hours between the two snapshots compared. */
  hours: number;
  explanation: Explanation;
}

/** The two snapshots compared, then the score with its values. */
export const WorkedExample: FC<Example> = ({ repository, path, trend, hours, explanation }) => {
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
      <Scroll label="The trending score">
        <ScoreTable name="trending" explanation={explanation} window={trend.window} />
      </Scroll>
      <p class="soft small">
        Confidence {trend.confidence.toFixed(2)}. Full details <a href={json}>as JSON</a>.
      </p>
    </>
  );
};
