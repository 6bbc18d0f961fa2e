import type { FunctionComponent as FC } from "preact";
import { type CountRequest, type ListPage, type ListQuery, listPage } from "../../discovery/discovery.js";
import { RANKINGS } from "../../growth/growth.js";
import type { StarCount } from "../../repositories/repositories.js";
import type { Page, PageRequest } from "../page-request.js";
import type { ListStars } from "../saving.js";
import { Ways } from "./elements.js";
import { Pager, withQuery } from "./links.js";
import { RepositoryList } from "./repository-list.js";
import { columnsOf, feedPath, headsOf } from "./sorts.js";

/** Lists of repositories on pages of their own: read, shown with a pager, and in other formats. */

/** A page of a list with sparklines. */
export interface Listing {
  list: ListPage;
  sparks: ReadonlyMap<number, readonly (StarCount | null)[]>;
}

/** Reads a page of a list with its sparklines. Throws as `listPage` does. */
export async function readListing(
  { modules }: Pick<PageRequest, "modules">,
  query: ListQuery,
  counted?: CountRequest,
): Promise<Listing> {
  const list = await listPage(modules, query, { counted });
  const ids = list.rows.map(({ repository }) => repository.id);
  const sparks = await modules.catalog.sparks(ids);
  return { list, sparks };
}

interface ListingViewProps extends Listing, ListStars {
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
      ranking={RANKINGS.find((ranking) => ranking === list.sort && ranking !== "stars")}
    />
    <Pager url={url} limit={limit} {...list} />
  </>
);

type Alternate = NonNullable<Page["alternates"]>[number];

/** Other formats of the list at this address of the explore page: JSON, CSV, and a feed if its sort has one. */
export function alternatesOf(url: URL, sort: string): Alternate[] {
  const data = new URL(url);
  data.pathname = "/api/repos";
  const feed = feedPath(sort);
  const feedUrl = new URL(url);
  feedUrl.pathname = feed ?? "";
  const unordered = { sort: undefined, order: undefined, limit: undefined };
  // Feeds default to a week, lists to a day.
  const window = url.searchParams.get("window") ?? "24h";
  return [
    { type: "text/csv", href: withQuery(data, { format: "csv", limit: "100" }), title: "CSV" },
    { type: "application/json", href: withQuery(data, {}), title: "JSON" },
    ...(feed === undefined
      ? []
      : [
          {
            type: "application/atom+xml",
            href: withQuery(feedUrl, { ...unordered, window }),
            title: "Atom feed",
          },
        ]),
  ];
}

/** Links to the list in other formats. */
export const Alternates: FC<{ alternates: readonly Alternate[] }> = ({ alternates }) => (
  <Ways lead="Download: " links={alternates.map(({ title, href }) => [title, href] as const)} />
);
