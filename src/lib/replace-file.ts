import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Ends the name of a file that is being written. */
export const PARTIAL = ".partial";

/** Replaces a file as a whole, so that a kill leaves the old or the new one. Returns whether that has changed it. */
export function replaceFile(path: string, content: string | Uint8Array): boolean {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(content))) return false;
  replaceBy(path, (partial) => writeFileSync(partial, content, { flag: "wx" }));
  return true;
}

/** The same with the content of another file, which may be large. */
export function replaceWithCopy(path: string, source: string): void {
  replaceBy(path, (partial) => copyFileSync(source, partial));
}

function replaceBy(path: string, write: (partial: string) => void): void {
  const partial = path + PARTIAL;
  // It may be a link to a file elsewhere.
  rmSync(partial, { force: true });
  write(partial);
  renameSync(partial, path);
}
