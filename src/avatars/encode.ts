import { crc32, deflateSync } from "node:zlib";

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
 * multiplied. What is transparent becomes white: most avatars are made for a white page, and an initial is behind them.
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
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
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
