import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Font, openSync } from "fontkit";
import { libraryFile } from "../lib/package-files.js";
import { unescapeXml } from "../lib/xml.js";
import { coordinate, escapeMarkup, type FaceName, graphemes, plainText } from "./markup.js";

/**
 * The fonts of PNG pictures, and which of them each text is drawn with: bundled ones, so that every machine draws Latin, Greek,
 * Cyrillic, Arabic and Hebrew the same, and those of the machine for all other characters. Only the rendering thread uses
 * them: finding those of the machine takes 0.1 to 0.5 s.
 */

export const FONT_FAMILY = "DejaVu Sans";
const BUNDLED: Readonly<Record<FaceName, string>> = {
  ...{ sans: "DejaVuSans", bold: "DejaVuSans-Bold" },
  ...{ serif: "DejaVuSerif", "serif-bold": "DejaVuSerif-Bold" },
};
const bundled = (name: FaceName): Face => readFace(libraryFile(`dejavu-fonts-ttf/ttf/${BUNDLED[name]}.ttf`));

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
  readonly #bundled: Readonly<Record<FaceName, Face>> = {
    ...{ sans: bundled("sans"), bold: bundled("bold") },
    ...{ serif: bundled("serif"), "serif-bold": bundled("serif-bold") },
  };
  readonly #folders: readonly string[];
  /** Those of the machine that were read so far, the most usual first, and the files after them. */
  readonly #system: Face[] = [];
  #unread: string[] | undefined;

  constructor(folders: readonly string[] = SYSTEM_FONT_FOLDERS) {
    this.#folders = folders;
  }

  /** The files that every picture needs. */
  readonly bundledFiles: ReadonlySet<string> = new Set(Object.values(this.#bundled).map(({ file }) => file));

  /** Splits a text into runs that one face draws, in the order of the text. Characters that no face has are left out. */
  runsOf(text: string, name: FaceName): Run[] {
    const runs: Run[] = [];
    for (const grapheme of graphemes(text.replaceAll(UNDRAWN, ""))) {
      const last = runs.at(-1);
      const face = this.#faceOf(grapheme, name, NEUTRAL.test(grapheme) ? last?.face : undefined);
      if (face === undefined) continue;
      const codes = codesOf(grapheme).filter(face.has);
      const shown = String.fromCodePoint(...codes);
      const width = codes.reduce((sum, code) => sum + face.widthOf(code), 0);
      const isAlone = !this.bundledFiles.has(face.file) && COMPOUND.test(grapheme);
      if (last?.face === face && !isAlone && (!last.isAlone || SPACE.test(grapheme))) {
        last.text += shown;
        last.width += width;
      } else runs.push({ text: shown, face, width, isAlone });
    }
    return runs;
  }

  /** The text without the characters that no face has; undefined if less than 70 % of the letters remain. */
  drawable(text: string): string | undefined {
    const kept = textOf(this.runsOf(text, "sans"));
    const letters = (all: string) => all.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    if (kept.trim() === "" || letters(kept) < 0.7 * letters(text)) return undefined;
    return kept.replaceAll(/\s+/g, " ").trim();
  }

  /** The part of a text that can be drawn, with an ellipsis if much is missing: a name is never left out entirely. */
  readable(text: string): string {
    const plain = plainText(text);
    const whole = this.drawable(plain);
    if (whole !== undefined) return whole;
    const part = textOf(this.runsOf(plain, "sans")).trim();
    return /[\p{L}\p{N}]/u.test(part) ? `${part}…` : "…";
  }

  measure(text: string, size: number, name: FaceName): number {
    return this.runsOf(text, name).reduce((sum, { width }) => sum + width, 0) * size;
  }

  /** A face with all characters of a grapheme, else with its first one: `preferred`, a bundled one, one of the machine. */
  #faceOf(grapheme: string, name: FaceName, preferred: Face | undefined): Face | undefined {
    const codes = codesOf(grapheme);
    const hasAll = (face: Face) => codes.every(face.has);
    const { [name]: own, bold, sans } = this.#bundled;
    const near = [...(preferred === undefined ? [] : [preferred]), own, isBold(name) ? bold : sans, sans];
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

const TEXT = /<text([^>]*)>((?:[^<]|<tspan[^>]*>[^<]*<\/tspan>)*)<\/text>/g;
/** A part of a text: in an element of its own, or not. */
const PART = /<tspan([^>]*)>([^<]*)<\/tspan>|[^<]+/g;
const ATTRIBUTE = / ([\w-]+)="([^"]*)"/g;
/** The classes of texts in the serif, and of those that are shown whole or not at all. */
const SERIF = /(?:^| )(?:[\w-]+-)?(?:sf|serif)(?= |$)/;
const PROSE = /(?:^| )(?:[\w-]+-)?prose(?= |$)/;
const RIGHT_TO_LEFT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}/u;
const isBold = (name: FaceName): boolean => name === "bold" || name === "serif-bold";

type Attributes = Readonly<Record<string, string>>;
const attributesOf = (text: string): Attributes =>
  Object.fromEntries(Array.from(text.matchAll(ATTRIBUTE), ([, name, value]) => [name, value]));

/** Characters of a text that one face draws, and how. */
interface Piece extends Run {
  attributes: Attributes;
}

/**
 * Gives every text of a drawing of ours fonts that have all its characters. The renderer draws boxes if it has to combine
 * fonts in one text, so a text of several fonts becomes several. Prose that can hardly be drawn is left out; of other texts,
 * the part that can be drawn remains.
 */
export function withFonts(svg: string, fonts: Fonts): PreparedDrawing {
  const files = new Set(fonts.bundledFiles);
  const prepared = svg.replaceAll(TEXT, (element, own: string, content: string) => {
    if (/^[ -~\u00A0]*$/.test(content)) return element;
    const attributes = attributesOf(own);
    const pieces = Array.from(content.matchAll(PART), ([all, inner = "", text = all]) =>
      piecesOf(unescapeXml(text), [attributes, attributesOf(inner)], fonts),
    ).flat();
    for (const { face } of pieces) files.add(face.file);
    return placed(pieces, attributes);
  });
  return { svg: prepared, fontFiles: [...files] };
}

/** The pieces of a part, with the attributes of its text and its own. */
function piecesOf(text: string, [outer, own]: readonly [Attributes, Attributes], fonts: Fonts): Piece[] {
  const attributes = { ...outer, ...own };
  const { class: names = "", "font-weight": weight = "400" } = attributes;
  const isSerif = SERIF.test(names) || SERIF.test(outer.class ?? "");
  const name = Number(weight) > 500 ? (isSerif ? "serif-bold" : "bold") : isSerif ? "serif" : "sans";
  const shown = PROSE.test(names) ? (fonts.drawable(plainText(text)) ?? "") : fonts.readable(text);
  // Parts of one text have spaces at their ends.
  const [, before, after] = /^( ?).*?( ?)$/s.exec(text) ?? [];
  return fonts.runsOf(`${before}${shown}${after}`, name).map((run) => ({ ...run, attributes }));
}

/** The pieces as texts side by side, in the place of the whole text. */
function placed(pieces: readonly Piece[], { x = "0", "text-anchor": anchor }: Attributes): string {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return textElement(only, { x, "text-anchor": anchor });
  const widthOf = ({ width, attributes }: Piece) => width * Number(attributes["font-size"]);
  const width = pieces.reduce((sum, piece) => sum + widthOf(piece), 0);
  let at = Number(x) - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0);
  const [first = ""] = /\p{L}/u.exec(textOf(pieces)) ?? [];
  return (RIGHT_TO_LEFT.test(first) ? pieces.toReversed() : pieces)
    .map((piece) => {
      // The renderer trims texts.
      const lead = /^ /.test(piece.text) ? piece.face.widthOf(32) * Number(piece.attributes["font-size"]) : 0;
      const start = Math.max(0, at + lead);
      at += widthOf(piece);
      return textElement(piece, { x: coordinate(start), "text-anchor": undefined });
    })
    .join("");
}

function textElement(
  { text, face, attributes }: Piece,
  place: Record<"x" | "text-anchor", string | undefined>,
) {
  const { textLength: _, "font-weight": weight, class: names, ...others } = attributes;
  const kept: Record<string, string | undefined> = {
    ...others,
    ...place,
    class: names?.replace(SERIF, "").trim(),
    "font-weight": /bold/i.test(face.file) ? weight : undefined,
    "font-family": escapeMarkup(face.family),
  };
  const written = Object.entries(kept).map(([name, value]) => (value ? ` ${name}="${value}"` : ""));
  return `<text${written.join("")}>${escapeMarkup(text)}</text>`;
}
