import type { FC } from "hono/jsx";
import {
  type Anomaly,
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

/** What the terms measure. */
const TERMS: Readonly<Record<string, string>> = {
  stars: "Stars gained ÷ √stars",
  growth: "Stars gained, as a part of its stars",
  forks: "Forks gained ÷ √forks",
  activity: "Pushes and movement of issues",
  pushes: "How lately it was pushed to",
  issues: "Movement of open issues",
  "youth (a factor)": "Youth, by which the rest is multiplied",
};

export interface ScoreExplanationProps {
  window: Window;
  explanation: Explanation | null;
  trend: Trend | null;
}

/** How the trending score comes about, term by term, and the other scores behind it. */
export const ScoreExplanation: FC<ScoreExplanationProps> = ({ window, explanation, trend }) => {
  if (explanation === null || trend === null)
    return (
      <p class="read">
        There is no score for {WINDOW_LABELS[window]}: it takes two snapshots to compare, 0.5 to 2 windows
        apart, the newest of them not older than the window.
      </p>
    );
  const { score } = explanation.trending;
  return (
    <>
      <Anomalies anomalies={trend.anomalies} />
      {score === 0 ? (
        <p class="soft">
          {trend.starsDelta <= 0 ? "No star was gained" : "No gained star is counted"}, so the trending score
          is 0, whatever its terms.
        </p>
      ) : null}
      <Scroll label="Terms of the trending score">
        <Terms name="trending" explanation={explanation} window={window} />
      </Scroll>
      <details>
        <summary>The other five scores</summary>
        {SCORE_NAMES.slice(1).map((name) => (
          <Terms name={name} explanation={explanation} window={window} />
        ))}
      </details>
      <p class="soft small">
        Each term goes from 0 to 1. <a href="/about">How scores are made</a>
      </p>
    </>
  );
};

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
        <strong>{label}</strong>, {WINDOW_LABELS[window]}: {score === null ? "not known" : points(score)} of
        100 <span class="small">({description})</span>
      </caption>
      {terms.length === 0 ? null : (
        <>
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
                Gives
              </th>
            </tr>
          </thead>
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

/** What each kind of anomaly is called, and what it does to the scores. */
const ANOMALIES: Readonly<Record<Anomaly["kind"], { title: string; effect: string }>> = {
  FAILED_READING: { title: "A reading that failed", effect: "Nothing of the gain is counted." },
  RETURN: { title: "Dropped and recovered", effect: "Nothing of the gain is counted." },
  LEVEL_SHIFT: { title: "Another level", effect: "Nothing of the gain is counted." },
  BURST: { title: "An unusual gain", effect: "A quarter of it is counted." },
  PURGE: { title: "Many stars gone at once", effect: "The loss is counted as it is." },
};

const Anomalies: FC<{ anomalies: readonly Anomaly[] }> = ({ anomalies }) =>
  anomalies.length === 0 ? null : (
    <div class="note" role="note">
      <p>
        <strong>The figures moved in an unusual way.</strong> They do not say who did it or why.
      </p>
      <ul>
        {anomalies.map(({ kind, at, reason, starsBefore, starsAfter, sameDay }) => (
          <li>
            <strong>{ANOMALIES[kind].title}</strong>, seen <Time at={at} />:{" "}
            <Delta value={starsAfter - starsBefore} /> stars, from {formatCount(starsBefore)} to{" "}
            {formatCount(starsAfter)} ({reason}). {ANOMALIES[kind].effect}
            {sameDay === undefined
              ? null
              : ` On that day ${formatCount(sameDay.fell)} of ${formatCount(sameDay.compared)} repositories of the forge lost stars.`}
          </li>
        ))}
      </ul>
    </div>
  );
