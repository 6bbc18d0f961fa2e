/**
 * Hidden repositories: rules of operators, by name, owner or the beginning of names, and the repositories that they hide. A hidden one
 * has the availability HIDDEN, which every reader leaves out or shows blank, and stays as it was: nothing is recorded about it. Owns
 * the tables `hiding_rules` and `hidden_repositories`, whose rows have the availability that the repository gets back.
 */
import { sql } from "kysely";
import { type Database, type Db, type Dialect, readNumber, type Tx } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { markOutdated, noteChanges, noteRemoved } from "./changes.js";
import { fullNameKey, nameKey, providerName, splitFullName } from "./record-rules.js";
import { fromRow, type Repository } from "./repository.js";

/** The names that a rule is about. */
export interface HidingTarget {
  provider: string;
  /** A folded name, or its beginning. */
  key: string;
  isPrefix: boolean;
  /** `forge:owner/name`, `forge:owner` or `forge:owner/prefix*`. */
  text: string;
}

/** Parses a target; undefined if malformed. */
export function readHidingTarget(text: string): HidingTarget | undefined {
  const [prefix = "", ...others] = text.trim().split(":");
  const provider = providerName(prefix);
  const rest = others.join(":");
  const isStarred = rest.endsWith("*");
  const name = isStarred ? rest.slice(0, -1) : rest;
  if (provider === undefined || name.includes("*") || (isStarred && !name.includes("/"))) return undefined;
  const isOwner = !name.includes("/");
  const isPrefix = isStarred || isOwner;
  // The shortest name that the target matches must be possible.
  const start = isOwner ? `${name}/` : name;
  if (splitFullName(isPrefix && start.endsWith("/") ? `${start}x` : start) === undefined) return undefined;
  return { provider, key: fullNameKey(start), isPrefix, text: `${provider.toLowerCase()}:${rest}` };
}

export const HIDING_FORMS = "forge:owner/name, forge:owner or forge:owner/prefix*";

export interface HidingRule extends HidingTarget {
  id: number;
  /** Only operators see it, and the note. */
  reason: string;
  note: string | null;
  /** `cli` and a user of the machine, or the id of an account; empty: an operator without one. */
  by: string;
  hiddenAt: number;
  /** When it ends; null: never. */
  endsAt: number | null;
  /** How many repositories it hides. */
  repositories: number;
}

/** The longest reason and note. */
export const MAX_REASON = 500;
export const MAX_NOTE = 2_000;

export type NewHidingRule = Pick<HidingRule, "reason" | "note" | "by" | "endsAt"> & { target: HidingTarget };

/** What a rule would hide. */
export interface HidingPreview {
  repositories: number;
  /** Some of their names, those with most stars first. */
  names: string[];
  /** Watchlists that they are on. */
  watchlists: number;
}

const NAMES_SHOWN = 5;

/** What a rule would hide, in words. */
export function hiddenWords({ repositories, names, watchlists }: HidingPreview): string {
  const more = repositories > names.length ? ` and ${repositories - names.length} more` : "";
  const list = names.length === 0 ? "" : ` (${names.join(", ")}${more})`;
  return `${repositoriesText(repositories)}${list}, on ${watchlists} watchlist${watchlists === 1 ? "" : "s"}`;
}

/** "1 repository", "2 repositories". */
export const repositoriesText = (count: number): string =>
  count === 1 ? "1 repository" : `${count} repositories`;

/** The rules in force, in memory, for the names that a batch has. */
export class HidingRules {
  readonly #exact = new Map<string, number>();
  readonly #prefixes: { id: number; start: string }[] = [];

  private constructor(
    rows: readonly { id: number; provider: string; name_key: string; is_prefix: number }[],
  ) {
    for (const { id, provider, name_key, is_prefix } of rows)
      if (is_prefix === 1) this.#prefixes.push({ id, start: `${provider} ${name_key}` });
      else this.#exact.set(`${provider} ${name_key}`, id);
  }

  /** Those that have not ended. */
  static async read(db: Db, now: number): Promise<HidingRules> {
    const rows = db.selectFrom("hiding_rules").select(["id", "provider", "name_key", "is_prefix"]);
    const open = rows.where((where) => where.or([where("ends_at", "is", null), where("ends_at", ">", now)]));
    return new HidingRules(await open.execute());
  }

  /** The ids of the rules about a name. */
  of({ provider, owner, name }: { provider: string; owner: string; name: string }): number[] {
    if (this.#exact.size === 0 && this.#prefixes.length === 0) return [];
    const key = `${provider} ${nameKey(owner, name)}`;
    const exact = this.#exact.get(key);
    const others = this.#prefixes.filter(({ start }) => key.startsWith(start)).map(({ id }) => id);
    return exact === undefined ? others : [exact, ...others];
  }
}

/** The rules of operators, and what they hide. */
export class Hiding {
  constructor(
    private readonly database: Database,
    private readonly clock: Pick<Clock, "now">,
  ) {}

  /** All rules, the latest first. */
  async rules(): Promise<HidingRule[]> {
    const rows = await this.database.read
      .selectFrom("hiding_rules as h")
      .selectAll()
      .select(({ selectFrom, fn }) =>
        selectFrom("hidden_repositories as r")
          .whereRef("r.rule_id", "=", "h.id")
          .select(fn.countAll().as("count"))
          .as("repositories"),
      )
      .orderBy("id", "desc")
      .execute();
    return rows.map(({ name_key, is_prefix, target, made_by, hidden_at, ends_at, repositories, ...row }) => ({
      ...{ ...row, key: name_key, isPrefix: is_prefix === 1, text: target, by: made_by },
      ...{ hiddenAt: hidden_at, endsAt: ends_at, repositories: Number(repositories ?? 0) },
    }));
  }

  /** When a rule was made, or has hidden a repository that took such a name: copies from before may have it. 0: there are no rules. */
  since(): Promise<number> {
    const latest = sql`select max(at) from (select hidden_at as at from hiding_rules union all
      select c.removed_at from hidden_repositories h join changes c on c.repository_id = h.repository_id) as times`;
    return readNumber(this.database.read, latest);
  }

  /** The repository with a name if it is hidden, for operators; with its facts, unlike in all that others read. */
  async find({
    provider,
    fullName,
  }: {
    provider: string;
    fullName: string;
  }): Promise<Repository | undefined> {
    const rows = this.database.read
      .selectFrom("repositories")
      .selectAll()
      .where("availability", "=", "HIDDEN");
    const named = rows.where("provider", "=", provider).where("name_key", "=", fullNameKey(fullName));
    const row = await named.executeTakeFirst();
    return row && { ...fromRow({ ...row, availability: "AVAILABLE" }), availability: "HIDDEN" };
  }

  /** What a rule with this target would hide. Costs reading the names of a forge, unless it is about one name. */
  async preview(target: HidingTarget): Promise<HidingPreview> {
    const { read, dialect } = this.database;
    const ids = await idsOf(read, dialect, target);
    const here = dialect.among(sql.ref("id"), ids);
    const { rows } = await sql<{ name: string }>`select owner || '/' || name as name from repositories
      where ${here} order by coalesce(stars, -1) desc, id limit ${NAMES_SHOWN}`.execute(read);
    const lists = sql`select count(distinct watchlist_id) from watchlist_items
      where ${dialect.among(sql.ref("repository_id"), ids)}`;
    const watchlists = await readNumber(read, lists);
    return { repositories: ids.length, names: rows.map(({ name }) => name), watchlists };
  }

  /** Adds a rule, and hides what it matches, in one transaction. Throws CONFLICT for a target that has a rule. */
  async hide({ target, reason, note, by: made_by, endsAt: ends_at }: NewHidingRule): Promise<void> {
    const { dialect, write } = this.database;
    const now = this.clock.now();
    const { provider, key: name_key, isPrefix, text } = target;
    const rule = { provider, name_key, is_prefix: Number(isPrefix), target: text, reason, note, made_by };
    await dialect.exclusively(write, "catalogue", async (tx) => {
      await endHiding(tx, dialect, now);
      if ((await ruleOf(tx, target)) !== undefined)
        throw new AppError("CONFLICT", `${text} is hidden already. Take that back first to change it.`);
      const inserted = tx.insertInto("hiding_rules").values({ ...rule, hidden_at: now, ends_at });
      const { id: ruleId } = await inserted.returning("id").executeTakeFirstOrThrow();
      await hideIds(tx, dialect, { ruleId, ids: await idsOf(tx, dialect, target), now });
    });
  }

  /**
   * Takes a rule back, in one transaction: what no other rule hides is as it was before. Returns how many repositories are shown again;
   * undefined if there is no such rule.
   */
  unhide(target: HidingTarget): Promise<number | undefined> {
    const { dialect, write } = this.database;
    return dialect.exclusively(write, "catalogue", async (tx) => {
      const id = await ruleOf(tx, target);
      return id === undefined ? undefined : endRule(tx, dialect, id);
    });
  }

  /** Those whose names a rule hides. */
  async among<T extends { owner: string; name: string }>(
    tx: Tx,
    provider: string,
    named: readonly T[],
  ): Promise<T[]> {
    if (named.length === 0) return [];
    const rules = await HidingRules.read(tx, this.clock.now());
    return named.filter(({ owner, name }) => rules.of({ provider, owner, name }).length > 0);
  }
}

async function ruleOf(tx: Tx, { provider, key, isPrefix }: HidingTarget): Promise<number | undefined> {
  const rules = tx.selectFrom("hiding_rules").select("id").where("provider", "=", provider);
  const rule = rules.where("name_key", "=", key).where("is_prefix", "=", Number(isPrefix));
  return (await rule.executeTakeFirst())?.id;
}

/** Hides repositories by a rule, with those that were joined to them. */
export async function hideIds(
  tx: Tx,
  dialect: Dialect,
  { ruleId, ids, now }: { ruleId: number; ids: readonly number[]; now: number },
): Promise<void> {
  if (ids.length === 0) return;
  const here = dialect.among(sql.ref("id"), ids);
  // Another rule may hide it: then its row has the availability to give back.
  await sql`insert into hidden_repositories (repository_id, rule_id, availability)
    select id, cast(${ruleId} as bigint), coalesce((select min(h.availability) from hidden_repositories h
      where h.repository_id = r.id), r.availability) from repositories r where ${here}
    on conflict do nothing`.execute(tx);
  await sql`update repositories set availability = 'HIDDEN' where ${here}`.execute(tx);
  // Growth belongs to another module, and is computed again when they are shown. Requests would tell that they are here.
  for (const table of ["rollups", "wanted"])
    await sql`delete from ${sql.table(table)} where ${dialect.among(sql.ref("repository_id"), ids)}`.execute(
      tx,
    );
  await noteRemoved(tx, dialect, ids, now);
}

/** Takes back the rules whose end has passed, in the caller's transaction. */
export async function endHiding(tx: Tx, dialect: Dialect, now: number): Promise<void> {
  const ended = await tx.selectFrom("hiding_rules").select("id").where("ends_at", "<=", now).execute();
  for (const { id } of ended) await endRule(tx, dialect, id);
}

async function endRule(tx: Tx, dialect: Dialect, ruleId: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`select repository_id as id from hidden_repositories h
    where rule_id = ${ruleId} and not exists (select 1 from hidden_repositories o
      where o.repository_id = h.repository_id and o.rule_id <> ${ruleId})`.execute(tx);
  const ids = rows.map(({ id }) => Number(id));
  // One whose name was taken meanwhile, and that has no id, is found by nothing: as every other such one.
  await sql`update repositories set availability = (
      select case when h.availability = 'AVAILABLE' and repositories.name_key is null
        and repositories.provider_id is null then 'GONE' else h.availability end
      from hidden_repositories h where h.repository_id = repositories.id and h.rule_id = ${ruleId})
    where ${dialect.among(sql.ref("id"), ids)}`.execute(tx);
  await tx.deleteFrom("hidden_repositories").where("rule_id", "=", ruleId).execute();
  await tx.deleteFrom("hiding_rules").where("id", "=", ruleId).execute();
  if (ids.length === 0) return 0;
  await markOutdated(tx, dialect, { rollups: ids });
  await noteChanges(tx, dialect, ids);
  // For those who follow the log, which they have left.
  await sql`update changes set added = revision where ${dialect.among(sql.ref("repository_id"), ids)}`.execute(
    tx,
  );
  return ids.length;
}

/**
 * The repositories that a target means now, with those that were joined to them. A name that nothing has now means the one that had it:
 * it leads there.
 */
async function idsOf(
  db: Db | Tx,
  dialect: Dialect,
  { provider, key, isPrefix }: HidingTarget,
): Promise<number[]> {
  const { rows } = await (isPrefix
    ? sql<Named>`select id, owner, name from repositories where provider = ${provider} and availability <> 'RENAMED'
        and (substr(name_key, 1, length(cast(${key} as text))) = ${key} or name_key is null)`
    : sql<Named>`select id, owner, name from repositories where provider = ${provider} and name_key = ${key}`
  ).execute(db);
  const found = rows.filter(({ owner, name }) => !isPrefix || nameKey(owner, name).startsWith(key));
  const first = found.length > 0 || isPrefix ? found.map(({ id }) => Number(id)) : await previousOf();
  const { rows: all } = await sql<{ id: number }>`with recursive joined (id) as (
      select id from repositories where ${dialect.among(sql.ref("id"), first)}
      union select n.from_id from renames n join joined j on n.to_id = j.id)
    select id from joined order by id`.execute(db);
  return all.map(({ id }) => Number(id));

  async function previousOf(): Promise<number[]> {
    const { rows: previous } = await sql<{ id: number }>`select p.repository_id as id from previous_names p
      join repositories r on r.id = p.repository_id where p.provider = ${provider} and p.name_key = ${key}
        and r.availability <> 'RENAMED' order by p.until desc limit 1`.execute(db);
    return previous.map(({ id }) => Number(id));
  }
}

interface Named {
  id: number;
  owner: string;
  name: string;
}
