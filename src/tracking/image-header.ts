/** Larger images are refused before they are decoded. */
const MAX_SIDE = 2_048;
const SIZES = { png: pngSize, jpeg: jpegSize, gif: gifSize };

type Size = readonly [width: number, height: number] | undefined;

/**
 * The format of an image, by its header: undefined unless it is a PNG, JPEG or GIF of at most 2,048 × 2,048 pixels. Throws RangeError
 * if it ends before its size.
 */
export function imageFormat(bytes: Buffer): keyof typeof SIZES | undefined {
  for (const format of ["png", "jpeg", "gif"] as const) {
    const sides = SIZES[format](bytes);
    if (sides?.every((side) => side > 0 && side <= MAX_SIDE)) return format;
  }
  return undefined;
}

const startsWith = (bytes: Buffer, text: string) => bytes.toString("latin1", 0, text.length) === text;

function pngSize(bytes: Buffer): Size {
  if (!startsWith(bytes, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR")) return undefined;
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

/** Marks that look like those of a frame, but are of tables and of an extension. */
const NO_FRAMES = [0xc4, 0xc8, 0xcc];

/** The size of the first frame. Before it, there is nothing but segments with a length. */
function jpegSize(bytes: Buffer): Size {
  if (!startsWith(bytes, "\xff\xd8")) return undefined;
  let at = 2;
  while (bytes.readUInt8(at) === 0xff) {
    const mark = bytes.readUInt8(at + 1);
    if (mark >> 4 === 0xc && !NO_FRAMES.includes(mark))
      return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** The size of the first picture, after the table of colours and extensions in blocks. Only this picture is decoded. */
function gifSize(bytes: Buffer): Size {
  if (!startsWith(bytes, "GIF8")) return undefined;
  const flags = bytes.readUInt8(10);
  let at = 13 + ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  while (bytes.readUInt8(at) === 0x21) {
    at += 2;
    for (let length = bytes.readUInt8(at); length > 0; length = bytes.readUInt8(at)) at += length + 1;
    at++;
  }
  return bytes.readUInt8(at) === 0x2c ? [bytes.readUInt16LE(at + 5), bytes.readUInt16LE(at + 7)] : undefined;
}
