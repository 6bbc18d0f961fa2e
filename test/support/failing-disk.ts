import { StatementSync } from "node:sqlite";

/** Extended result codes of SQLite (sqlite.org/rescode.html), as a disk causes them. */
export const DISK_ERRORS = { full: 13, read: 266, write: 778, fsync: 1034, truncate: 1546 } as const;
export type DiskError = keyof typeof DISK_ERRORS;

/**
 * Lets statements of all SQLite connections of this process fail as if the disk did, before they do anything. `choose` gets the
 * text of each and returns how it fails. Returns the function that ends this.
 */
export function failStatements(choose: (text: string) => DiskError | undefined): () => void {
  const { prototype } = StatementSync;
  const { run, all } = prototype;
  const failing = <F extends (...parameters: never[]) => unknown>(method: F) =>
    function (this: StatementSync, ...parameters: Parameters<F>): unknown {
      const kind = choose(this.sourceSQL);
      if (kind === undefined) return method.apply(this, parameters);
      throw Object.assign(new Error(`disk error: ${kind}`), {
        code: "ERR_SQLITE_ERROR",
        errcode: DISK_ERRORS[kind],
      });
    };
  Object.assign(prototype, { run: failing(run), all: failing(all) });
  return () => void Object.assign(prototype, { run, all });
}
