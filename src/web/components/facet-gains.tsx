import type { FC } from "hono/jsx";
import { repositoryPage } from "../../page-addresses.js";
import {
  type FacetTotals,
  WINDOW_HOURS,
  WINDOW_LABELS,
  WINDOWS,
  type Window,
} from "../../rankings/rankings.js";
import { formatCount, formatDelta } from "./numbers.js";
import type { ListedRow } from "./repository-list.js";

export interface FacetGainsProps {
  totals: Pick<FacetTotals, "gained">;
  window: Window;
  /** The repositories that gained most in the window, the greatest gain first. */
  leaders: readonly ListedRow[];
}

/**
 * How a language or topic grew, as two charts of bars: its stars a day in each window, which shows whether it speeds up, and the
 * repositories that its gain in one window comes from. Only present totals are stored, so there is no line over time.
 */
export const FacetGains: FC<FacetGainsProps> = ({ totals: { gained }, window, leaders }) => {
  const paces = WINDOWS.map((one) => ({ window: one, perDay: (gained[one] * 24) / WINDOW_HOURS[one] }));
  const gains = leaders.flatMap(({ repository, trend }) =>
    trend === undefined || trend.starsCounted <= 0 ? [] : [{ repository, stars: trend.starsCounted }],
  );
  const total = gained[window];
  const others = total - gains.reduce((sum, { stars }) => sum + stars, 0);
  // Where others lost stars, the gains are no parts of the total.
  const partOf = (stars: number) => (others < 0 ? "" : ` · ${Math.round((100 * stars) / total)}%`);
  if (gains.length === 0) return null;
  const most = Math.max(others, ...gains.map(({ stars }) => stars));
  return (
    <div class="grid facet-gains">
      <section>
        <h2>Stars a day</h2>
        <ol class="bars">
          {paces.map(({ window: one, perDay }) => (
            <li>
              <span>{WINDOW_LABELS[one]}</span>
              <span>{formatDelta(Math.round(perDay))}</span>
              <Bar value={perDay} most={Math.max(...paces.map((pace) => pace.perDay))} />
            </li>
          ))}
        </ol>
      </section>
      <section>
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
    </div>
  );
};

const Bar: FC<{ value: number; most: number }> = ({ value, most }) => (
  <svg viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
    <rect width={((100 * Math.max(0, value)) / Math.max(1, most)).toFixed(1)} height="3" />
  </svg>
);
