/** Looks for the repositories of an owner, or with a name, by one search. */
import type { ForgeClient } from "../client.js";
import { NAMED_ROWS, SOUGHT_ROWS, type Sought, type SoughtList } from "../contract.js";
import { searchRepositories } from "./discover.js";
import { fromRest } from "./repository.js";

/** Quotes keep what is looked for from being a qualifier of the search. */
export async function seek(client: ForgeClient, sought: Sought, signal: AbortSignal): Promise<SoughtList> {
  const [q, per_page] =
    "owner" in sought
      ? [`user:"${sought.owner}" fork:true is:public`, SOUGHT_ROWS]
      : [`"${sought.name}" in:name is:public`, NAMED_ROWS];
  const { page, rows } = await searchRepositories(client, { q, per_page, page: 1 }, signal);
  return { repositories: rows.flatMap((row) => fromRest(row) ?? []), total: page.total_count };
}
