import type { FC } from "hono/jsx";
import { isSort, type Sort } from "../../lists/lists.js";
import { withQuery } from "./addresses.js";
import type { Answerable } from "./filter-form.js";
import { offeredSorts, SORT_NAMES } from "./sorts.js";
import type { Tab } from "./tabs.js";

interface SortBarProps {
  url: URL;
  /** The sort of the page; an unknown text if its parameter is invalid. */
  sort: string;
  order: string;
  isAnswerable: Answerable;
}

/** The sorts that are rankings, which have tabs; all others are in the menu. */
const RANKING_TABS: readonly Sort[] = ["trending", "rising", "new-hot", "fork-growth"];

/** The rankings as tabs, the other sorts in a menu, which works without scripts, and the direction. */
export const SortBar: FC<SortBarProps> = ({ url, sort, order, isAnswerable }) => {
  const tabOf = (name: Sort): Tab => ({
    name: SORT_NAMES[name],
    href: withQuery(url, { sort: name, order: undefined }),
    isCurrent: name === sort,
  });
  const others = offeredSorts(sort, url.searchParams.has("q")).filter(
    (name) => !RANKING_TABS.includes(name) && (name === sort || isUseful(name, isAnswerable)),
  );
  const isOther = isSort(sort) && others.includes(sort);
  return (
    <div class="sort-bar">
      <nav class="strip" aria-label="Rankings">
        {RANKING_TABS.map((name) => (
          <SortLink tab={tabOf(name)} />
        ))}
      </nav>
      <details class="sort-menu" data-menu="">
        <summary class={isOther ? "current" : undefined}>
          {isOther ? `Sort: ${SORT_NAMES[sort]}` : "Sort"}
          {order === "asc" && sort !== "relevance" ? ", lowest first" : ""}
        </summary>
        <nav aria-label="Sort by">
          {others.map((name) => (
            <SortLink tab={tabOf(name)} />
          ))}
          {sort === "relevance" ? null : <Direction url={url} order={order} />}
        </nav>
      </details>
    </div>
  );
};

/** Whether any repository has what the sort compares. */
function isUseful(sort: Sort, isAnswerable: Answerable): boolean {
  if (sort === "created") return isAnswerable("createdAfter");
  return sort !== "pushed" || isAnswerable("pushedAfter");
}

const SortLink: FC<{ tab: Tab }> = ({ tab: { name, href, isCurrent } }) => (
  <a href={href} aria-current={isCurrent ? "true" : undefined}>
    {name}
  </a>
);

const Direction: FC<{ url: URL; order: string }> = ({ url, order }) => (
  <a class="direction" href={withQuery(url, { order: order === "asc" ? undefined : "asc" })}>
    {order === "asc" ? "Highest first" : "Lowest first"}
  </a>
);
