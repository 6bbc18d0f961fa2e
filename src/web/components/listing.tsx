import type { FC } from "hono/jsx";
import type { StarCount } from "../../catalog/catalog.js";
import { type CountRequest, type ListPage, type ListQuery, listPage } from "../../lists/lists.js";
import type { PageRequest } from "../page-request.js";
import { Pager } from "./pager.js";
import { RepositoryList, type RepositoryListProps } from "./repository-list.js";
import { COLUMN_SORTS, columnsOf, sortHead } from "./sorts.js";

/** A page of a list with sparklines. */
export interface Listing {
  list: ListPage;
  sparks: ReadonlyMap<number, readonly (StarCount | null)[]>;
}

/** Throws as `listPage` does. */
export async function readListing(
  { modules, scanning }: Pick<PageRequest, "modules" | "scanning">,
  query: ListQuery,
  counted?: CountRequest,
): Promise<Listing> {
  const list = await listPage(modules, query, { counted, scanning });
  const ids = list.rows.map(({ repository }) => repository.id);
  const sparks = list.asOf === null ? new Map() : await modules.catalog.sparks(ids, list.asOf);
  return { list, sparks };
}

export interface ListingViewProps extends Listing, Pick<RepositoryListProps, "saved" | "next"> {
  url: URL;
  query: Pick<ListQuery, "limit" | "order">;
  caption: string;
  withForge: boolean;
  withLanguage?: boolean;
  /** The sorts that the page knows; absent: all. */
  sorts?: readonly string[];
  /** Whether the page can be sorted from the lowest value. */
  hasOrder?: boolean;
}

/** The rows with their ranks, and the pager. */
export const ListingView: FC<ListingViewProps> = ({
  list,
  sparks,
  url,
  query: { limit, order },
  caption,
  withForge,
  withLanguage = true,
  sorts,
  hasOrder = true,
  ...stars
}) => (
  <>
    <RepositoryList
      rows={list.rows}
      caption={caption}
      {...(list.page === null ? {} : { from: (list.page - 1) * limit + 1 })}
      sparks={sparks}
      withForge={withForge}
      withLanguage={withLanguage}
      headOf={headsOf({ url, sort: list.sort, order, sorts, hasOrder })}
      {...stars}
      {...columnsOf(list.sort)}
    />
    <Pager url={url} limit={limit} {...list} />
  </>
);

interface Sorting {
  url: URL;
  sorts: readonly string[] | undefined;
  sort: string;
  order: string;
  hasOrder: boolean;
}

/** How the heads of a list sort it; `sorts`: those it has, by default all. Where it cannot be reversed, the head it is sorted by is no link. */
export function headsOf({
  url,
  sort: current,
  order,
  sorts,
  hasOrder,
}: Sorting): NonNullable<RepositoryListProps["headOf"]> {
  return (column) => {
    const sort = column === "score" ? current : COLUMN_SORTS[column];
    if (sorts !== undefined && !sorts.includes(sort)) return undefined;
    const head = sortHead(url, sort, { sort: current, order });
    return head.sorted !== undefined && !hasOrder ? { sorted: head.sorted } : head;
  };
}
