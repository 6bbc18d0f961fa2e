import { readFileSync } from "node:fs";
import { libraryFile } from "../library-file.js";
import type { Measure } from "./text.js";

/** The fonts of PNG pictures, bundled so that every machine draws the same. */
export const FONT_FILES: readonly string[] = ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf"].map((file) =>
  libraryFile(`dejavu-fonts-ttf/ttf/${file}`),
);
export const FONT_FAMILY = "DejaVu Sans";

/** The properties of a font needed for layout. */
export interface Font {
  has(codePoint: number): boolean;
  measure: Measure;
}

/** Reads character widths from a TrueType file (OpenType 1.9: cmap, hhea, hmtx and head). */
function parseFont(file: Buffer): Font {
  const tables = new Map<string, number>();
  for (let i = 0; i < file.readUInt16BE(4); i++) {
    const entry = 12 + i * 16;
    tables.set(file.toString("latin1", entry, entry + 4), file.readUInt32BE(entry + 8));
  }
  const table = (name: string): number => {
    const offset = tables.get(name);
    if (offset === undefined) throw new Error(`the font has no table ${name}`);
    return offset;
  };
  const unitsPerEm = file.readUInt16BE(table("head") + 18);
  const metrics = file.readUInt16BE(table("hhea") + 34);
  const hmtx = table("hmtx");
  const glyphs = readCharacters(file, table("cmap"));
  const widthOf = (codePoint: number): number => {
    const glyph = glyphs.get(codePoint) ?? 0;
    return file.readUInt16BE(hmtx + Math.min(glyph, metrics - 1) * 4) / unitsPerEm;
  };
  return {
    has: (codePoint) => glyphs.has(codePoint),
    measure: (text, size) => [...text].reduce((sum, one) => sum + widthOf(one.codePointAt(0) ?? 0), 0) * size,
  };
}

/** Reads the character map of format 12 (all of Unicode), stored as ranges. */
function readCharacters(file: Buffer, cmap: number): Map<number, number> {
  const glyphs = new Map<number, number>();
  for (let i = 0; i < file.readUInt16BE(cmap + 2); i++) {
    const subtable = cmap + file.readUInt32BE(cmap + 4 + i * 8 + 4);
    if (file.readUInt16BE(subtable) !== 12) continue;
    for (let group = 0; group < file.readUInt32BE(subtable + 12); group++) {
      const at = subtable + 16 + group * 12;
      const [first, last, glyph] = [
        file.readUInt32BE(at),
        file.readUInt32BE(at + 4),
        file.readUInt32BE(at + 8),
      ];
      for (let code = first; code <= last; code++) glyphs.set(code, glyph + code - first);
    }
    return glyphs;
  }
  throw new Error("the font has no character map of format 12");
}

const fonts = new Map<string, Font>();

/** The plain or bold font, read on first use. */
export function loadFont(weight: "plain" | "bold"): Font {
  const known = fonts.get(weight);
  if (known !== undefined) return known;
  const font = parseFont(readFileSync(FONT_FILES[weight === "plain" ? 0 : 1] ?? ""));
  fonts.set(weight, font);
  return font;
}

/** Removes characters missing from the font; undefined if less than 70 % of the letters remain. */
export function drawable(text: string, font: Font): string | undefined {
  const characters = [...text];
  const kept = characters.filter((character) => font.has(character.codePointAt(0) ?? 0));
  const letters = (all: readonly string[]) =>
    all.filter((character) => /[\p{L}\p{N}]/u.test(character)).length;
  if (kept.length === 0 || letters(kept) < 0.7 * letters(characters)) return undefined;
  return kept.join("").replaceAll(/\s+/g, " ").trim();
}
