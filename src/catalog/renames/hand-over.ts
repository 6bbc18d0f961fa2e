import { sql } from "kysely";
import type { Dialect, Tx } from "../../database/database.js";
import { nameKey } from "../repository.js";
import { continuing } from "./join.js";
import type { Pair } from "./store.js";

interface FormerName {
  name_key: string;
  full_name: string;
  until: number;
}

/** Makes the names of the earlier repository previous names of the later one, so that they lead there. */
export async function handOverNames(tx: Tx, dialect: Dialect, { fromId, toId }: Pair): Promise<void> {
  const names = await namesOf(tx, fromId);
  await tx.updateTable("repositories").set({ name_key: null }).where("id", "=", fromId).execute();
  for (const { id, provider } of await continuing(tx, dialect, toId)) {
    for (const { name_key, full_name, until } of names)
      await sql`insert into previous_names (repository_id, provider, name_key, full_name, until)
        select ${id}, ${provider}, ${name_key}, ${full_name}, ${until}
        where not exists (select 1 from repositories where id = ${id} and name_key = ${name_key})
        on conflict do nothing`.execute(tx);
  }
}

/** Gives them back. A name that another repository has taken meanwhile stays with that one. */
export async function takeNamesBack(tx: Tx, dialect: Dialect, { fromId, toId }: Pair): Promise<void> {
  const names = await namesOf(tx, fromId);
  for (const { id } of await continuing(tx, dialect, toId)) {
    for (const { name_key, until } of names)
      await tx
        .deleteFrom("previous_names")
        .where("repository_id", "=", id)
        .where("name_key", "=", name_key)
        .where("until", "=", until)
        .execute();
  }
  const { provider, owner, name } = await tx
    .selectFrom("repositories")
    .select(["provider", "owner", "name"])
    .where("id", "=", fromId)
    .executeTakeFirstOrThrow();
  const own = nameKey(owner, name);
  await sql`update repositories set name_key = ${own} where id = ${fromId}
    and not exists (select 1 from repositories where provider = ${provider} and name_key = ${own})`.execute(
    tx,
  );
}

/** The present name of a repository, until it was counted last, and its previous ones. */
async function namesOf(tx: Tx, id: number): Promise<FormerName[]> {
  const { owner, name, counted_at, discovered_at } = await tx
    .selectFrom("repositories")
    .select(["owner", "name", "counted_at", "discovered_at"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const previous = await tx
    .selectFrom("previous_names")
    .select(["name_key", "full_name", "until"])
    .where("repository_id", "=", id)
    .execute();
  const own = {
    name_key: nameKey(owner, name),
    full_name: `${owner}/${name}`,
    until: counted_at ?? discovered_at,
  };
  return [own, ...previous];
}
