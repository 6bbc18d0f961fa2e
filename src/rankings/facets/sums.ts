import { type RawBuilder, sql } from "kysely";
import type { Run } from "../../catalog/catalog.js";
import {
  BatchSize,
  type BulkRow,
  type BulkTable,
  type Db,
  type Dialect,
  mergeRows,
  type Tx,
} from "../../database/database.js";
import type { Contribution } from "../contributions.js";
import type { FacetKind } from "./read.js";

/** What one repository contributes to the facets. */
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

type StoredFacet = { kind: FacetKind; provider: string; name: string } & Record<
  (typeof SUMMED)[number],
  number
>;

/** Rows in one transaction, and rows read at a time. */
const ROWS = { least: 250, most: 4_000 };
const READ = 10_000;

/** Sums of contributions by kind, provider (and all providers together) and name. */
export class FacetSums {
  readonly #sums = new Map<string, { key: [FacetKind, string, string]; sums: number[] }>();

  add(part: FacetPart): void {
    this.#add(part, 1);
  }

  subtract(part: FacetPart): void {
    this.#add(part, -1);
  }

  #add({ provider, language, topics, stars, gained }: FacetPart, sign: 1 | -1): void {
    const values = [1, stars, gained["24h"], gained["7d"], gained["30d"]].map((value) => sign * value);
    for (const among of [provider, ""]) {
      if (language !== null) this.#addTo(["language", among, language], values);
      for (const topic of topics) this.#addTo(["topic", among, topic], values);
    }
  }

  #addTo(key: [FacetKind, string, string], values: readonly number[]): void {
    const text = keyText(key);
    let entry = this.#sums.get(text);
    if (entry === undefined) {
      entry = { key, sums: values.map(() => 0) };
      this.#sums.set(text, entry);
    }
    const { sums } = entry;
    for (const [i, value] of values.entries()) sums[i] = (sums[i] ?? 0) + value;
  }

  /** Rows in the order of their keys, as neighbours share database pages. */
  #rows(): BulkRow[] {
    return [...this.#sums]
      .filter(([, { sums }]) => sums.some((sum) => sum !== 0))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, { key, sums }]) => rowOf(key, sums));
  }

  /** Replaces all facets by the sums. Those that stay the same are not written. */
  async replaceAll(db: Db, run: Run, dialect: Dialect): Promise<void> {
    const gone: BulkRow[] = [];
    for await (const stored of storedFacets(db)) {
      const { kind, provider, name } = stored;
      const text = keyText([kind, provider, name]);
      const own = this.#sums.get(text);
      if (own === undefined) gone.push([kind, provider, name]);
      else if (SUMMED.every((column, i) => stored[column] === own.sums[i])) this.#sums.delete(text);
    }
    const size = new BatchSize(dialect, ROWS);
    await run.stepThrough(this.#rows(), size, (tx, rows) => dialect.upsert(tx, FACETS, rows));
    await run.stepThrough(gone, size, (tx, keys) => deleteFacets(tx, dialect, { keys }));
  }

  /** Adds the sums to the stored facets, and deletes facets left without a repository. */
  async applyTo(run: Run, dialect: Dialect): Promise<void> {
    const sets = sql.join(
      SUMMED.map(
        (name) => sql`${sql.ref(name)} = ${sql.ref(`facets.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
      ),
    );
    await run.stepThrough(this.#rows(), new BatchSize(dialect, ROWS), async (tx, rows) => {
      await mergeRows(tx, dialect, { ...FACETS, rows, sets });
      const fewer = rows.filter(([, , , , repositories]) => Number(repositories) < 0);
      const keys = fewer.map((row) => row.slice(0, FACETS.key.length));
      await deleteFacets(tx, dialect, { keys, condition: sql`repositories <= 0` });
    });
  }
}

const keyText = (key: readonly [FacetKind, string, string]): string => key.join(" ");

function rowOf(
  [kind, provider, name]: readonly [FacetKind, string, string],
  sums: readonly number[],
): BulkRow {
  return [kind, provider, name, name.toLowerCase(), ...sums];
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
