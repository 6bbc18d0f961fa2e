import { type RawBuilder, sql } from "kysely";
import {
  BatchSize,
  type BulkRow,
  type BulkTable,
  type Db,
  type Dialect,
  type MergedTable,
  type Tx,
} from "../../database/database.js";
import type { Contribution } from "../../growth/growth.js";
import type { Run } from "../../repositories/repositories.js";
import { FACET_KINDS, type FacetKind } from "./read.js";

/** The contribution of one repository to the facets. */
export type FacetPart = Pick<Contribution, "provider" | "language" | "topics" | "stars" | "gained">;

const SUMMED = ["repositories", "stars", "stars_gained_24h", "stars_gained_7d", "stars_gained_30d"] as const;
const KEY = { kind: "text", provider: "text", name: "text" } as const;
const FACETS: BulkTable = {
  table: "facets",
  columns: {
    ...KEY,
    name_key: "text",
    repositories: "bigint",
    stars: "bigint",
    stars_gained_24h: "bigint",
    stars_gained_7d: "bigint",
    stars_gained_30d: "bigint",
  },
  key: Object.keys(KEY),
};

/** The same, with sums that are added to the stored ones. */
const ADDED: MergedTable = {
  ...FACETS,
  sets: SUMMED.map((name) => `${name} = facets.${name} + excluded.${name}`).join(", "),
};

/** The index of the first sum in a row. */
const FIRST_SUM = Object.keys(FACETS.columns).length - SUMMED.length;

type StoredFacet = { kind: FacetKind; provider: string; name: string } & Record<
  (typeof SUMMED)[number],
  number
>;

/** Rows in one transaction, and rows read at a time. */
const ROWS = { least: 250, most: 4_000 };
const READ = 10_000;

/** The sums of SUMMED by name. */
type SumsByName = Map<string, Float64Array>;

/** Sums of contributions by kind, provider (and all providers together) and name. */
export class FacetSums {
  /** By kind and provider; those of all providers are added up at the end. */
  readonly #sums: Readonly<Record<FacetKind, Map<string, SumsByName>>> = {
    language: new Map(),
    topic: new Map(),
  };

  add(part: FacetPart): void {
    this.#add(part, 1);
  }

  subtract(part: FacetPart): void {
    this.#add(part, -1);
  }

  #add(part: FacetPart, sign: 1 | -1): void {
    const { provider, language, topics } = part;
    const values = [1, part.stars, part.gained["24h"], part.gained["7d"], part.gained["30d"]];
    const addTo = (byName: SumsByName, name: string) => {
      const sums = entryOf(byName, name, newSum);
      for (let i = 0; i < SUMMED.length; i++) sums[i] = (sums[i] ?? 0) + sign * (values[i] ?? 0);
    };
    if (language !== null) addTo(entryOf(this.#sums.language, provider, newSums), language);
    if (topics.length === 0) return;
    const sums = entryOf(this.#sums.topic, provider, newSums);
    for (const topic of topics) addTo(sums, topic);
  }

  /** Rows with sums other than zero, by the text of their keys. */
  #rows(): Map<string, BulkRow> {
    const rows = new Map<string, BulkRow>();
    for (const kind of FACET_KINDS) {
      const totals = newSums();
      const add = (provider: string, name: string, sums: Float64Array) => {
        if (sums.some((sum) => sum !== 0))
          rows.set(keyText(kind, provider, name), [kind, provider, name, name.toLowerCase(), ...sums]);
      };
      for (const [provider, byName] of this.#sums[kind]) {
        for (const [name, sums] of byName) {
          const total = entryOf(totals, name, newSum);
          for (let i = 0; i < SUMMED.length; i++) total[i] = (total[i] ?? 0) + (sums[i] ?? 0);
          add(provider, name, sums);
        }
      }
      for (const [name, sums] of totals) add("", name, sums);
    }
    return rows;
  }

  /** Replaces all facets by the sums. Those that stay the same are not written. */
  async replaceAll(db: Db, run: Run, dialect: Dialect): Promise<void> {
    const rows = this.#rows();
    const gone: BulkRow[] = [];
    for await (const stored of storedFacets(db)) {
      const { kind, provider, name } = stored;
      const key = keyText(kind, provider, name);
      const own = rows.get(key);
      if (own === undefined) gone.push([kind, provider, name]);
      else if (SUMMED.every((column, i) => stored[column] === own[FIRST_SUM + i])) rows.delete(key);
    }
    const size = new BatchSize(dialect, ROWS);
    await run.stepThrough(inOrder(rows), size, (tx, part) => dialect.upsert(tx, FACETS, part));
    await run.stepThrough(gone, size, (tx, keys) => deleteFacets(tx, dialect, { keys }));
  }

  /** Adds the sums to the stored facets, and deletes facets left without a repository. */
  async applyTo(run: Run, dialect: Dialect): Promise<void> {
    await run.stepThrough(inOrder(this.#rows()), new BatchSize(dialect, ROWS), async (tx, rows) => {
      await dialect.merge(tx, ADDED, rows);
      const fewer = rows.filter(([, , , , repositories]) => Number(repositories) < 0);
      const keys = fewer.map((row) => row.slice(0, FACETS.key.length));
      await deleteFacets(tx, dialect, { keys, condition: sql`repositories <= 0` });
    });
  }
}

const newSums = (): SumsByName => new Map();
const newSum = (): Float64Array => new Float64Array(SUMMED.length);

/** The value of a key, made if it is missing. */
function entryOf<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

const keyText = (kind: FacetKind, provider: string, name: string): string => `${kind} ${provider} ${name}`;

/** In the order of their keys, as neighbours share database pages. */
function inOrder(rows: ReadonlyMap<string, BulkRow>): BulkRow[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

/** All stored facets, some at a time. */
async function* storedFacets(db: Db): AsyncGenerator<StoredFacet> {
  for (let last: readonly string[] = ["", "", ""]; ; ) {
    const { rows } =
      await sql<StoredFacet>`select kind, provider, name, ${sql.raw(SUMMED.join(", "))} from facets
      where (kind, provider, name) > (${sql.join(last)}) order by kind, provider, name limit ${READ}`.execute(
        db,
      );
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < READ) return;
    last = [end.kind, end.provider, end.name];
  }
}

async function deleteFacets(
  tx: Tx,
  dialect: Dialect,
  { keys, condition = sql`true` }: { keys: readonly BulkRow[]; condition?: RawBuilder<unknown> },
): Promise<void> {
  if (keys.length === 0) return;
  const listed = dialect.rowsOf(KEY, keys);
  await sql`delete from facets where (kind, provider, name) in (${listed}) and ${condition}`.execute(tx);
}
