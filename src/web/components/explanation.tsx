import type { FunctionComponent as FC } from "preact";
import {
  type Explanation,
  SCORE_LABELS,
  SCORE_NAMES,
  type ScoreName,
  type Trend,
  WINDOW_LABELS,
  type Window,
} from "../../growth/growth.js";
import { Scroll } from "./elements.js";

/** The calculation of each term. */
const TERMS: Readonly<Record<string, string>> = {
  stars: "Stars gained ÷ √stars",
  growth: "Stars gained ÷ (stars + 50)",
  forks: "Forks gained ÷ √forks",
  activity: "Recent pushes and change in open issues",
  pushes: "Time since the last push",
  issues: "Change in open issues",
  "youth (a factor)": "Youth (multiplies the sum)",
};

/** Why a score is unknown; see docs/RANKINGS.md. */
const UNKNOWN_TERMS: Readonly<Partial<Record<ScoreName, string>>> = {
  newHot: "the date of its creation is not known",
  forkMomentum: "its forks are not known",
  activity: "neither its pushes nor its issues are known",
};

export interface ScoreExplanationProps {
  window: Window;
  explanation: Explanation | null;
  trend: Trend | null;
}

/** The trending score term by term, and the other scores in a disclosure. */
export const ScoreExplanation: FC<ScoreExplanationProps> = ({ window, explanation, trend }) => {
  if (explanation === null || trend === null)
    return <p class="soft read">No scores for {WINDOW_LABELS[window]}, as there is no growth to score.</p>;
  const { score } = explanation.trending;
  return (
    <>
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
  if (score === null)
    return (
      <p class="soft read">
        <strong>{label}</strong> ({description}): cannot be computed, as{" "}
        {UNKNOWN_TERMS[name] ?? "too little is known"}.
      </p>
    );
  return (
    <table class="terms">
      <caption>
        <strong>{label}</strong>, {WINDOW_LABELS[window]}: {points(score)} of 100{" "}
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
