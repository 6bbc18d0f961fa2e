import { createHash } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { deflateRaw } from "node:zlib";
import { type BackupPart, syncFolder } from "../database/database.js";
import { type BackupHeader, CHUNK_BYTES, FRAME, type FrameKind, frame, MAGIC } from "./format.js";

const deflate = promisify(deflateRaw);
/** Most of what compression gains, at a fraction of its time. */
const LEVEL = 3;

export interface WriteSteps<Checked> {
  /** Gets the number of bytes read so far. */
  onProgress(bytes: number): void;
  /** Checks the file before it takes the place of the one at `path`. */
  check(partial: string): Promise<Checked>;
}

/**
 * Writes a backup to `path`, readable by its owner alone. It appears under this name once it is complete, checked and on the disk;
 * until then an earlier one stays there. Returns the size of the file and the result of the check.
 */
export async function writeBackup<Checked>(
  path: string,
  { header, parts }: { header: BackupHeader; parts: AsyncIterable<BackupPart> },
  { onProgress, check }: WriteSteps<Checked>,
): Promise<{ fileBytes: number; checked: Checked }> {
  const partial = `${path}.partial`;
  rmSync(partial, { force: true });
  const file = await open(partial, "wx", 0o600);
  try {
    const writer = new FrameWriter(file);
    await writer.start(header);
    let bytes = 0;
    for await (const { name, columns, data } of parts) {
      await writer.add(FRAME.part, Buffer.from(JSON.stringify({ name, columns })));
      for await (const chunk of inChunks(data)) {
        bytes += chunk.length;
        await writer.add(FRAME.data, await deflate(chunk, { level: LEVEL }));
        onProgress(bytes);
      }
    }
    await writer.end();
    await file.sync();
    await file.close();
    const checked = await check(partial);
    renameSync(partial, path);
    await syncFolder(dirname(path));
    return { fileBytes: writer.bytes, checked };
  } catch (error) {
    await file.close().catch(() => {});
    rmSync(partial, { force: true });
    throw error;
  }
}

class FrameWriter {
  readonly #file: FileHandle;
  readonly #hash = createHash("sha256");
  bytes = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async start(header: BackupHeader): Promise<void> {
    await this.#write(MAGIC);
    await this.add(FRAME.header, Buffer.from(JSON.stringify(header)));
  }

  add(kind: FrameKind, payload: Uint8Array): Promise<void> {
    return this.#write(frame(kind, payload));
  }

  async end(): Promise<void> {
    const sha256 = this.#hash.copy().digest("hex");
    await this.add(FRAME.end, Buffer.from(JSON.stringify({ sha256 })));
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes);
    this.bytes += bytes.length;
    await this.#file.writeFile(bytes);
  }
}

/** The same bytes in chunks of CHUNK_BYTES, except for the last one. */
async function* inChunks(data: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const piece of data) {
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + CHUNK_BYTES - length);
      waiting.push(part);
      length += part.length;
      from += part.length;
      if (length < CHUNK_BYTES) continue;
      yield Buffer.concat(waiting);
      waiting = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(waiting);
}
