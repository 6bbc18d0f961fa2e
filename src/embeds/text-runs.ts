import { unescapeXml } from "../xml.js";
import type { Face } from "./font.js";
import type { Fonts, Run } from "./fonts.js";
import { coordinate, escapeMarkup } from "./markup.js";

/** A drawing whose every text can be drawn, and the font files it needs. */
export interface PreparedDrawing {
  svg: string;
  fontFiles: readonly string[];
}

const TEXT = /<text([^>]*)>([^<]*)<\/text>/g;
const RIGHT_TO_LEFT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}/u;

/**
 * Gives every text of a drawing of ours fonts that have all its characters. The renderer draws boxes where it has to combine
 * fonts in one text, so a text of several fonts becomes several.
 */
export function withFonts(svg: string, fonts: Fonts): PreparedDrawing {
  const files = new Set(fonts.bundledFiles);
  const used = new Set<Face>();
  const prepared = svg.replaceAll(TEXT, (element, attributes: string, escaped: string) => {
    if (/^[ -~]*$/.test(escaped)) return element;
    const runs = fonts.runsOf(
      unescapeXml(escaped),
      /font-weight="[67]00"/.test(attributes) ? "bold" : "plain",
      used,
    );
    for (const { face } of runs) files.add(face.file);
    const [only] = runs;
    const isBundled = runs.length === 1 && only !== undefined && fonts.bundledFiles.includes(only.face.file);
    return isBundled ? `<text${attributes}>${escapeMarkup(only.text)}</text>` : placed(runs, attributes);
  });
  return { svg: prepared, fontFiles: [...files] };
}

/** The runs as texts side by side, where the whole text would be. */
function placed(runs: readonly Run[], attributes: string): string {
  const numbers = new Map(
    [...attributes.matchAll(/ ([\w-]+)="([\d.]+)"/g)].map(([, name, value]) => [name, value]),
  );
  const numberOf = (name: string) => Number(numbers.get(name) ?? 0);
  const size = numberOf("font-size");
  const width = runs.reduce((sum, run) => sum + run.width, 0) * size;
  const anchor = /text-anchor="(\w+)"/.exec(attributes)?.[1];
  let x = numberOf("x") - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0);
  const kept = attributes.replaceAll(/ (?:x|text-anchor|textLength|font-family)="[^"]*"/g, "");
  const first = /[\p{L}]/u.exec(runs.map(({ text }) => text).join(""))?.[0] ?? "";
  const inOrder = RIGHT_TO_LEFT.test(first) ? runs.toReversed() : runs;
  return inOrder
    .map((run) => {
      const weighted = run.weight === "plain" ? kept.replace(/ font-weight="\d+"/, "") : kept;
      const at = x;
      x += run.width * size;
      return `<text x="${coordinate(Math.max(0, at))}" font-family="${escapeMarkup(run.face.family)}"${weighted}>${escapeMarkup(run.text)}</text>`;
    })
    .join("");
}
