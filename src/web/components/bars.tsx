import type { FC } from "hono/jsx";
import type { Facet } from "../../rankings/rankings.js";
import { Delta, formatCompact } from "./numbers.js";

/** Languages or topics, each with a bar for its number of repositories. `page` returns their paths. */
export const Bars: FC<{ facets: readonly Facet[]; page: (name: string) => string }> = ({ facets, page }) => {
  const most = Math.max(1, ...facets.map(({ repositories }) => repositories));
  return (
    <ol class="bars">
      {facets.map(({ name, repositories, starsGained }) => (
        <li>
          <a href={page(name)}>{name}</a>
          <span class="soft small">{formatCompact(repositories)} repositories</span>
          <Delta value={starsGained} />
          <svg viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
            <rect width={((100 * repositories) / most).toFixed(1)} height="3" />
          </svg>
        </li>
      ))}
    </ol>
  );
};
