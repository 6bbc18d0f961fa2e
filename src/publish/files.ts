/** Names, writes and deletes the files of `publish`. */
import { createHash } from "node:crypto";
import { accessSync, constants, lstatSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { errorCode } from "../lib/errors.js";
import { replaceFile, replaceWithCopy } from "../lib/replace-file.js";

/** Something that the command was given cannot be used. Nothing was requested. */
export class InputFault extends Error {}

/** Longest name of a file; those of repositories are shorter. */
const MAX_NAME = 120;
/** Windows keeps these names for devices, with any ending. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/** Characters that are escaped, and `_` if it would read like the escape of one. */
const ESCAPED = /^\.|\.$|_(?=2[0-9a-cef]|3[a-f]|40|5[b-f]|60|7[b-e])|[^\w.-]/gi;

/**
 * A part of a name as that of a file or folder on any system: of bounded length, not hidden, unable to leave its folder, and of no part
 * that differs by more than the case. `taken`: names that something else may have next to it.
 */
export function fileName(part: string, taken?: RegExp): string {
  const name = part.replaceAll(ESCAPED, (character) => `_${character.charCodeAt(0).toString(16)}`);
  const isPlain = /^[ -~]+$/.test(part) && name.length <= MAX_NAME && !RESERVED.test(name);
  if (isPlain && taken?.test(name) !== true) return name;
  const beginning = part
    .replaceAll(/[^a-z0-9]+/gi, "-")
    .replace(/^-/, "")
    .slice(0, 40);
  return `${beginning}~${createHash("sha256").update(part).digest("hex").slice(0, 20)}`;
}

/** A path of such names. */
export const writtenPath = z.string().regex(/^[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*$/);

/** Reads JSON that an earlier run wrote; undefined if it is missing or damaged. */
export function readEarlier<T>(path: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

const typeOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });

/** Makes a folder that a command names, unless it is there. Throws InputFault for a link, and if nothing can be written there. */
export function makeFolder(path: string): void {
  try {
    if (typeOf(path)?.isDirectory() === false)
      throw new InputFault(`${path} is not a folder; links are not followed`);
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof InputFault) throw error;
    throw new InputFault(`${path} cannot be written to (${errorCode(error)})`);
  }
}

/** Reads the list of files in a folder; undefined without a folder. Throws InputFault for an invalid list. */
export function readManifest<T>(folder: string, name: string, schema: z.ZodType<T>): T | undefined {
  const path = join(folder, name);
  const type = typeOf(path);
  const manifest = type?.isFile() === true ? readEarlier(path, schema) : undefined;
  if (type !== undefined && manifest === undefined)
    throw new InputFault(
      `${path} was not written by this command, or is damaged: empty the folder, or name another one`,
    );
  return manifest;
}

/** Writes it as a whole. Returns whether that has changed it. */
export const writeJson = (path: string, value: object): boolean =>
  replaceFile(path, `${JSON.stringify(value, null, 1)}\n`);

/** Codes of failures that all other files would have too. */
const OF_ALL = ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE"];

type Content = string | Uint8Array | { path: string };

/** A folder with files of others: only files of earlier runs and of this one are replaced or deleted, and no link is followed. */
export class OwnFolder {
  readonly #path: string;
  readonly #earlier: readonly string[];
  /** Those of this run by their names in small letters, as some systems ignore the case. */
  readonly #claimed = new Map<string, string>();
  /** Files that were not written, by the reason. */
  readonly #failed = new Map<string, string[]>();

  /** `earlier`: the files that earlier runs have written. */
  constructor(path: string, earlier: readonly string[]) {
    this.#path = path;
    this.#earlier = earlier;
  }

  /** Claims files that are about to be written. Those of others are left out, and are not written. */
  claim(files: readonly string[]): void {
    const own = new Set(this.#earlier.map((file) => file.toLowerCase()));
    for (const file of files) {
      const key = file.toLowerCase();
      if (this.#claimed.has(key)) this.#fail(file, "another file has this name");
      else if (!own.has(key) && typeOf(join(this.#path, file)) !== undefined)
        this.#fail(file, "it exists, and was not written by this command");
      else this.#claimed.set(key, file);
    }
  }

  /** The claimed files, sorted. */
  get files(): string[] {
    return [...this.#claimed.values()].sort();
  }

  /** Files of earlier runs that this one has not claimed. */
  get stale(): string[] {
    return this.#earlier.filter((file) => !this.#claimed.has(file.toLowerCase()));
  }

  /** Writes a claimed file, or copies it from a path. Throws if no other could be written either. */
  async write(file: string, render: () => Promise<Content> | Content): Promise<void> {
    if (!this.has(file)) return;
    try {
      const content = await render();
      const path = this.#pathOf(file, true);
      if (path === undefined || typeOf(path)?.isFile() === false)
        this.#fail(file, "it is a link, or below one");
      else if (typeof content === "object" && "path" in content) replaceWithCopy(path, content.path);
      else replaceFile(path, content);
    } catch (error) {
      const { code = "", message } = error as NodeJS.ErrnoException;
      if (OF_ALL.includes(code)) throw error;
      this.#fail(file, message.split("\n", 1)[0] ?? "");
    }
  }

  has(file: string): boolean {
    return this.#claimed.get(file.toLowerCase()) === file;
  }

  /** Deletes files of earlier runs that this one has not written. */
  removeStale(): void {
    for (const file of this.stale) {
      const path = this.#pathOf(file, false);
      if (path !== undefined && typeOf(path)?.isFile() === true) rmSync(path);
    }
  }

  /** A sentence for each reason. */
  problems(): string[] {
    return [...this.#failed].map(([reason, files]) => {
      const more = files.length > 3 ? ` and ${files.length - 3} more` : "";
      return `${this.#path}: not written: ${files.slice(0, 3).join(", ")}${more}: ${reason}`;
    });
  }

  #fail(file: string, reason: string): void {
    this.#failed.set(reason, [...(this.#failed.get(reason) ?? []), file]);
  }

  /** The path of a file; undefined if one of its folders is a link or a file, or missing and not to be made. */
  #pathOf(file: string, makes: boolean): string | undefined {
    let folder = this.#path;
    for (const part of dirname(file).split("/")) {
      folder = join(folder, part);
      if (makes && typeOf(folder) === undefined) mkdirSync(folder);
      if (typeOf(folder)?.isDirectory() !== true) return undefined;
    }
    return join(this.#path, file);
  }
}
