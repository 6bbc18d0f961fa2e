/** Formats that are accepted: those that the decoder reads. SVG is a program, and is not one of them. */
export type ImageType = "png" | "jpeg" | "gif";

export interface Measured {
  type: ImageType;
  /** Of the largest picture that a decoder makes of it, in pixels. */
  width: number;
  height: number;
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * The format and size of an image, from its own bytes: what a response says about it decides nothing. Undefined for all other
 * contents. It decodes nothing, so that a small file with very many pixels is rejected before it takes memory.
 */
export function measure(bytes: Buffer): Measured | undefined {
  if (bytes.subarray(0, 8).equals(PNG)) return measurePng(bytes);
  const start = bytes.toString("latin1", 0, 6);
  if (start === "GIF87a" || start === "GIF89a") return measureGif(bytes);
  if (start.startsWith("\xff\xd8\xff")) return measureJpeg(bytes);
  return undefined;
}

/** The header is the first chunk. */
function measurePng(bytes: Buffer): Measured | undefined {
  if (bytes.length < 33 || bytes.toString("latin1", 12, 16) !== "IHDR") return undefined;
  return { type: "png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Pictures may be larger than the screen that the header describes, and only the first one is decoded. */
function measureGif(bytes: Buffer): Measured | undefined {
  if (bytes.length < 13) return undefined;
  let [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  let at = 13 + colourTable(bytes[10] ?? 0);
  while (at < bytes.length) {
    const kind = bytes[at];
    if (kind === 0x2c) {
      if (at + 10 > bytes.length) return undefined;
      width = Math.max(width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5));
      height = Math.max(height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7));
      return { type: "gif", width, height };
    }
    // Extensions come before the picture: a kind, then blocks of data, each with its length.
    if (kind !== 0x21) return undefined;
    at += 2;
    for (let length = bytes[at] ?? 0; length > 0; length = bytes[at] ?? 0) at += 1 + length;
    at++;
  }
  return undefined;
}

function colourTable(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** The size is in the frame header, after any number of other segments. */
function measureJpeg(bytes: Buffer): Measured | undefined {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return { type: "jpeg", height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    // The picture itself, without a header before it.
    if (marker === 0xda || marker === 0xd9) return undefined;
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
