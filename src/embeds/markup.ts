import { escapeXml } from "../xml.js";

/** The elements a picture is made of. There is none among them that runs, loads or links to anything. */
export const ELEMENTS = ["svg", "title", "desc", "style", "g", "path", "rect", "circle", "text"] as const;
export type ElementName = (typeof ELEMENTS)[number];

/** The attributes they may have. */
export const ATTRIBUTES = [
  "xmlns",
  "width",
  "height",
  "viewBox",
  "role",
  "aria-labelledby",
  "aria-hidden",
  "id",
  "class",
  "x",
  "y",
  "cx",
  "cy",
  "r",
  "rx",
  "d",
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "textLength",
] as const;
export type AttributeName = (typeof ATTRIBUTES)[number];

/** Text longer than this is cut: no picture shows as much. */
const MAX_TEXT = 2_000;
/** So much of a text is looked at, as much of it may be space. */
const MAX_READ = 100_000;

/** What XML 1.0 does not have, control characters, and those that turn the direction of what follows. */
const UNFIT = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFFFE\uFFFF]/gu;

/** Text as it may stand in a picture: well-formed, on one line, and unable to reorder its surroundings. */
export function plainText(text: string): string {
  return (
    text
      .slice(0, MAX_READ)
      .toWellFormed()
      .replaceAll(UNFIT, " ")
      // Marks that are heaped on one letter would grow out of the picture.
      .replaceAll(/(\p{M}{3})\p{M}+/gu, "$1")
      .replaceAll(/\s+/gu, " ")
      .trim()
      .slice(0, MAX_TEXT)
      // The cut may have parted a character.
      .replace(/[\uD800-\uDBFF]$/, "")
  );
}

/** Any text as the content or as a quoted attribute of XML and HTML. The only way text gets into a picture. */
export function escapeMarkup(text: string): string {
  return escapeXml(plainText(text));
}

/** A finished part of a picture. Strings beside it are text, so what was not made by `element` is escaped. */
export class Markup {
  readonly xml: string;

  constructor(xml: string) {
    this.xml = xml;
  }
}

export type Attributes = Partial<Record<AttributeName, string | number>>;
export type Child = Markup | string | undefined;

/** An element; absent children are passed over. Throws for a number that is no place in a picture. */
export function element(name: ElementName, attributes: Attributes, ...children: readonly Child[]): Markup {
  const written = Object.entries(attributes).map(([key, value]) => {
    const text =
      typeof value === "number" ? coordinate(value) : escapeXml(value.toWellFormed().replaceAll(UNFIT, " "));
    return ` ${key}="${text}"`;
  });
  const content = children.map((child) =>
    typeof child === "string" ? escapeMarkup(child) : (child?.xml ?? ""),
  );
  const inner = content.join("");
  return new Markup(
    inner === "" ? `<${name}${written.join("")}/>` : `<${name}${written.join("")}>${inner}</${name}>`,
  );
}

/** A number to a tenth. */
export function coordinate(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError("a coordinate must be finite");
  const rounded = Math.round(value * 10) / 10;
  return String(rounded === 0 ? 0 : rounded);
}
