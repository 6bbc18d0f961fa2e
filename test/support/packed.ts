import { crc32, deflateRawSync } from "node:zlib";

/** A member of a tar or zip file. */
export interface TestMember {
  name: string;
  content?: string | Uint8Array;
  /** Of tar: "0" a file, "5" a directory, "2" a symbolic link. */
  type?: string;
}

const BLOCK = 512;

/** A tar file. */
export function tarOf(members: readonly TestMember[]): Buffer {
  const parts = members.flatMap(({ name, content = "", type = "0" }) => {
    const body = Buffer.from(content);
    const header = Buffer.alloc(BLOCK);
    const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, "0")}\0`;
    header.write(name, 0, 100, "utf8");
    header.write(octal(0o644, 8), 100);
    header.write(octal(body.length, 12), 124);
    header.write(octal(0, 12), 136);
    header.write("        ", 148);
    header.write(type, 156);
    if (type === "2") header.write("elsewhere", 157);
    header.write("ustar\x0000", 257, "latin1");
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

/** A zip file; `flags` are those of every member. */
export function zipOf(members: readonly TestMember[], flags = 0): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { name, content = "" } of members) {
    const body = Buffer.from(content);
    const packed = deflateRawSync(body);
    const fileName = Buffer.from(name);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(flags, 2);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(body), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(body.length, 18);
    facts.writeUInt16LE(fileName.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), facts, fileName, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const version = Buffer.from([20, 3]);
    entries.push(Buffer.concat([Buffer.from("PK\x01\x02", "latin1"), version, facts, place, fileName]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(members.length, 4);
  end.writeUInt16LE(members.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from("PK\x05\x06", "latin1"), end]);
}

const sumOf = (bytes: Uint8Array): Buffer => {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(bytes));
  return sum;
};
const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
/** A number in groups of seven bits. */
const varint = (value: number): number[] =>
  value < 128 ? [value] : [128 | (value & 127), ...varint(value >>> 7)];

/** An .xz file of one block, which holds the content without compressing it. */
export function xzOf(content: string | Uint8Array): Buffer {
  const body = Buffer.from(content);
  const flags = Buffer.from([0, 1]); // CRC32
  const blockHeader = Buffer.from([2, 0, 0x21, 1, 16, 0, 0, 0]); // LZMA2 with a dictionary of 1 MiB
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += 65_536) {
    const chunk = body.subarray(at, at + 65_536);
    const length = chunk.length - 1;
    chunks.push(Buffer.from([at === 0 ? 1 : 2, length >>> 8, length & 255]), chunk);
  }
  const block = Buffer.concat([blockHeader, sumOf(blockHeader), ...chunks, Buffer.from([0])]);
  const unpadded = block.length + 4;
  const index = padded(Buffer.from([0, 1, ...varint(unpadded), ...varint(body.length)]));
  const footer = Buffer.alloc(6);
  footer.writeUInt32LE((index.length + 4) / 4 - 1);
  flags.copy(footer, 4);
  return Buffer.concat([
    Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]),
    flags,
    sumOf(flags),
    padded(block),
    sumOf(body),
    index,
    sumOf(index),
    sumOf(footer),
    footer,
    Buffer.from("YZ"),
  ]);
}
