/** Looks for the repositories of an owner, with a name, or with several full names, by one search. */
import type { ForgeClient } from "../client.js";
import {
  NAMED_ROWS,
  SOUGHT_ROWS,
  type Sought,
  type SoughtList,
  type UpstreamRepository,
} from "../contract.js";
import { searchRepositories } from "./discover.js";
import { fromRest } from "./repository.js";

/** Quotes keep the text from being a qualifier of the search. */
export async function seek(client: ForgeClient, sought: Sought, signal: AbortSignal): Promise<SoughtList> {
  const [q, per_page] =
    "owner" in sought
      ? [`user:"${sought.owner}" fork:true is:public`, SOUGHT_ROWS]
      : [`"${sought.name}" in:name is:public`, NAMED_ROWS];
  const { page, rows } = await searchRepositories(client, { q, per_page, page: 1 }, signal);
  return { repositories: rows.flatMap((row) => fromRest(row) ?? []), total: page.total_count };
}

export const MAX_NAMES = 10;
/** GitHub's limit for a query. */
const MAX_QUERY = 256;

/** See `Provider.findNamed`. Throws `gone` if GitHub refuses the search, which it may do because of one of the names. */
export async function findNamed(
  client: ForgeClient,
  fullNames: readonly string[],
  signal: AbortSignal,
): Promise<{ asked: number; repositories: UpstreamRepository[] }> {
  let q = "fork:true";
  let asked = 0;
  for (const fullName of fullNames.slice(0, MAX_NAMES)) {
    // Nothing else may get into the query; such a name is of no repository.
    const added = /^[\w.-]+\/[\w.-]+$/.test(fullName) ? `repo:${fullName} ` : "";
    if (added.length + q.length > MAX_QUERY) break;
    q = added + q;
    asked++;
  }
  if (!q.startsWith("repo:")) return { asked, repositories: [] };
  const { rows } = await searchRepositories(client, { q, per_page: MAX_NAMES, page: 1 }, signal);
  return { asked, repositories: rows.flatMap((row) => fromRest(row) ?? []) };
}
