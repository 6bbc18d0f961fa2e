import { repositoryId } from "../catalog/catalog.js";
import { invalidParameter } from "../errors.js";
import { type Scope, type WatchlistQuery, watchlistPage } from "../lists/lists.js";
import type { Modules } from "../modules.js";
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

/** The ids of repositories that exist; throws VALIDATION_FAILED with the others, as they were written. */
export async function existingIds(
  { catalog }: Modules,
  ids: readonly string[],
  parameter = "ids",
): Promise<number[]> {
  const numbers = ids.map((id) => repositoryId(id) ?? 0);
  const found = await catalog.findMany(numbers);
  const known = new Set(found.map((repository) => repository.id));
  const values = ids.filter((_, i) => !known.has(numbers[i] ?? 0));
  if (values.length > 0) throw invalidParameter(parameter, "no repository has this id", { values });
  return numbers;
}
