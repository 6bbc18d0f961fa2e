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

/** What the values of the formulas are. */
const VALUES = {
  gained: "Stars gained that count",
  usualDay: "Stars on a usual day",
  stars: "Stars at the start",
  forksGained: "Forks gained that count",
  forks: "Forks at the start",
  ageDays: "Age in days",
  idleDays: "Days since the last push",
  issuesPerDay: "Issues opened or closed per day",
  openIssues: "Open issues at the start",
} as const satisfies Record<keyof Explanation["trending"]["values"], string>;

/** Why a score is unknown; see docs/RANKINGS.md. */
const UNKNOWN: Readonly<Partial<Record<ScoreName, string>>> = {
  newHot: "neither the date of its creation is known, nor was it first seen in the last 90 days",
  forkMomentum: "its forks are not known",
  activity: "neither its pushes nor its issues are known",
};

export interface ScoreExplanationProps {
  window: Window;
  explanation: Explanation | null;
  trend: Trend | null;
}

/** How the trending score is made up, and the other scores in a disclosure. */
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
      <Scroll label="The trending score">
        <ScoreTable name="trending" explanation={explanation} window={window} />
      </Scroll>
      <details>
        <summary>Other scores</summary>
        {SCORE_NAMES.slice(1).map((name) => (
          <ScoreTable name={name} explanation={explanation} window={window} />
        ))}
      </details>
      <p class="soft small">
        Gains are scaled to {WINDOW_LABELS[window]}. <a href="/about">How scores work</a>
      </p>
    </>
  );
};

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

/** A score with its formula and the values in it. */
export const ScoreTable: FC<{ name: ScoreName; explanation: Explanation; window: Window }> = ({
  name,
  explanation,
  window,
}) => {
  const { score, formula, values } = explanation[name];
  const { label, description } = SCORE_LABELS[name];
  if (score === null)
    return (
      <p class="soft read">
        <strong>{label}</strong> ({description}): cannot be computed, as{" "}
        {UNKNOWN[name] ?? "too little is known"}.
      </p>
    );
  return (
    <table class="terms">
      <caption>
        <strong>{label}</strong>, {WINDOW_LABELS[window]}: {score.toFixed(2)} = {formula}{" "}
        <span class="small">({description})</span>
      </caption>
      <tbody>
        {Object.entries(values).map(([value, number]) => (
          <tr>
            <th scope="row">{VALUES[value as keyof typeof VALUES]}</th>
            <td class="number">{whole.format(number)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};
