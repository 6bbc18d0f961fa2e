import { sql } from "kysely";
import type { BulkColumns, BulkRow, Database, Db, Dialect, PositionTable, Tx } from "../database/database.js";
import { type Ranking, type Standing, TABLES, type Table } from "./standings.js";
import { type Entry, isBefore, TopList } from "./top-list.js";
import { WINDOW_HOURS, type Window, windowOfHours } from "./windows.js";

export const RANK_SCOPES = ["overall", "provider", "language", "topic"] as const;
export type RankScope = (typeof RANK_SCOPES)[number];

/** How many places of each scope are shown. A repository further down has no place there. */
export const PLACES: Readonly<Record<RankScope, number>> = {
  overall: 1_000,
  provider: 1_000,
  language: 200,
  topic: 50,
};
/** So many more are kept, as a part, so that those that fall out can be replaced without looking at all. */
const RESERVE = 1.25;
/** Only the most frequent topics have places. */
const RANKED_TOPICS = 1_000;

/** A repository's place in one ranking. */
export interface Rank {
  ranking: Ranking;
  /** null for the ranking by stars. */
  window: Window | null;
  scope: RankScope;
  /** Which provider, language or topic; null overall. */
  name: string | null;
  /** From 1. */
  position: number;
}

/** One list of a table, as it is kept. */
interface List {
  scope: RankScope;
  name: string;
  /** The first ones, best first. */
  entries: readonly Entry[];
  /** Whether there are no others. */
  isWhole: boolean;
}

export interface CollectedTable {
  table: Table;
  lists: List[];
}

const keptOf = (scope: RankScope): number => Math.ceil(PLACES[scope] * RESERVE);
const keyOf = (scope: string, name: string): string => `${scope} ${name}`;
const hoursOf = ({ window }: Table): number => (window === null ? 0 : WINDOW_HOURS[window]);

/** The topics that have places: the most frequent ones, by name where equally frequent. */
export async function readRankedTopics(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ topic: string }>`select topic from repository_topics group by topic
    order by count(*) desc, topic limit ${RANKED_TOPICS}`.execute(db);
  return new Set(rows.map((row) => row.topic));
}

function scopesOf(standing: Standing, topics: ReadonlySet<string>): [RankScope, string][] {
  const scopes: [RankScope, string][] = [
    ["overall", ""],
    ["provider", standing.provider],
  ];
  if (standing.language !== null) scopes.push(["language", standing.language]);
  for (const topic of standing.topics) if (topics.has(topic)) scopes.push(["topic", topic]);
  return scopes;
}

/** Collects the first places of every list from the standings of all repositories, in whatever order they come. */
export class PlaceCollector {
  readonly #topics: ReadonlySet<string>;
  readonly #lists = TABLES.map(() => new Map<string, { scope: RankScope; name: string; top: TopList }>());

  constructor(topics: ReadonlySet<string>) {
    this.#topics = topics;
  }

  add(standing: Standing): void {
    const scopes = scopesOf(standing, this.#topics);
    for (const [i, lists] of this.#lists.entries()) {
      const value = standing.values[i];
      if (value === null || value === undefined) continue;
      for (const [scope, name] of scopes) {
        const key = keyOf(scope, name);
        let list = lists.get(key);
        if (list === undefined) {
          list = { scope, name, top: new TopList(keptOf(scope)) };
          lists.set(key, list);
        }
        list.top.offer(value, standing.repositoryId);
      }
    }
  }

  tables(): CollectedTable[] {
    return TABLES.map((table, i) => ({
      table,
      lists: [...(this.#lists[i]?.values() ?? [])].map(({ scope, name, top }) => ({
        scope,
        name,
        entries: top.entries(),
        isWhole: top.isWhole,
      })),
    }));
  }
}

const COLUMNS: BulkColumns = {
  ranking: "text",
  window_hours: "bigint",
  scope: "text",
  scope_name: "text",
  position: "bigint",
  repository_id: "bigint",
  value: "bigint",
};
const KEY = ["ranking", "window_hours", "scope", "scope_name", "position"];

/** Puts the lists of a table in the place of all that it had. */
export async function replacePlaces(
  tx: Tx,
  dialect: Dialect,
  { table, lists }: CollectedTable,
): Promise<void> {
  for (const name of ["positions", "position_ends"] as const) {
    await tx
      .deleteFrom(name)
      .where("ranking", "=", table.ranking)
      .where("window_hours", "=", hoursOf(table))
      .execute();
  }
  for (const list of lists) await writeList(tx, dialect, table, list, []);
}

/** Writes the rows of a list that differ from those before. */
async function writeList(
  tx: Tx,
  dialect: Dialect,
  table: Table,
  list: List,
  before: readonly Entry[],
): Promise<void> {
  const here = [table.ranking, hoursOf(table), list.scope, list.name] as const;
  const rows = list.entries.flatMap((entry, i): BulkRow[] => {
    const same = before[i]?.id === entry.id && before[i]?.value === entry.value;
    return same ? [] : [[...here, i + 1, entry.id, entry.value]];
  });
  if (rows.length > 0) await dialect.upsert(tx, "positions", COLUMNS, KEY, rows);
  const [ranking, hours, scope, name] = here;
  if (before.length > list.entries.length) {
    await sql`delete from positions where ranking = ${ranking} and window_hours = ${hours} and scope = ${scope}
      and scope_name = ${name} and position > ${list.entries.length}`.execute(tx);
  }
  const last = list.entries.at(-1);
  if (list.isWhole || last === undefined) return;
  await sql`insert into position_ends (ranking, window_hours, scope, scope_name, value, repository_id)
    values (${ranking}, ${hours}, ${scope}, ${name}, ${last.value}, ${last.id})
    on conflict (ranking, window_hours, scope, scope_name)
    do update set value = excluded.value, repository_id = excluded.repository_id`.execute(tx);
}

/**
 * Moves the repositories `ids` to the places that their standings give them; those without a standing lose theirs. The
 * cost follows their number and that of the kept places, not that of all repositories. Returns false, and changes
 * nothing, when a list would have too few places left to tell who comes next.
 */
export async function mergePlaces(
  tx: Tx,
  dialect: Dialect,
  ids: readonly number[],
  standings: readonly Standing[],
): Promise<boolean> {
  const topics = await rankedTopics(tx, standings);
  const changed = new Set(ids);
  const held = await tx
    .selectFrom("positions")
    .select(["ranking", "window_hours", "scope", "scope_name"])
    .distinct()
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  const ends = await tx.selectFrom("position_ends").selectAll().execute();
  const writes: (() => Promise<void>)[] = [];
  for (const [i, table] of TABLES.entries()) {
    const isHere = (row: { ranking: string; window_hours: number }) =>
      row.ranking === table.ranking && row.window_hours === hoursOf(table);
    const endsHere = new Map(
      ends
        .filter(isHere)
        .map((row) => [keyOf(row.scope, row.scope_name), { id: row.repository_id, value: row.value }]),
    );
    const touched = new Map<string, Touched>();
    const touch = (scope: RankScope, name: string): Touched => {
      const key = keyOf(scope, name);
      const known = touched.get(key) ?? { scope, name, added: [], before: [], end: endsHere.get(key) };
      touched.set(key, known);
      return known;
    };
    for (const row of held) if (isHere(row)) touch(row.scope as RankScope, row.scope_name);
    for (const standing of standings) {
      const value = standing.values[i];
      if (value === null || value === undefined) continue;
      const entry = { id: standing.repositoryId, value };
      for (const [scope, name] of scopesOf(standing, topics)) {
        const end = endsHere.get(keyOf(scope, name));
        if (end === undefined || isBefore(entry, end)) touch(scope, name).added.push(entry);
      }
    }
    await readLists(tx, dialect, table, touched);
    for (const list of touched.values()) {
      const merged = mergeList(list, changed);
      if (merged === undefined) return false;
      writes.push(() => writeList(tx, dialect, table, merged, list.before));
    }
  }
  for (const write of writes) await write();
  return true;
}

/** The topics with places: those that had them when all were made, and new ones while there are few. */
async function rankedTopics(tx: Tx, standings: readonly Standing[]): Promise<Set<string>> {
  const rows = await tx
    .selectFrom("positions")
    .select("scope_name")
    .distinct()
    .where("ranking", "=", "stars")
    .where("window_hours", "=", 0)
    .where("scope", "=", "topic")
    .execute();
  const topics = new Set(rows.map((row) => row.scope_name));
  for (const topic of standings.flatMap((standing) => standing.topics)) {
    if (topics.size < RANKED_TOPICS) topics.add(topic);
  }
  return topics;
}

/** A list in which something may change. */
interface Touched {
  scope: RankScope;
  name: string;
  added: Entry[];
  before: Entry[];
  /** What comes after this one is not known; undefined: the list is whole. */
  end: Entry | undefined;
}

async function readLists(
  tx: Tx,
  dialect: Dialect,
  table: Table,
  touched: ReadonlyMap<string, Touched>,
): Promise<void> {
  if (touched.size === 0) return;
  const names = [...touched.values()].map(({ scope, name }): BulkRow => [scope, name]);
  const { rows } = await sql<PositionTable>`
    select p.scope, p.scope_name, p.position, p.repository_id, p.value
    from (${dialect.rowsOf({ scope: "text", scope_name: "text" }, names)}) as n
    cross join positions p where p.scope = n.scope and p.scope_name = n.scope_name
      and p.ranking = ${table.ranking} and p.window_hours = ${hoursOf(table)}`.execute(tx);
  for (const { scope, scope_name, position, repository_id, value } of rows) {
    const list = touched.get(keyOf(scope, scope_name));
    if (list !== undefined) list.before[position - 1] = { id: repository_id, value };
  }
}

/** The list as it is then; undefined where it cannot be told. */
function mergeList(list: Touched, changed: ReadonlySet<number>): List | undefined {
  const { scope, name, added, before, end } = list;
  const entries = [...before.filter((entry) => !changed.has(entry.id)), ...added].sort((a, b) =>
    isBefore(a, b) ? -1 : 1,
  );
  const kept = keptOf(scope);
  if (end !== undefined && entries.length < PLACES[scope]) return undefined;
  if (entries.length > kept) return { scope, name, entries: entries.slice(0, kept), isWhole: false };
  // The end stays where it was: what came after it is still after it.
  return { scope, name, entries, isWhole: true };
}

/** All present places of a repository, by ranking, window and scope. */
export async function readRanks(database: Database, repositoryId: number): Promise<Rank[]> {
  const rows = await database.read
    .selectFrom("positions")
    .selectAll()
    .where("repository_id", "=", repositoryId)
    .orderBy("ranking")
    .orderBy("window_hours")
    .orderBy("scope")
    .orderBy("scope_name")
    .execute();
  return rows.flatMap(({ ranking, window_hours, scope, scope_name, position }): Rank[] => {
    const within = scope as RankScope;
    if (position > PLACES[within]) return [];
    const name = scope_name === "" ? null : scope_name;
    return [
      {
        ranking: ranking as Ranking,
        window: windowOfHours(window_hours) ?? null,
        scope: within,
        name,
        position,
      },
    ];
  });
}
