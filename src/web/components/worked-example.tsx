import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import type { Explanation, Trend } from "../../rankings/rankings.js";
import { formatCount, formatDelta, Time } from "./numbers.js";
import { Scroll } from "./scroll.js";

/** A trending score of a repository, with what it is made of. */
export interface Example {
  repository: Repository;
  /** Its page. */
  path: string;
  trend: Trend;
  /** Hours between the two snapshots compared. */
  hours: number;
  explanation: Explanation["trending"];
}

/** What each term of the score measures. */
const TERMS: Readonly<Record<string, string>> = {
  stars:
    "stars gained against the root of the stars there were, measured against the hottest twentieth of the forge",
  growth: "stars gained as a part of the stars there were, plus 50",
  forks: "forks gained, as for stars",
  activity: "days since the last push, and movement of issues",
};

/** The score taken apart: the two snapshots, then the terms, which add up to it. */
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
        The first of the trending ones at this moment, over {trend.window}, is{" "}
        <a href={path}>{repository.fullName}</a>. It had {formatCount(trend.starsFrom)} stars at{" "}
        <Time at={trend.from} />, and {formatCount(trend.starsDelta)} more {hours.toFixed(1)} hours later, at{" "}
        <Time at={trend.to} />
        {trend.forksDelta === null ? "" : `; its forks changed by ${formatDelta(trend.forksDelta)}`}.
      </p>
      <Scroll label="Terms of the score">
        <table>
          <caption>
            Each term is from 0 to 1; times its weight and 100 it gives points, and the points add up.
          </caption>
          <thead>
            <tr>
              <th scope="col">Term</th>
              <th scope="col" class="number">
                Value
              </th>
              <th scope="col" class="number">
                Weight
              </th>
              <th scope="col" class="number">
                Points
              </th>
            </tr>
          </thead>
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
        The stars and forks terms also weigh how much there is to go by: ten stars in a day count half of what
        very many do. Confidence {trend.confidence.toFixed(2)}. The same in full: <a href={json}>as JSON</a>.
      </p>
    </>
  );
};
