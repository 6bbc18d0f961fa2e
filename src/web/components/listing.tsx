import type { FC } from "hono/jsx";
import type { StarCount } from "../../catalog/catalog.js";
import { type ListPage, type ListQuery, listPage } from "../../lists/lists.js";
import type { Modules } from "../../modules.js";
import { Pager } from "./pager.js";
import { RepositoryList, type RepositoryListProps } from "./repository-list.js";
import { columnsOf } from "./sorts.js";

/** A page of a list with sparklines. */
export interface Listing {
  list: ListPage;
  sparks: ReadonlyMap<number, readonly (StarCount | null)[]>;
}

/** Throws as `listPage` does. */
export async function readListing(modules: Modules, query: ListQuery): Promise<Listing> {
  const list = await listPage(modules, query);
  const ids = list.rows.map(({ repository }) => repository.id);
  const sparks = list.asOf === null ? new Map() : await modules.catalog.sparks(ids, list.asOf);
  return { list, sparks };
}

export interface ListingViewProps extends Listing, Pick<RepositoryListProps, "saved" | "next"> {
  url: URL;
  query: Pick<ListQuery, "limit">;
  caption: string;
  withForge: boolean;
  withLanguage?: boolean;
}

/** The rows with their ranks, and the pager. */
export const ListingView: FC<ListingViewProps> = ({
  list,
  sparks,
  url,
  query: { limit },
  caption,
  withForge,
  withLanguage = true,
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
      {...stars}
      {...columnsOf(list.sort)}
    />
    <Pager url={url} limit={limit} {...list} />
  </>
);
