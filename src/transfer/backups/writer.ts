/**
 * The format of a backup file, and writing one. It is a line that names the format, then frames: one byte for the kind, the length of the
 * payload and its CRC-32 (four bytes each, big-endian), and the payload. Payloads are JSON, except for data: bytes of the current part,
 * deflated. The last frame has the SHA-256 of everything before it.
 */
import { createHash } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { crc32, deflateRaw } from "node:zlib";
import * as z from "zod";
import { type BackupPart, syncFolder } from "../../database/database.js";

/** The number of the format is part of the line. */
export const MAGIC = Buffer.from("sidereal backup 1\n");
/** How every version of the format begins. */
export const MAGIC_START = Buffer.from("sidereal backup ");

export const FRAME = { header: 1, part: 2, data: 3, end: 4 } as const;
type FrameKind = (typeof FRAME)[keyof typeof FRAME];

export const FRAME_BYTES = 9;
/** Maximum bytes of a part in one frame, before they are deflated. */
export const CHUNK_BYTES = 1_048_576;
/** More than any payload: incompressible data grows a little. */
export const MAX_PAYLOAD_BYTES = 2 * CHUNK_BYTES;

export const HEADER = z.object({
  /** The engine of the store. */
  kind: z.enum(["sqlite", "postgres"]),
  /** Number of migrations that the store has had. */
  version: z.int().min(1),
  /** When the backup began, in ms since 1970. */
  takenAt: z.int(),
});
export type BackupHeader = z.infer<typeof HEADER>;

export const PART = z.object({ name: z.string(), columns: z.array(z.string()).optional() });

export const END = z.object({ sha256: z.string() });

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

function frame(kind: FrameKind, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(FRAME_BYTES);
  head[0] = kind;
  head.writeUInt32BE(payload.length, 1);
  head.writeUInt32BE(crc32(payload), 5);
  return Buffer.concat([head, payload]);
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
