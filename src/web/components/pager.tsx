import type { FC } from "hono/jsx";
import { withQuery } from "./addresses.js";
import { formatCount } from "./numbers.js";

/** Rows with numbered pages; beyond them, pages are read by cursor. */
const NUMBERED_ROWS = 10_000;

export interface PagerProps {
  url: URL;
  /** null: the page was requested by cursor. */
  page: number | null;
  limit: number;
  total: number;
  totalIsExact: boolean;
  hasMore: boolean;
  /** The cursor of the next page. */
  nextCursor: string | null;
}

/** The message of a page after the last one. */
export const BeyondEnd: FC<{ url: URL }> = ({ url }) => (
  <p>
    There are no more results. <a href={withQuery(url, {})}>Back to the first page</a>
  </p>
);

/** Links to the previous and next page; nothing for a single page. */
export const Pager: FC<PagerProps> = ({ url, page, limit, total, totalIsExact, hasMore, nextCursor }) => {
  if (page === 1 && !hasMore) return null;
  const pages = Math.ceil(total / limit);
  const isNumbered = page !== null && (page + 1) * limit <= NUMBERED_ROWS;
  const next = isNumbered
    ? withQuery(url, { page: String(page + 1) })
    : nextCursor === null
      ? undefined
      : withQuery(url, { cursor: nextCursor });
  const previous = page === 2 ? undefined : String((page ?? 0) - 1);
  return (
    <nav class="pager" aria-label="Pagination">
      {page === null ? (
        <a href={withQuery(url, {})}>First page</a>
      ) : page > 1 ? (
        <a href={withQuery(url, { page: previous })} rel="prev">
          ← Previous
        </a>
      ) : null}
      {page === null ? null : (
        <span class="soft">
          Page {formatCount(page)}
          {totalIsExact ? ` of ${formatCount(pages)}` : ""}
        </span>
      )}
      {hasMore && next !== undefined ? (
        <a href={next} rel="next">
          Next →
        </a>
      ) : null}
    </nav>
  );
};
