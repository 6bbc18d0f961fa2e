import type { FunctionComponent as FC } from "preact";
import type { Facet, ListRow } from "../../discovery/discovery.js";
import { WINDOW_LABELS, type Window } from "../../growth/growth.js";
import { languagePage, repositoryPage } from "../../lib/page-addresses.js";
import { Link } from "./elements.js";
import { Delta, Dot, formatCompact, formatCount, formatDelta } from "./numbers.js";

/** Small charts without axes next to names and numbers: sparklines, and bars of gains. */

const SPARK_WIDTH = 96;
const SPARK_HEIGHT = 24;
const SPARK_EDGE = 2;
/** The scale spans at least this fraction of the count, so that a few stars do not look like a crash or a leap. */
const LEAST_SPAN = 0.02;
const LEAST_STARS = 10;

/** Takes the place of a sparkline if too few counts are known. */
const NoSpark: FC = () => (
  <svg
    class="spark none"
    viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
    role="img"
    aria-label="Too few counts for a line"
  >
    <line x1={SPARK_EDGE} x2={SPARK_WIDTH - SPARK_EDGE} y1={SPARK_HEIGHT / 2} y2={SPARK_HEIGHT / 2} />
  </svg>
);

/** A sparkline on a scale of its own; unknown values are left out. Hidden from screen readers, which get the numbers next to it. */
export const Spark: FC<{ values: readonly (number | null)[] }> = ({ values }) => {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return <NoSpark />;
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const span = Math.max(most - least, LEAST_SPAN * most, LEAST_STARS);
  const middle = (least + most) / 2;
  const x = (i: number) => SPARK_EDGE + (i * (SPARK_WIDTH - 2 * SPARK_EDGE)) / (values.length - 1);
  const y = (value: number) => SPARK_HEIGHT / 2 - ((value - middle) * (SPARK_HEIGHT - 2 * SPARK_EDGE)) / span;
  const points = values.flatMap((value, i) =>
    value === null ? [] : [`${x(i).toFixed(1)},${y(value).toFixed(1)}`],
  );
  const [lastX, lastY] = points.at(-1)?.split(",") ?? [];
  return (
    <svg class="spark" viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`} aria-hidden="true">
      <polyline class="chart-1" points={points.join(" ")} />
      <circle class="chart-end" cx={lastX} cy={lastY} r="2" />
    </svg>
  );
};

/** Gains as bars from a line at 0, without numbers; unknown ones are left out. Hidden from screen readers. */
export const GainBars: FC<{ values: readonly (number | null)[] }> = ({ values }) => {
  const known = values.filter((value) => value !== null);
  const [least, most] = [Math.min(0, ...known), Math.max(1, ...known)];
  const y = (value: number) => ((most - value) * SPARK_HEIGHT) / (most - least);
  const step = SPARK_WIDTH / Math.max(1, values.length);
  return (
    <svg
      class="gain-bars"
      viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {values.map((value, i) =>
        value === null ? null : (
          <rect
            x={(i * step + step * 0.1).toFixed(1)}
            y={Math.min(y(0) - 0.6, y(value)).toFixed(1)}
            width={(step * 0.8).toFixed(1)}
            height={Math.max(1.2, Math.abs(y(value) - y(0))).toFixed(1)}
          />
        ),
      )}
    </svg>
  );
};

/** Languages, each with a bar for the stars it gained. */
export const LanguageBars: FC<{ languages: readonly Facet[] }> = ({ languages }) => {
  const most = Math.max(...languages.map(({ starsGained }) => starsGained));
  return (
    <ol class="bars">
      {languages.map(({ name, repositories, starsGained }) => (
        <li>
          <span>
            <Dot name={name} />
            <Link href={languagePage(name)}>{name}</Link>
          </span>
          <span class="soft small">{formatCompact(repositories)} repositories</span>
          <Delta value={starsGained} />
          <Bar value={starsGained} most={most} />
        </li>
      ))}
    </ol>
  );
};

interface FacetGainsProps {
  /** Stars gained in the window. */
  total: number;
  window: Window;
  /** The repositories that gained most in the window, the greatest gain first. */
  leaders: readonly ListRow[];
}

/** The repositories that the gain of a language or topic in a window comes from, as bars. */
export const FacetGains: FC<FacetGainsProps> = ({ total, window, leaders }) => {
  const gains = leaders.flatMap(({ repository, trend }) =>
    trend === undefined || trend.starsDelta <= 0 ? [] : [{ repository, stars: trend.starsDelta }],
  );
  const others = total - gains.reduce((sum, { stars }) => sum + stars, 0);
  // If others lost stars, the gains are no parts of the total.
  const partOf = (stars: number) => (others < 0 ? "" : ` · ${Math.round((100 * stars) / total)}%`);
  if (gains.length === 0) return null;
  const most = Math.max(others, ...gains.map(({ stars }) => stars));
  return (
    <section class="facet-gains">
      <h2>Gained in {WINDOW_LABELS[window]}</h2>
      <ol class="bars">
        {gains.map(({ repository, stars }) => (
          <li>
            <a href={repositoryPage(repository)}>{repository.fullName}</a>
            <span>
              {formatDelta(stars)}
              <span class="soft">{partOf(stars)}</span>
            </span>
            <Bar value={stars} most={most} />
          </li>
        ))}
        {others <= 0 ? null : (
          <li>
            <span class="soft">All others</span>
            <span>
              {formatDelta(others)}
              <span class="soft">{partOf(others)}</span>
            </span>
            <Bar value={others} most={most} />
          </li>
        )}
      </ol>
      {others >= 0 ? null : <p class="soft small">All others together: {formatCount(others)} stars.</p>}
    </section>
  );
};

const Bar: FC<{ value: number; most: number }> = ({ value, most }) => (
  <svg viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
    <rect width={((100 * Math.max(0, value)) / Math.max(1, most)).toFixed(1)} height="3" />
  </svg>
);
