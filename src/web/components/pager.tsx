import type { FC } from "hono/jsx";
import { withQuery } from "./addresses.js";
import { formatCount } from "./numbers.js";

/** Rows that pages can be numbered over; further on there are only next ones. */
const NUMBERED_ROWS = 10_000;

export interface PagerProps {
  url: URL;
  /** null: the page was asked for by a cursor. */
  page: number | null;
  limit: number;
  total: number;
  totalIsExact: boolean;
  hasMore: boolean;
  /** What asks for the page after a page that has no number. */
  nextCursor: string | null;
}

/** Says that a list has no such page, as it ends before. */
export const BeyondEnd: FC<{ url: URL }> = ({ url }) => (
  <p>
    The list ends before this page. <a href={withQuery(url, {})}>To its first page</a>
  </p>
);

/** Links to the page before and the page after; nothing where all is on one page. */
export const Pager: FC<PagerProps> = ({ url, page, limit, total, totalIsExact, hasMore, nextCursor }) => {
  if (page === 1 && !hasMore) return null;
  const pages = Math.ceil(total / limit);
  const isNumbered = page !== null && (page + 1) * limit <= NUMBERED_ROWS;
  const next = isNumbered
    ? withQuery(url, { page: String(page + 1) })
    : nextCursor === null
      ? undefined
      : withQuery(url, { cursor: nextCursor });
  const before = page === 2 ? undefined : String((page ?? 0) - 1);
  return (
    <nav class="pager" aria-label="Pages">
      {page === null ? (
        <a href={withQuery(url, {})}>To the first page</a>
      ) : page > 1 ? (
        <a href={withQuery(url, { page: before })} rel="prev">
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
