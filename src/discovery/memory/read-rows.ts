/** Reads what the catalogue in memory holds of repositories. */
import { type RawBuilder, sql } from "kysely";
import { columnsOf, type Database, type Prepared } from "../../database/database.js";
import { GROWTH_ORDER_COLUMNS, GROWTH_ORDERS, type Window, windowOfHours } from "../../growth/growth.js";

/** A repository as lists and search need it. */
export interface CatalogueRow {
  id: number;
  provider: string;
  owner: string;
  name: string;
  description: string | null;
  topics: readonly string[];
  language: string | null;
  license: string | null;
  stars: number | null;
  forks: number | null;
  /** Milliseconds since 1970. */
  pushedAt: number | null;
  createdAt: number | null;
  refreshedAt: number | null;
  isArchived: boolean;
  isFork: boolean;
  /** Whether it is available. */
  isListed: boolean;
  growth: readonly GrowthRow[];
}

/** Its trend in one window. */
export interface GrowthRow {
  window: Window;
  /** In the order of GROWTH_ORDERS. */
  values: readonly (number | null)[];
  isReliable: boolean;
  isAnomalous: boolean;
}

const COLUMNS = [
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
] as const;
type RowValues = [
  id: number,
  provider: string,
  owner: string,
  name: string,
  description: string | null,
  topics: string,
  language: string | null,
  license: string | null,
  stars: number | null,
  forks: number | null,
  pushedAt: number | null,
  createdAt: number | null,
  refreshedAt: number | null,
  archived: number | null,
  fork: number | null,
  availability: string,
];

const GROWTH_COLUMNS = [
  "repository_id",
  "window_hours",
  "reliable",
  "anomalous",
  ...GROWTH_ORDERS.map((order) => GROWTH_ORDER_COLUMNS[order].column),
];
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
      sql<RowValues>`select ${columnsOf("r", COLUMNS)} from repositories r where ${where}`;
    const growth = (where: RawBuilder<unknown>) =>
      sql<GrowthValues>`select ${columnsOf("g", GROWTH_COLUMNS)} from rollups g where ${where}`;
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
    const rows = facts.map((values) => rowOf(values, growth));
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

function rowOf(values: RowValues, growthOf: Map<number, GrowthRow[]>): CatalogueRow {
  const [id, provider, owner, name, description, topics, language, license] = values;
  const [stars, forks, pushedAt, createdAt, refreshedAt, archived, fork, availability] = values.slice(
    8,
  ) as Tail;
  const growth: GrowthRow[] = [];
  growthOf.set(id, growth);
  return {
    id,
    provider,
    owner,
    name,
    description,
    topics: topics === "[]" ? NO_TOPICS : JSON.parse(topics),
    language,
    license,
    stars,
    forks,
    pushedAt,
    createdAt,
    refreshedAt,
    isArchived: archived === 1,
    isFork: fork === 1,
    isListed: availability === "AVAILABLE",
    growth,
  };
}

type Tail = RowValues extends [
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown,
  ...infer Rest,
]
  ? Rest
  : never;

const NO_TOPICS: readonly string[] = [];
