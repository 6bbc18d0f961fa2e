/** How tables are described: once, as columns from which their definition, the type of their rows and their part of a backup follow. */
import { type Generated, type RawBuilder, sql } from "kysely";

export type ColumnType =
  | "integer"
  | "ownId"
  | "small"
  | "text"
  | "real"
  | "bytes"
  | "libraryTime"
  | "libraryFlag";

/** The parts of an engine that the definition of a table depends on; see `Dialect`. */
export interface TableDialect {
  types: Readonly<Record<ColumnType, RawBuilder<unknown>>>;
  clustered: RawBuilder<unknown>;
}

interface ColumnFacts {
  isOptional?: boolean;
  /** Whether a migration adds it, so that the first schema has no such column. */
  isAdded?: boolean;
  /** The column whose value it holds, such as `accounts (id)`, and the effect of deleting that row. */
  target?: string;
  default?: number;
}

/** A column with values of the type `T`. */
export class Column<T> {
  declare readonly value: T;
  readonly type: ColumnType;
  readonly facts: ColumnFacts;

  constructor(type: ColumnType, facts: ColumnFacts = {}) {
    this.type = type;
    this.facts = facts;
  }

  optional(): Column<T | null> {
    return new Column(this.type, { ...this.facts, isOptional: true });
  }

  added(): Column<T> {
    return new Column(this.type, { ...this.facts, isAdded: true });
  }

  references(target: string): Column<T> {
    return new Column(this.type, { ...this.facts, target });
  }

  defaults(value: number): Column<Generated<T>> {
    return new Column(this.type, { ...this.facts, default: value });
  }
}

export const integer = new Column<number>("integer");
/** An id that the database gives. */
export const ownId = new Column<Generated<number>>("ownId");
export const small = new Column<number>("small");
export const real = new Column<number>("real");
export const text = new Column<string>("text");
export const bytes = new Column<Uint8Array>("bytes");
export const libraryTime = new Column<string>("libraryTime");
export const libraryFlag = new Column<number>("libraryFlag");

type Columns = Readonly<Record<string, Column<unknown>>>;

interface TableFacts {
  /** The columns of its primary key, in order. */
  key: readonly string[];
  /** Whether it is built again after a restore, or by the processes that report in it, so that no backup has it. */
  isDerived?: boolean;
  /** Whether a migration adds it, so that the first schema does not have it. */
  isAdded?: boolean;
  /** Whether it is stored in the order of its key. */
  isClustered?: boolean;
  constraints?: readonly string[];
  /** As statements, without `create`. */
  indexes?: readonly string[];
}

export interface Table<C extends Columns = Columns> extends TableFacts {
  columns: C;
}

/** The rows of a table. */
export type RowOf<T extends Table> = { [N in keyof T["columns"]]: T["columns"][N]["value"] };

export function table<C extends Columns>(columns: C, facts: TableFacts): Table<C> {
  return { ...facts, columns };
}

/** The statements that create a table. */
export function definitionOf(
  name: string,
  { columns, key, constraints = [], isClustered = false, indexes = [] }: Table,
  { types, clustered }: TableDialect,
): RawBuilder<unknown>[] {
  const first = Object.entries(columns).filter(([, { facts }]) => facts.isAdded !== true);
  const parts = first.map(([column, { type, facts }]) => {
    const rest = [
      ...(facts.isOptional === true ? [] : ["not null"]),
      ...(facts.default === undefined ? [] : [`default ${facts.default}`]),
      ...(facts.target === undefined ? [] : [`references ${facts.target}`]),
    ];
    return sql`${sql.ref(column)} ${types[type]} ${sql.raw(rest.join(" "))}`;
  });
  const others = [`primary key (${key.join(", ")})`, ...constraints].map((one) => sql.raw(one));
  return [
    sql`create table ${sql.table(name)} (${sql.join([...parts, ...others])}) ${isClustered ? clustered : sql``}`,
    ...indexes.map((index) => sql`create ${sql.raw(index)}`),
  ];
}
