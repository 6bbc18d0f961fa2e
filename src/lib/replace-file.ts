import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** Ends the name of a file that is being written. */
export const PARTIAL = ".partial";

/** Replaces a file as a whole, so that a kill leaves the old or the new one. Returns whether that has changed it. */
export function replaceFile(path: string, content: string | Uint8Array): boolean {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(content))) return false;
  writeFileSync(path + PARTIAL, content);
  renameSync(path + PARTIAL, path);
  return true;
}
