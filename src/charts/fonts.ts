import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Font, openSync } from "fontkit";
import { libraryFile } from "../lib/package-files.js";
import { unescapeXml } from "../lib/xml.js";
import { coordinate, escapeMarkup, graphemes } from "./markup.js";

/**
 * The fonts of PNG pictures, and which of them each text is drawn with: a bundled one, so that every machine draws Latin, Greek,
 * Cyrillic, Arabic and Hebrew the same, and those of the machine for all other characters. Only the rendering thread uses
 * them: finding those of the machine takes 0.1 to 0.5 s.
 */

export const FONT_FAMILY = "DejaVu Sans";
const bundled = (name: string): Face => readFace(libraryFile(`dejavu-fonts-ttf/ttf/${name}.ttf`));

/** The folders of fonts that all users share. */
const SYSTEM_FONT_FOLDERS: readonly string[] = [
  "/usr/share/fonts",
  "/usr/local/share/fonts",
  "/Library/Fonts",
  "/System/Library/Fonts",
  "C:\\Windows\\Fonts",
];

const FONT_FILE = /\.(?:ttf|otf|ttc)$/i;
/** Files read at most; a desktop system has a few hundred. */
const MAX_FILES = 3_000;

/** Fonts that draw boxes or coloured bitmaps, which the renderer cannot draw, and styles that a reader would not expect. */
const BOXES = /last.?resort|adobe.?blank|not.?def|fallback|barcode|colou?r.?emoji/i;
const UNUSUAL =
  /bold|black|light|thin|medium|italic|oblique|condensed|mono|display|rashi|unjoined|looped|ui[-.]|hawad|unifont/i;

export type Weight = "plain" | "bold";

/** The first face of a font file. */
interface Face {
  file: string;
  family: string;
  has: (code: number) => boolean;
  /** The advance of a character that it has, relative to the font size. */
  widthOf: (code: number) => number;
}

/** Reads the first face of a file, and keeps only the characters. Throws for a file that is no font, or has no name. */
export function readFace(file: string): Face {
  const font = openFont(file);
  // Its typographic family, by which the renderer finds it.
  const family = font.getName("preferredFamily", "en") ?? font.familyName;
  if (!family) throw new Error(`${file} has no name`);
  const codes = font.characterSet;
  // A bit for each: sets of whole scripts would take much more.
  const bits = new Uint8Array((codes.reduce((a, b) => Math.max(a, b), 0) >> 3) + 1);
  for (const code of codes) bits[code >> 3] = (bits[code >> 3] ?? 0) | (1 << (code & 7));
  const has = (code: number) => ((bits[code >> 3] ?? 0) & (1 << (code & 7))) !== 0;
  let opened: Font | undefined;
  return {
    file,
    family,
    has,
    widthOf: (code) => {
      // Most faces are never measured.
      opened ??= openFont(file);
      return opened.glyphForCodePoint(code).advanceWidth / opened.unitsPerEm;
    },
  };
}

function openFont(file: string): Font {
  const opened = openSync(file);
  if (!("fonts" in opened)) return opened;
  const [first] = opened.fonts;
  if (first === undefined) throw new Error(`${file} has no font`);
  return first;
}

/** Characters that one face draws together. */
interface Run {
  text: string;
  face: Face;
  /** Relative to the font size. */
  width: number;
  /** Whether only spaces may follow in the same run; see COMPOUND. */
  isAlone: boolean;
}

const textOf = (runs: readonly Run[]): string => runs.map(({ text }) => text).join("");

/** Characters without a glyph of their own: private use, formats, and selectors of variants. */
const UNDRAWN = /[\p{Co}\p{Cf}\p{Cn}\p{Variation_Selector}]/gu;
/** Characters that look much the same in all fonts. */
const NEUTRAL = /^[\p{Z}\p{P}]/u;
const SPACE = /^\p{Z}/u;
/**
 * Scripts with letters of several parts. The renderer gives them the width of the widest part, so that the next letter would
 * overlap: each is drawn on its own.
 */
const COMPOUND =
  /[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Balinese}\p{Script=Javanese}\u0E33\u0EB3]/u;

const codesOf = (text: string): number[] => Array.from(text, (one) => one.codePointAt(0) ?? 0);

export class Fonts {
  readonly #bundled: Readonly<Record<Weight, Face>>;
  readonly #folders: readonly string[];
  /** Those of the machine that were read so far, the most usual first, and the files after them. */
  readonly #system: Face[] = [];
  #unread: string[] | undefined;

  constructor(folders: readonly string[] = SYSTEM_FONT_FOLDERS) {
    this.#bundled = { plain: bundled("DejaVuSans"), bold: bundled("DejaVuSans-Bold") };
    this.#folders = folders;
  }

  /** The files that every picture needs. */
  get bundledFiles(): string[] {
    return [this.#bundled.plain.file, this.#bundled.bold.file];
  }

  /** Splits a text into runs that one face draws, in the order of the text. Characters that no face has are left out. */
  runsOf(text: string, weight: Weight): Run[] {
    const runs: Run[] = [];
    for (const grapheme of graphemes(text.replaceAll(UNDRAWN, ""))) {
      const last = runs.at(-1);
      const face = this.#faceOf(grapheme, weight, NEUTRAL.test(grapheme) ? last?.face : undefined);
      if (face === undefined) continue;
      const isBundled = face === this.#bundled.plain || face === this.#bundled.bold;
      const codes = codesOf(grapheme).filter(face.has);
      const shown = String.fromCodePoint(...codes);
      const width = codes.reduce((sum, code) => sum + face.widthOf(code), 0);
      const isAlone = !isBundled && COMPOUND.test(grapheme);
      if (last?.face === face && !isAlone && (!last.isAlone || SPACE.test(grapheme))) {
        last.text += shown;
        last.width += width;
      } else runs.push({ text: shown, face, width, isAlone });
    }
    return runs;
  }

  /** The text without the characters that no face has. */
  partOf(text: string): string {
    return textOf(this.runsOf(text, "plain"));
  }

  /** The same; undefined if less than 70 % of the letters remain. */
  drawable(text: string): string | undefined {
    const kept = this.partOf(text);
    const letters = (all: string) => all.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    if (kept.trim() === "" || letters(kept) < 0.7 * letters(text)) return undefined;
    return kept.replaceAll(/\s+/g, " ").trim();
  }

  measure(text: string, size: number, weight: Weight): number {
    return this.runsOf(text, weight).reduce((sum, { width }) => sum + width, 0) * size;
  }

  /** A face with all characters of a grapheme, else with its first one: `preferred`, the bundled one, one of the machine. */
  #faceOf(grapheme: string, weight: Weight, preferred: Face | undefined): Face | undefined {
    const codes = codesOf(grapheme);
    const hasAll = (face: Face) => codes.every(face.has);
    const near = [preferred, this.#bundled[weight], this.#bundled.plain].flatMap((face) => face ?? []);
    const found = near.find(hasAll);
    if (found !== undefined) return found;
    const [first = 0] = codes;
    const system = this.#systemFace(first);
    if (system !== undefined && hasAll(system)) return system;
    return near.find((face) => face.has(first)) ?? system;
  }

  /** The first face of the machine with a character; reads files until there is one. */
  #systemFace(code: number): Face | undefined {
    let face = this.#system.find((one) => one.has(code));
    this.#unread ??= listFonts(this.#folders);
    while (face === undefined && this.#unread.length > 0) {
      try {
        const read = readFace(this.#unread.shift() ?? "");
        this.#system.push(read);
        if (read.has(code)) face = read;
      } catch {
        // A file that is no font, or has no name.
      }
    }
    return face;
  }
}

/** The font files below these folders, the most usual first. */
function listFonts(folders: readonly string[]): string[] {
  const order = (file: string): number => (UNUSUAL.test(file) ? 2 : 0) + (/serif/i.test(file) ? 1 : 0);
  return folders
    .flatMap((folder) => {
      try {
        return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
      } catch {
        // This system has no such folder.
        return [];
      }
    })
    .filter((file) => FONT_FILE.test(file) && !BOXES.test(file))
    .slice(0, MAX_FILES)
    .sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1));
}

/** A drawing whose every text can be drawn, and the font files it needs. */
interface PreparedDrawing {
  svg: string;
  fontFiles: readonly string[];
}

const TEXT = /<text([^>]*)>([^<]*)<\/text>/g;
const RIGHT_TO_LEFT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}/u;

/**
 * Gives every text of a drawing of ours fonts that have all its characters. The renderer draws boxes if it has to combine
 * fonts in one text, so a text of several fonts becomes several.
 */
export function withFonts(svg: string, fonts: Fonts): PreparedDrawing {
  const files = new Set(fonts.bundledFiles);
  const prepared = svg.replaceAll(TEXT, (element, attributes: string, escaped: string) => {
    if (/^[ -~]*$/.test(escaped)) return element;
    const weight = /font-weight="[67]00"/.test(attributes) ? "bold" : "plain";
    const runs = fonts.runsOf(unescapeXml(escaped), weight);
    for (const { face } of runs) files.add(face.file);
    const [only] = runs;
    const isBundled = runs.length === 1 && only !== undefined && fonts.bundledFiles.includes(only.face.file);
    return isBundled ? `<text${attributes}>${escapeMarkup(only.text)}</text>` : placed(runs, attributes);
  });
  return { svg: prepared, fontFiles: [...files] };
}

/** The runs as texts side by side, in the place of the whole text. */
function placed(runs: readonly Run[], attributes: string): string {
  const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1];
  const size = Number(attribute("font-size"));
  const width = runs.reduce((sum, run) => sum + run.width, 0) * size;
  const anchor = attribute("text-anchor");
  let x = Number(attribute("x")) - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0);
  const kept = attributes.replaceAll(/ (?:x|text-anchor|textLength|font-family)="[^"]*"/g, "");
  const [first = ""] = /\p{L}/u.exec(textOf(runs)) ?? [];
  const inOrder = RIGHT_TO_LEFT.test(first) ? runs.toReversed() : runs;
  return inOrder
    .map((run) => {
      const weighted = /bold/i.test(run.face.file) ? kept : kept.replace(/ font-weight="\d+"/, "");
      const at = x;
      x += run.width * size;
      return `<text x="${coordinate(Math.max(0, at))}" font-family="${escapeMarkup(run.face.family)}"${weighted}>${escapeMarkup(run.text)}</text>`;
    })
    .join("");
}
