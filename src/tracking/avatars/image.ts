import { crc32, deflateSync } from "node:zlib";

/** The formats of images: those that are accepted are measured, and what is served is encoded. Nothing here decodes. */

/** Formats that are accepted: those that the decoder reads. SVG is a program, and is not one of them. */
type ImageType = "png" | "jpeg" | "gif";

interface Measured {
  type: ImageType;
  /** Of the largest picture that a decoder makes of it, in pixels. */
  width: number;
  height: number;
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * The format and size of an image, from its own bytes: the headers of a response decide nothing. Undefined for all other
 * contents. It decodes nothing, so that a small file with very many pixels is rejected before it takes memory.
 */
export function measure(bytes: Buffer): Measured | undefined {
  if (bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return measurePng(bytes);
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

/** A colour with red, green and blue, and how many pixels have it. */
interface Colour {
  rgb: readonly [number, number, number];
  count: number;
}

/** Colours of an encoded image: as an avatar is shown in 20 to 40 pixels, more make no difference that can be seen. */
const COLOURS = 128;
/** Bits per channel that are kept before the palette is chosen. */
const BITS = 6;

/**
 * A square image as a PNG with a palette, a third of the size of one without. `pixels`: red, green, blue and opacity, already
 * multiplied. Transparent pixels become white: most avatars are made for a white page, and an initial is behind them.
 */
export function encodePng(pixels: Uint8Array, side: number): Buffer {
  const opaque = flatten(pixels);
  const count = side * side;
  const counts = new Map<number, number>();
  const keys = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const key = keyOf(opaque, i);
    keys[i] = key;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const { palette, indexOf } = choosePalette(counts);
  const rows = Buffer.alloc(side * (side + 1));
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++) rows[y * (side + 1) + 1 + x] = indexOf.get(keys[y * side + x] ?? 0) ?? 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // Eight bits per pixel, a palette, the only compression and filter methods of PNG, and no interlacing.
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    PNG_SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flat())),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** On white, with three bytes per pixel. */
function flatten(pixels: Uint8Array): Uint8Array {
  const opaque = new Uint8Array((pixels.length / 4) * 3);
  for (let i = 0, o = 0; i < pixels.length; i += 4) {
    const white = 255 - (pixels[i + 3] ?? 0);
    for (let c = 0; c < 3; c++) opaque[o++] = Math.min(255, (pixels[i + c] ?? 0) + white);
  }
  return opaque;
}

const SHIFT = 8 - BITS;
function keyOf(opaque: Uint8Array, i: number): number {
  const [r = 0, g = 0, b = 0] = opaque.subarray(3 * i, 3 * i + 3);
  return ((r >> SHIFT) << (2 * BITS)) | ((g >> SHIFT) << BITS) | (b >> SHIFT);
}

/** The value of a channel in a key, over the whole range from 0 to 255. */
function channelOf(key: number, channel: number): number {
  const value = (key >> (BITS * (2 - channel))) & (2 ** BITS - 1);
  return Math.round((value * 255) / (2 ** BITS - 1));
}

/** Cuts the box with the widest channel at its median until there are enough boxes (median cut). */
function choosePalette(counts: ReadonlyMap<number, number>): {
  palette: [number, number, number][];
  indexOf: Map<number, number>;
} {
  const colours = [...counts].map(([key, count]) => ({
    key,
    count,
    rgb: [channelOf(key, 0), channelOf(key, 1), channelOf(key, 2)] as const,
  }));
  const boxes = [colours];
  while (boxes.length < COLOURS) {
    const widest = boxes
      .map((box, i) => ({ i, box, ...widestChannel(box) }))
      .reduce((a, b) => (b.weight > a.weight ? b : a));
    if (widest.weight === 0) break;
    const sorted = widest.box.toSorted((a, b) => (a.rgb[widest.channel] ?? 0) - (b.rgb[widest.channel] ?? 0));
    const cut = medianOf(sorted);
    boxes.splice(widest.i, 1, sorted.slice(0, cut), sorted.slice(cut));
  }
  const indexOf = new Map<number, number>();
  for (const [i, box] of boxes.entries()) for (const { key } of box) indexOf.set(key, i);
  return { palette: boxes.map(meanOf), indexOf };
}

/** The channel with the largest range, and how much a cut would gain: its range, and that of more pixels first. */
function widestChannel(box: readonly Colour[]): { channel: number; weight: number } {
  const ranges = [0, 1, 2].map((channel) => {
    const values = box.map(({ rgb }) => rgb[channel] ?? 0);
    return Math.max(...values) - Math.min(...values);
  });
  const range = Math.max(...ranges);
  const pixels = box.reduce((sum, { count }) => sum + count, 0);
  return { channel: ranges.indexOf(range), weight: box.length < 2 ? 0 : range * Math.sqrt(pixels) };
}

/** Where half of the pixels are on either side; at least one colour on each. */
function medianOf(sorted: readonly Colour[]): number {
  const half = sorted.reduce((sum, { count }) => sum + count, 0) / 2;
  let before = 0;
  const index = sorted.findIndex(({ count }) => {
    before += count;
    return before >= half;
  });
  return Math.min(sorted.length - 1, Math.max(1, index + 1));
}

function meanOf(box: readonly Colour[]): [number, number, number] {
  const pixels = box.reduce((sum, { count }) => sum + count, 0);
  const mean = (channel: number) =>
    Math.round(box.reduce((sum, { rgb, count }) => sum + (rgb[channel] ?? 0) * count, 0) / pixels);
  return [mean(0), mean(1), mean(2)];
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
