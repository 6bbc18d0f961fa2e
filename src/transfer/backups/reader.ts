import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";
import type * as z from "zod";
import { type BackupPart, BackupRefused } from "../../database/database.js";
import {
  type BackupHeader,
  CHUNK_BYTES,
  END,
  FRAME,
  FRAME_BYTES,
  HEADER,
  MAGIC,
  MAGIC_START,
  MAX_PAYLOAD_BYTES,
  PART,
} from "./writer.js";

const inflate = promisify(inflateRaw);

interface Frame {
  kind: number;
  payload: Buffer;
}

/**
 * Reads a backup from its beginning to its end, and checks everything that it passes. Each part must be read before the next.
 * Throws BackupRefused, with the position of the damage, and never more memory than for a frame, whatever the file contains.
 */
export class BackupReader {
  readonly #file: FileHandle;
  readonly #hash: Hash = createHash("sha256");
  #at = 0;
  #next: Frame | undefined;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(path: string): Promise<{ reader: BackupReader; header: BackupHeader }> {
    const reader = new BackupReader(await openFile(path));
    try {
      return { reader, header: await reader.#start() };
    } catch (error) {
      await reader.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async *parts(): AsyncGenerator<BackupPart> {
    for (;;) {
      const { kind, payload } = await this.#take();
      if (kind === FRAME.end) return;
      if (kind !== FRAME.part) throw this.#damaged("a part was expected");
      const { name, columns } = this.#parsed(payload, PART);
      yield { name, ...(columns === undefined ? {} : { columns }), data: this.#data() };
    }
  }

  async *#data(): AsyncGenerator<Uint8Array> {
    for (;;) {
      this.#next ??= await this.#read();
      if (this.#next.kind !== FRAME.data) return;
      const { payload } = await this.#take();
      try {
        yield await inflate(payload, { maxOutputLength: CHUNK_BYTES });
      } catch (error) {
        throw this.#damaged(error instanceof Error ? error.message : "it cannot be inflated");
      }
    }
  }

  async #start(): Promise<BackupHeader> {
    const line = await this.#bytes(MAGIC.length, true);
    if (!line.equals(MAGIC)) {
      const isOther = line.subarray(0, MAGIC_START.length).equals(MAGIC_START);
      throw new BackupRefused(
        isOther
          ? "The backup has a format that this program does not know. Update the program."
          : "The file is not a backup of Sidereal.",
      );
    }
    const { kind, payload } = await this.#take();
    if (kind !== FRAME.header) throw this.#damaged("its header is missing");
    return this.#parsed(payload, HEADER);
  }

  async #take(): Promise<Frame> {
    const taken = this.#next ?? (await this.#read());
    this.#next = undefined;
    return taken;
  }

  async #read(): Promise<Frame> {
    const before = this.#hash.copy();
    const head = await this.#bytes(FRAME_BYTES);
    const [kind, length, checksum] = [head.readUInt8(0), head.readUInt32BE(1), head.readUInt32BE(5)];
    if (length > MAX_PAYLOAD_BYTES) throw this.#damaged("the length of a frame is wrong");
    const payload = await this.#bytes(length);
    if (crc32(payload) !== checksum) throw this.#damaged("a checksum is wrong");
    if (kind !== FRAME.end) return { kind, payload };
    if (this.#parsed(payload, END).sha256 !== before.digest("hex"))
      throw this.#damaged("the checksum of the whole is wrong");
    const { bytesRead } = await this.#file.read(Buffer.alloc(1), 0, 1);
    if (bytesRead > 0) throw this.#damaged("something follows its end");
    return { kind, payload };
  }

  /** The next bytes. `orFewer`: at the end of the file; otherwise that is damage. */
  async #bytes(length: number, orFewer = false): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    let end = 0;
    while (end < length) {
      const { bytesRead } = await this.#file.read(bytes, end, length - end);
      if (bytesRead === 0) break;
      end += bytesRead;
    }
    this.#at += end;
    if (end < length && !orFewer) throw this.#damaged("it ends too early");
    this.#hash.update(bytes.subarray(0, end));
    return bytes.subarray(0, end);
  }

  #parsed<T>(payload: Buffer, schema: z.ZodType<T>): T {
    try {
      return schema.parse(JSON.parse(payload.toString("utf8")));
    } catch {
      throw this.#damaged("a part of it cannot be read");
    }
  }

  #damaged(reason: string): BackupRefused {
    return new BackupRefused(`The backup is damaged at byte ${this.#at}: ${reason}.`);
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new BackupRefused(
      `The backup ${path} cannot be read: ${code === "ENOENT" ? "no such file" : code}`,
    );
  }
}
