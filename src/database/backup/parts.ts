/** The parts of a backup. Only their contents differ between the engines. */

/** A part of a backup, such as a table. Parts are read one after the other, each to its end. */
export interface BackupPart {
  /** A table, or a name that no table has. */
  name: string;
  /** The columns of a table, in the order of its rows. */
  columns?: readonly string[];
  data: AsyncIterable<Uint8Array>;
}

/** The engine of a store. */
export type StoreKind = "sqlite" | "postgres";

/** The state of a store at one moment, ready to be read. */
export interface BackupSource {
  kind: StoreKind;
  /** Number of migrations that the store has had. */
  version: number;
  /** About how many bytes there are to read. */
  bytes: number;
  parts(): AsyncIterable<BackupPart>;
  /** Removes temporary files, and closes the connection. */
  close(): Promise<void>;
}

/** Where a store is. */
export interface StoreLocation {
  /** PostgreSQL address, or undefined for SQLite in `dataDir`. */
  url: string | undefined;
  dataDir: string;
}

/** A store that is not there yet, or that is to be replaced. Nothing that readers can see changes before `finish`. */
export interface RestoreTarget {
  /** Takes the next part of the backup. */
  add(part: BackupPart): Promise<void>;
  /** Checks the added parts, and migrates the store to the version of this program. */
  prepare(): Promise<void>;
  /** Puts the prepared store in its place. */
  finish(): Promise<void>;
  /** Leaves everything as it was before. */
  abandon(): Promise<void>;
}

export interface RestoreOptions {
  /** What the backup was taken from. */
  kind: StoreKind;
  /** Number of migrations that the backup has had. */
  version: number;
  /** Whether to replace a store that is there. */
  replaces: boolean;
  /** In ms since 1970: the name under which the replaced store is kept ends with it. */
  at: number;
}

/** Why a backup cannot be taken or restored, as a message for the operator. */
export class BackupRefused extends Error {}

/** Most bytes of a part that is read into memory. */
const MAX_SMALL_BYTES = 1_048_576;

/** All bytes of a small part. Throws BackupRefused for a larger one. */
export async function allOf(data: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of data) {
    bytes += chunk.length;
    if (bytes > MAX_SMALL_BYTES) throw new BackupRefused("The backup has a part that is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
