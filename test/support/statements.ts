import type { KyselyPlugin } from "kysely";
import type { Database } from "../../src/database/database.js";

/** A database that counts: a cost that does not depend on the machine. */
export interface CountedDatabase {
  database: Database;
  /** Statements run through it so far. */
  statements(): number;
  /** Rows that they have returned. */
  rows(): number;
}

/** The same database, counted. */
export function countStatements(database: Database): CountedDatabase {
  let statements = 0;
  let rows = 0;
  const counter: KyselyPlugin = {
    transformQuery({ node }) {
      statements++;
      return node;
    },
    async transformResult({ result }) {
      rows += result.rows.length;
      return result;
    },
  };
  const prepare: Database["prepare"] = (build) => {
    const run = database.prepare(build);
    return async (values) => {
      statements++;
      const found = await run(values);
      rows += found.length;
      return found;
    };
  };
  const counted = {
    ...database,
    read: database.read.withPlugin(counter),
    write: database.write.withPlugin(counter),
    durable: database.durable.withPlugin(counter),
    prepare,
  };
  return { database: counted, statements: () => statements, rows: () => rows };
}
