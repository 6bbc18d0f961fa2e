import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** No table that layout needs is larger; a file that claims a larger one is damaged. */
const MAX_TABLE_BYTES = 8 * 2 ** 20;

/** The first face of a font file, as far as layout needs it. */
export interface Face {
  file: string;
  family: string;
  has(codePoint: number): boolean;
  /** The advance of a character relative to the font size; 0 if the face lacks it. */
  widthOf(codePoint: number): number;
}

/**
 * Reads the first face of a TrueType or OpenType file (OpenType 1.9). Undefined for a face without outlines, such as one of
 * coloured bitmaps, or without a name or a character map of Unicode: the renderer cannot draw with it. Throws for a file that
 * is no font.
 */
export function readFace(file: string): Face | undefined {
  const { cmap, name, glyf, CFF } = readTables(file, { cmap: true, name: true, glyf: false, CFF: false });
  const family = name && readFamily(name);
  const segments = cmap && readSegments(cmap);
  if (family === undefined || segments === undefined || (glyf ?? CFF) === undefined) return undefined;
  // Read on first use: most faces are never measured.
  let widths: ((glyph: number) => number) | undefined;
  return {
    file,
    family,
    has: (codePoint) => glyphOf(segments, codePoint) > 0,
    widthOf: (codePoint) => {
      const glyph = glyphOf(segments, codePoint);
      if (glyph === 0) return 0;
      widths ??= readWidths(file);
      return widths(glyph);
    },
  };
}

/** The tables of the first face by name, those that it has; empty where the content is not wanted. */
function readTables<Name extends string>(
  file: string,
  wanted: Readonly<Record<Name, boolean>>,
): Partial<Record<Name, Buffer>> {
  const open = openSync(file, "r");
  try {
    const { size } = fstatSync(open);
    const read = (offset: number, length: number): Buffer => {
      if (length > MAX_TABLE_BYTES || offset + length > size) throw new Error("the font is damaged");
      const bytes = Buffer.alloc(length);
      readSync(open, bytes, 0, length, offset);
      return bytes;
    };
    const isCollection = read(0, 4).toString("latin1") === "ttcf";
    const start = isCollection ? read(12, 4).readUInt32BE(0) : 0;
    const directory = read(start + 12, read(start + 4, 2).readUInt16BE(0) * 16);
    const tables: Partial<Record<Name, Buffer>> = {};
    for (let at = 0; at < directory.length; at += 16) {
      const name = directory.toString("latin1", at, at + 4).trimEnd() as Name;
      if (!Object.hasOwn(wanted, name)) continue;
      const [offset, length] = [directory.readUInt32BE(at + 8), directory.readUInt32BE(at + 12)];
      tables[name] = wanted[name] ? read(offset, length) : Buffer.alloc(0);
    }
    return tables;
  } finally {
    closeSync(open);
  }
}

/** Advances by glyph, relative to the font size (tables head, hhea and hmtx). */
function readWidths(file: string): (glyph: number) => number {
  const { head, hhea, hmtx } = readTables(file, { head: true, hhea: true, hmtx: true });
  if (head === undefined || hhea === undefined || hmtx === undefined) return () => 1;
  const unitsPerEm = head.readUInt16BE(18);
  const last = hhea.readUInt16BE(34) - 1;
  return (glyph) => hmtx.readUInt16BE(Math.min(glyph, last) * 4) / unitsPerEm;
}

/** The family by which the renderer finds a face (table name): the typographic one if there is one. */
function readFamily(name: Buffer): string | undefined {
  const strings = name.readUInt16BE(4);
  const families = new Map<number, string>();
  for (let i = 0; i < name.readUInt16BE(2); i++) {
    const at = 6 + i * 12;
    const [platform, , language, id] = [0, 2, 4, 6].map((offset) => name.readUInt16BE(at + offset));
    // Windows and American English: all fonts have these, in UTF-16.
    if (platform !== 3 || language !== 0x409 || (id !== 1 && id !== 16)) continue;
    const begin = strings + name.readUInt16BE(at + 10);
    const text = Buffer.from(name.subarray(begin, begin + name.readUInt16BE(at + 8)));
    families.set(id, text.swap16().toString("utf16le"));
  }
  return families.get(16) ?? families.get(1);
}

/** Consecutive characters with consecutive glyphs: first character, last character, glyph of the first. Sorted. */
type Segments = Uint32Array;

function glyphOf(segments: Segments, codePoint: number): number {
  let [low, high] = [0, segments.length / 3 - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first = 0, last = 0, glyph = 0] = segments.subarray(middle * 3, middle * 3 + 3);
    if (codePoint < first) high = middle - 1;
    else if (codePoint > last) low = middle + 1;
    else return glyph + codePoint - first;
  }
  return 0;
}

/** Reads the character map: of all of Unicode (format 12), or else of its first 65,536 characters (format 4). */
function readSegments(cmap: Buffer): Segments | undefined {
  const formats = new Map<number, number>();
  for (let i = 0; i < cmap.readUInt16BE(2); i++) {
    const [platform, offset] = [cmap.readUInt16BE(4 + i * 8), cmap.readUInt32BE(8 + i * 8)];
    if (platform === 0 || platform === 3) formats.set(cmap.readUInt16BE(offset), offset);
  }
  const [whole, basic] = [formats.get(12), formats.get(4)];
  if (whole !== undefined) return readGroups(cmap.subarray(whole));
  return basic === undefined ? undefined : readBasic(cmap.subarray(basic));
}

function readGroups(subtable: Buffer): Segments {
  const segments = new Uint32Array(Math.min(subtable.readUInt32BE(12), subtable.length / 12) * 3);
  for (let i = 0; i < segments.length; i++) segments[i] = subtable.readUInt32BE(16 + i * 4);
  return segments;
}

function readBasic(subtable: Buffer): Segments {
  const count = subtable.readUInt16BE(6) / 2;
  const array = (index: number, at: number) => 14 + index * count * 2 + (index > 0 ? 2 : 0) + at * 2;
  const segments: number[] = [];
  for (let i = 0; i < count; i++) {
    const [last, first] = [subtable.readUInt16BE(array(0, i)), subtable.readUInt16BE(array(1, i))];
    const [delta, rangeAt] = [subtable.readUInt16BE(array(2, i)), array(3, i)];
    const range = subtable.readUInt16BE(rangeAt);
    for (let code = first; code <= last && code < 0xffff; code++) {
      const listed = range === 0 ? code : subtable.readUInt16BE(rangeAt + range + (code - first) * 2);
      const glyph = range !== 0 && listed === 0 ? 0 : (listed + delta) & 0xffff;
      const end = segments.length - 3;
      const [begun = 0, until = -2, from = 0] = end < 0 ? [] : segments.slice(end);
      if (glyph === 0) continue;
      if (until === code - 1 && from + code - begun === glyph) segments[end + 1] = code;
      else segments.push(code, code, glyph);
    }
  }
  return Uint32Array.from(segments);
}
