import { repositoryId } from "../catalog/catalog.js";
import { invalidParameter } from "../errors.js";
import { type Scope, type WatchlistQuery, watchlistPage } from "../lists/lists.js";
import type { Modules } from "../modules.js";
import { UnknownRepositories } from "../watchlists/watchlists.js";
import type { ApiContext } from "./endpoint.js";
import { pageView, type RepositoryPageView } from "./repository-list.js";

/** A page of the repositories of a list, with their growth. */
export async function answerWatchlistPage(
  context: ApiContext,
  modules: Modules,
  scope: Scope,
  query: WatchlistQuery,
): Promise<RepositoryPageView> {
  return pageView(context, await watchlistPage(modules, scope, query), query);
}

/** An identifier that passed validation, as a number; 0, which no repository has, for one too large for any. */
export function idNumber(text: string): number {
  return repositoryId(text) ?? 0;
}

/** Reports repositories that do not exist as a fault of the parameter; `texts`: their ids as written in the request. */
export async function namingUnknown<T>(
  parameter: string,
  texts: readonly string[] | undefined,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof UnknownRepositories)) throw error;
    const values = texts?.filter((_, i) => error.indexes.includes(i));
    throw invalidParameter(parameter, error.message, values === undefined ? {} : { values });
  }
}
