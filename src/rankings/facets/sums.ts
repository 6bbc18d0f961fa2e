import { sql } from "kysely";
import { type BulkRow, type BulkTable, type Dialect, mergeRows, type Tx } from "../../database/database.js";
import type { Contribution } from "../contributions.js";
import type { FacetKind } from "./read.js";

/** What one repository contributes to the facets. */
export type FacetPart = Pick<Contribution, "provider" | "language" | "topics" | "stars" | "gained">;

const SUMMED = {
  repositories: "bigint",
  stars: "bigint",
  stars_gained_24h: "bigint",
  stars_gained_7d: "bigint",
  stars_gained_30d: "bigint",
} as const;
const FACETS: BulkTable = {
  table: "facets",
  columns: { kind: "text", provider: "text", name: "text", name_key: "text", ...SUMMED },
  key: ["kind", "provider", "name"],
};

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
    const text = key.join(" ");
    let entry = this.#sums.get(text);
    if (entry === undefined) {
      entry = { key, sums: values.map(() => 0) };
      this.#sums.set(text, entry);
    }
    const { sums } = entry;
    for (const [i, value] of values.entries()) sums[i] = (sums[i] ?? 0) + value;
  }

  #rows(): BulkRow[] {
    return [...this.#sums.values()]
      .filter(({ sums }) => sums.some((sum) => sum !== 0))
      .map(({ key: [kind, provider, name], sums }) => [kind, provider, name, name.toLowerCase(), ...sums]);
  }

  /** Replaces all facets by the sums. */
  async replaceAll(tx: Tx, dialect: Dialect): Promise<void> {
    await tx.deleteFrom("facets").execute();
    await dialect.insertNew(tx, FACETS, this.#rows());
  }

  /** Adds the sums to the stored facets, and deletes facets left without a repository. */
  async applyTo(tx: Tx, dialect: Dialect): Promise<void> {
    const rows = this.#rows();
    if (rows.length === 0) return;
    const sets = sql.join(
      Object.keys(SUMMED).map(
        (name) => sql`${sql.ref(name)} = ${sql.ref(`facets.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
      ),
    );
    await mergeRows(tx, dialect, { ...FACETS, rows, sets });
    await tx.deleteFrom("facets").where("repositories", "<=", 0).execute();
  }
}
