import type { KyselyPlugin } from "kysely";
import type { Database } from "../../src/database/database.js";

/** The same database, and the number of statements that were run through it: a cost that does not depend on the machine. */
export function countStatements(database: Database): { database: Database; statements(): number } {
  let statements = 0;
  const counter: KyselyPlugin = {
    transformQuery({ node }) {
      statements++;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const prepare: Database["prepare"] = (build) => {
    const run = database.prepare(build);
    return (values) => {
      statements++;
      return run(values);
    };
  };
  const counted = {
    ...database,
    read: database.read.withPlugin(counter),
    write: database.write.withPlugin(counter),
    prepare,
  };
  return { database: counted, statements: () => statements };
}
