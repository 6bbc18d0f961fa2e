import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { type Explanation, type Trend, WINDOW_LABELS } from "../../rankings/rankings.js";
import { TermColumns } from "./explanation.js";
import { formatCount, formatDelta, Time } from "./numbers.js";
import { Scroll } from "./scroll.js";

/** A trending score and its terms. */
export interface Example {
  repository: Repository;
  /** Its page. */
  path: string;
  trend: Trend;
  /** Hours between the two snapshots compared. */
  hours: number;
  explanation: Explanation["trending"];
}

/** What each term measures. */
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
