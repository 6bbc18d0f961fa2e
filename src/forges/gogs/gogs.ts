import type { ProviderSettings } from "../../config/config.js";
import type { Connection } from "../client.js";
import type { Provider } from "../contract.js";
import { record, webUrl } from "../fields.js";
import { API_OF_FAMILY, REPOSITORY, toRecord } from "../forgejo/forgejo.js";
import { checkWithin, type ListRequest, nextMark } from "../lists.js";
import { createRestProvider, type RestForge, restClient } from "../rest-provider.js";

const PAGE_SIZE = 50;
/** Matches every name: the search puts the keyword into an SQL pattern, and an empty one becomes a dot. */
const ANY_NAME = "_";

/** Versions before 2018 send rows with a name and zeros in all other fields; those have no address. */
const gogsSchema = record({ ...REPOSITORY, url: ["html_url", webUrl] });

const searchPath = (keyword: string, page: number): string =>
  `/repos/search?q=${encodeURIComponent(keyword)}&limit=${PAGE_SIZE}&page=${page}`;

/**
 * Gogs has no lookup by id and no order of lists, and an old name does not lead to the new one. So a repository is looked up by
 * name and its id compared: one that was renamed is gone until a walk finds its id under the new name, and it keeps its history.
 */
const GOGS: RestForge = {
  kind: "gogs",
  ...API_OF_FAMILY,
  // It has no document of its version.
  controlPath: "/repos/search?limit=1",
  list: listByPage,
  listsAreComplete: true,
  pageSize: PAGE_SIZE,
  pathOfNamed: (name) => searchPath(name, 1),
  // The list of an account has all of its repositories.
  pathOfOwned: async (owner) => `/users/${encodeURIComponent(owner)}/repos`,
  searchPath: (name) => searchPath(name, 1),
  record: gogsSchema.transform(toRecord),
};

/** An instance of Gogs. It reports neither languages nor topics, licenses or whether a repository is archived. */
export function createGogs(settings: ProviderSettings, connection: Connection): Provider {
  return createRestProvider(GOGS, settings, restClient(GOGS, settings, connection));
}

/**
 * Pages in whatever order the instance has, so a repository may be missed while others are added or removed before it; the next
 * walk sees it. Cursors are `page:mark`, with the id of the first row of an earlier page.
 */
function listByPage(cursor: string | null): ListRequest {
  const [, number, mark = ""] = /^([1-9]\d{0,8}):(\d{1,19})$/.exec(cursor ?? "") ?? [];
  const page = Number(number ?? 1);
  return {
    path: searchPath(ANY_NAME, page),
    page,
    next: (list) => {
      const first = list.records[0]?.repository.providerId;
      checkWithin(page, list);
      if (!list.hasMore || first === undefined) return null;
      // An instance that ignores the page sends the first one again.
      return `${page + 1}:${nextMark({ page, mark }, first)}`;
    },
  };
}
