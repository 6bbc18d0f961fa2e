/** Names, writes and deletes the files of `publish`. */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { replaceFile } from "../lib/replace-file.js";

/** A part of a name as that of a file on any system, not hidden, and unable to leave its folder. */
export function fileName(part: string): string {
  return part.replaceAll(/^\.|[^\w.-]/g, (character) => `_${character.charCodeAt(0).toString(16)}`);
}

/** A path of such names. */
export const writtenPath = z.string().regex(/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/);

export function write(path: string, body: string | Uint8Array | null): void {
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, body ?? "");
}

/** Reads JSON that an earlier run wrote; undefined if it is missing or damaged. */
export function readEarlier<T>(path: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

/** Deletes the files in a folder that an earlier run wrote and this one did not. Others in it are not ours to delete. */
export function removeStale(folder: string, earlier: readonly string[], current: readonly string[]): void {
  // Some systems ignore the case of names.
  const kept = new Set(current.map((file) => file.toLowerCase()));
  for (const file of earlier) if (!kept.has(file.toLowerCase())) rmSync(join(folder, file), { force: true });
}
