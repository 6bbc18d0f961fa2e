/**
 * The format of a backup file: a line that names it, then frames. A frame is one byte for its kind, the length of its payload and
 * the CRC-32 of that (four bytes each, big-endian), and the payload. Payloads are JSON, except for data: bytes of the current part,
 * deflated. The last frame has the SHA-256 of everything before it.
 */
import { crc32 } from "node:zlib";
import * as z from "zod";

/** The number of the format is part of the line. */
export const MAGIC = Buffer.from("sidereal backup 1\n");
/** How every version of the format begins. */
export const MAGIC_START = Buffer.from("sidereal backup ");

export const FRAME = { header: 1, part: 2, data: 3, end: 4 } as const;
export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

export const FRAME_BYTES = 9;
/** Most bytes of a part in one frame, before they are deflated. */
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

export function frame(kind: FrameKind, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(FRAME_BYTES);
  head[0] = kind;
  head.writeUInt32BE(payload.length, 1);
  head.writeUInt32BE(crc32(payload), 5);
  return Buffer.concat([head, payload]);
}
