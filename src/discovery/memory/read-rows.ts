/** Reads the rows of the catalogue in memory. */
import { type RawBuilder, sql } from "kysely";
import { columns, type Database, type Prepared, type ValuesOf } from "../../database/database.js";
import { GROWTH_ORDER_COLUMNS, GROWTH_ORDERS, type Window, windowOfHours } from "../../growth/growth.js";

/** A repository as lists and search need it; times in ms since 1970. */
export type CatalogueRow = ReturnType<typeof rowOf>;

/** Its trend in one window. */
export interface GrowthRow {
  window: Window;
  /** In the order of GROWTH_ORDERS. */
  values: readonly (number | null)[];
  isReliable: boolean;
  isAnomalous: boolean;
}

const FACTS = columns("repositories", "r", [
  "id",
  "provider",
  "owner",
  "name",
  "description",
  "topics",
  "language",
  "license",
  "stars",
  "forks",
  "pushed_at",
  "created_at",
  "refreshed_at",
  "archived",
  "fork",
  "availability",
]);
const { at } = FACTS;
type RowValues = ValuesOf<typeof FACTS>;

const GROWTH = columns("rollups", "g", [
  "repository_id",
  "window_hours",
  "reliable",
  "anomalous",
  ...GROWTH_ORDERS.map((order) => GROWTH_ORDER_COLUMNS[order].column),
]);
type GrowthValues = [
  id: number,
  hours: number,
  reliable: number,
  anomalous: number,
  ...values: (number | null)[],
];

/** The next repositories after an id, or those with these ids. */
type Wanted = { after: number; limit: number } | { ids: readonly number[] };

/** Reads rows by two statements, one after the other: the growth may be newer than the facts. */
export class RowSource {
  readonly #next: readonly [
    Prepared<{ after: number; limit: number }, RowValues>,
    Prepared<Between, GrowthValues>,
  ];
  readonly #some: readonly [
    Prepared<readonly number[], RowValues>,
    Prepared<readonly number[], GrowthValues>,
  ];

  constructor({ prepare, dialect }: Database) {
    const facts = (where: RawBuilder<unknown>) =>
      sql<RowValues>`select ${FACTS.sql} from repositories r where ${where}`;
    const growth = (where: RawBuilder<unknown>) =>
      sql<GrowthValues>`select ${GROWTH.sql} from rollups g where ${where}`;
    this.#next = [
      prepare((given) =>
        facts(sql`r.id > ${given(({ after }) => after)} order by r.id limit ${given(({ limit }) => limit)}`),
      ),
      prepare((given) =>
        growth(
          sql`g.repository_id > ${given(({ after }) => after)} and g.repository_id <= ${given(({ last }) => last)}`,
        ),
      ),
    ];
    this.#some = [
      prepare((given) =>
        facts(
          dialect.among(
            sql`r.id`,
            given((ids) => ids),
          ),
        ),
      ),
      prepare((given) =>
        growth(
          dialect.among(
            sql`g.repository_id`,
            given((ids) => ids),
          ),
        ),
      ),
    ];
  }

  /** In the order of their ids if they are the next ones. */
  async read(wanted: Wanted): Promise<CatalogueRow[]> {
    const isNext = "after" in wanted;
    const facts = isNext ? await this.#next[0](wanted) : await this.#some[0](wanted.ids);
    const growth = new Map<number, GrowthRow[]>();
    const rows = facts.map((values) => {
      const own: GrowthRow[] = [];
      growth.set(values[at.id], own);
      return rowOf(values, own);
    });
    const last = rows.at(-1)?.id;
    if (last === undefined) return rows;
    const values = isNext
      ? await this.#next[1]({ after: wanted.after, last })
      : await this.#some[1](wanted.ids);
    for (const [id, hours, reliable, anomalous, ...numbers] of values) {
      const window = windowOfHours(hours);
      if (window === undefined) continue;
      growth.get(id)?.push({
        window,
        values: numbers,
        isReliable: reliable === 1,
        isAnomalous: anomalous === 1,
      });
    }
    return rows;
  }
}

interface Between {
  after: number;
  last: number;
}

function rowOf(values: RowValues, growth: readonly GrowthRow[]) {
  const topics = values[at.topics];
  return {
    id: values[at.id],
    provider: values[at.provider],
    owner: values[at.owner],
    name: values[at.name],
    description: values[at.description],
    topics: topics === "[]" ? NO_TOPICS : (JSON.parse(topics) as readonly string[]),
    language: values[at.language],
    license: values[at.license],
    stars: values[at.stars],
    forks: values[at.forks],
    pushedAt: values[at.pushed_at],
    createdAt: values[at.created_at],
    refreshedAt: values[at.refreshed_at],
    isArchived: values[at.archived] === 1,
    isFork: values[at.fork] === 1,
    /** Whether it is available. */
    isListed: values[at.availability] === "AVAILABLE",
    growth,
  };
}

const NO_TOPICS: readonly string[] = [];
