import type { FC } from "hono/jsx";
import type { Facet } from "../../rankings/rankings.js";
import { Dot } from "./language.js";
import { Delta, formatCompact } from "./numbers.js";

export interface BarsProps {
  facets: readonly Facet[];
  /** Their paths. */
  page: (name: string) => string;
  /** Whether they are languages, which have a dot in their colour. */
  hasDots: boolean;
}

/** Languages or topics, each with a bar for the stars it gained. */
export const Bars: FC<BarsProps> = ({ facets, page, hasDots }) => {
  const most = Math.max(1, ...facets.map(({ starsGained }) => starsGained));
  return (
    <ol class="bars">
      {facets.map(({ name, repositories, starsGained }) => (
        <li>
          <span>
            {hasDots ? <Dot name={name} /> : null}
            <a href={page(name)}>{name}</a>
          </span>
          <span class="soft small">{formatCompact(repositories)} repositories</span>
          <Delta value={starsGained} />
          <svg viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
            <rect width={((100 * Math.max(0, starsGained)) / most).toFixed(1)} height="3" />
          </svg>
        </li>
      ))}
    </ol>
  );
};
