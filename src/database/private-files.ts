import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import { StoreRefused } from "./fault.js";

/** Access bits of everybody but the owner. */
const OTHERS = 0o077;
const WRITABLE_BY_ALL = 0o002;

/**
 * Creates a folder that only its owner can read; one that exists keeps its mode, as others may use it. Throws, with a message for
 * the operator, for a folder in which everybody may write: they could replace the files in it.
 */
export function openPrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if ((statSync(path).mode & WRITABLE_BY_ALL) !== 0 && process.platform !== "win32")
    throw new StoreRefused(
      `Everybody on this machine may write to the data folder ${path}. Remove that permission, such as with "chmod o-w", and start again.`,
    );
}

/** Creates a file that only its owner can read, unless it exists. From an existing one, the access of others is removed. */
export function openPrivateFile(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  makePrivate(path);
}

/** Removes the access of others to a file. Does nothing for a file that does not exist. */
export function makePrivate(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & OTHERS) !== 0 && process.platform !== "win32") chmodSync(path, mode & 0o700);
}

/**
 * The secret in a file that only its owner can read, generated if the file does not exist. Two processes may start at the same
 * time: the file appears whole, and the first one wins. `consequence`: of a new secret, for the message about a damaged file.
 */
export function secretInFile(path: string, consequence: string): string {
  if (!existsSync(path)) {
    const own = `${path}.${process.pid}`;
    writeFileSync(own, createSecret(), { mode: 0o600, flush: true });
    try {
      linkSync(own, path);
    } catch (error) {
      if (!existsSync(path)) throw error;
    } finally {
      rmSync(own);
    }
  }
  makePrivate(path);
  const secret = readFileSync(path, "utf8").trim();
  if (secret.length < 32)
    throw new StoreRefused(
      `The file ${basename(path)} in the data folder is damaged. Remove it to generate a new one, ${consequence}.`,
    );
  return secret;
}

export function createSecret(): string {
  return randomBytes(32).toString("base64url");
}
