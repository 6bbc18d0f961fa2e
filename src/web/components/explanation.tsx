import type { FC } from "hono/jsx";
import {
  type Anomaly,
  COUNT_NAMES,
  type Explanation,
  SCORE_LABELS,
  SCORE_NAMES,
  type ScoreName,
  type Trend,
  WINDOW_LABELS,
  type Window,
} from "../../rankings/rankings.js";
import { Delta, formatCount, Time } from "./numbers.js";
import { Scroll } from "./scroll.js";

/** What each term measures. */
const TERMS: Readonly<Record<string, string>> = {
  stars: "Stars gained ÷ √stars",
  growth: "Stars gained ÷ (stars + 50)",
  forks: "Forks gained ÷ √forks",
  activity: "Recent pushes and change in open issues",
  pushes: "Time since the last push",
  issues: "Change in open issues",
  "youth (a factor)": "Youth (multiplies the sum)",
};

export interface ScoreExplanationProps {
  window: Window;
  explanation: Explanation | null;
  trend: Trend | null;
}

/** The trending score term by term, and the other scores in a disclosure. */
export const ScoreExplanation: FC<ScoreExplanationProps> = ({ window, explanation, trend }) => {
  if (explanation === null || trend === null)
    return (
      <p class="read">
        No score for {WINDOW_LABELS[window]}. It needs a recent snapshot and another one half a window to two
        windows earlier.
      </p>
    );
  const { score } = explanation.trending;
  return (
    <>
      <Anomalies anomalies={trend.anomalies} />
      {score === 0 ? (
        <p class="soft">
          {trend.starsDelta <= 0 ? "No stars were gained" : "None of the gained stars count"}, so the trending
          score is 0.
        </p>
      ) : null}
      <Scroll label="Terms of the trending score">
        <Terms name="trending" explanation={explanation} window={window} />
      </Scroll>
      <details>
        <summary>Other scores</summary>
        {SCORE_NAMES.slice(1).map((name) => (
          <Terms name={name} explanation={explanation} window={window} />
        ))}
      </details>
      <p class="soft small">
        Each term ranges from 0 to 1. <a href="/about">How scores work</a>
      </p>
    </>
  );
};

/** The columns of a table of terms. */
export const TermColumns: FC = () => (
  <thead>
    <tr>
      <th scope="col">Term</th>
      {["Value", "Weight", "Points"].map((name) => (
        <th scope="col" class="number">
          {name}
        </th>
      ))}
    </tr>
  </thead>
);

const points = (value: number): string => value.toFixed(2);

const Terms: FC<{ name: ScoreName; explanation: Explanation; window: Window }> = ({
  name,
  explanation,
  window,
}) => {
  const { score, terms } = explanation[name];
  const { label, description } = SCORE_LABELS[name];
  const isProduct = name === "newHot";
  return (
    <table class="terms">
      <caption>
        <strong>{label}</strong>, {WINDOW_LABELS[window]}: {score === null ? "unknown" : points(score)} of 100{" "}
        <span class="small">({description})</span>
      </caption>
      {terms.length === 0 ? null : (
        <>
          <TermColumns />
          <tbody>
            {terms.map(({ name: term, value, weight }) => {
              const isFactor = isProduct && term.startsWith("youth");
              return (
                <tr>
                  <th scope="row">
                    {TERMS[term] ?? term}
                    <svg class="share" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
                      <rect width={(100 * value).toFixed(1)} height="3" />
                    </svg>
                  </th>
                  <td class="number">{value.toFixed(3)}</td>
                  <td class="number">{isFactor ? "factor" : points(weight)}</td>
                  <td class="number">{isFactor ? `× ${value.toFixed(3)}` : points(100 * value * weight)}</td>
                </tr>
              );
            })}
          </tbody>
        </>
      )}
    </table>
  );
};

/** The name of each kind of anomaly, and its effect on the scores. */
const ANOMALIES: Readonly<Record<Anomaly["kind"], { title: string; effect: string }>> = {
  FAILED_READING: { title: "Failed reading", effect: "It is not compared with any other." },
  UNCONFIRMED: {
    title: "Unconfirmed reading",
    effect: "Until it is confirmed, the reading before it is used.",
  },
  RETURN: { title: "Dropped and recovered", effect: "Neither way counts." },
  LEVEL_SHIFT: { title: "Level shift", effect: "The gain does not count." },
  BURST: { title: "Burst", effect: "Only the part that other counts support counts." },
  PURGE: { title: "Purge", effect: "The loss counts in full." },
};

const CLEARED = {
  BREADTH: "Other counts have followed since, so all of it counts.",
  TIME: "It has kept its stars for a month, so all of it counts.",
} as const;

const Anomalies: FC<{ anomalies: readonly Anomaly[] }> = ({ anomalies }) =>
  anomalies.length === 0 ? null : (
    <div class="note" role="note">
      <p>
        <strong>Unusual change.</strong> The numbers do not say who caused it or why.
      </p>
      <ul>
        {anomalies.map(({ kind, measure, at, reason, before, after, cleared, sameDay }) => (
          <li>
            <strong>{ANOMALIES[kind].title}</strong>, seen <Time at={at} />: <Delta value={after - before} />{" "}
            {COUNT_NAMES[measure]}, from {formatCount(before)} to {formatCount(after)} ({reason}).{" "}
            {cleared === undefined ? ANOMALIES[kind].effect : CLEARED[cleared.by]}
            {sameDay === undefined
              ? null
              : ` On that day ${formatCount(sameDay.fell)} of ${formatCount(sameDay.compared)} repositories of the forge lost stars, and ${formatCount(sameDay.jumped)} gained far more than usual.`}
          </li>
        ))}
      </ul>
    </div>
  );
