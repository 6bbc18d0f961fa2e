import { type Catalog, type RenamedRepository, splitFullName } from "../catalog/catalog.js";
import { parseQuery } from "../search/search.js";
import type { ListSpec } from "./spec.js";

/** A name that was searched for, and the repository that continues it. */
export interface RenamedName {
  fullName: string;
  /** Whether that is only suspected. */
  isSuspected: boolean;
  to: RenamedRepository;
}

/** Most providers in which a name is looked up. */
const MOST_PROVIDERS = 5;

/**
 * Where a full name continues that was searched for: under another name, as a repository that is renamed is in no list. Undefined for
 * other texts. Costs a statement per provider or two.
 */
export async function findRenamed(
  catalog: Catalog,
  { scope, filters }: Pick<ListSpec, "scope" | "filters">,
  providers: readonly string[],
): Promise<RenamedName | undefined> {
  const fullName = scope.kind === "search" ? parseQuery(scope.text)?.fullName : undefined;
  if (fullName === undefined || splitFullName(fullName) === undefined) return undefined;
  const searched = filters.provider === undefined ? providers.slice(0, MOST_PROVIDERS) : [filters.provider];
  for (const provider of searched) {
    const found = await catalog.findByName(provider, fullName);
    if (found === undefined) continue;
    const { id, availability } = found.repository;
    if (found.isPreviousName) {
      const to = { id, provider, fullName: found.repository.fullName };
      return { fullName, isSuspected: false, to };
    }
    if (availability !== "RENAMED") return undefined;
    const renames = await catalog.renamesOf(id);
    const rename = renames.find(({ from, status }) => from.id === id && status === "SUSPECTED");
    if (rename !== undefined)
      return { fullName: found.repository.fullName, isSuspected: true, to: rename.to };
  }
  return undefined;
}
