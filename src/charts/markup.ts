import { escapeXml } from "../lib/xml.js";

/** The only way for text to get into pictures, and for pictures into other sites: everything is escaped here. */

/** The elements of pictures. None of them can run, load or link to anything. */
type ElementName = "svg" | "title" | "desc" | "style" | "g" | "path" | "rect" | "circle" | "text";

/** Longer text is cut; no picture shows this much. */
const MAX_TEXT = 2_000;
/** Maximum input length, larger than MAX_TEXT because white space is collapsed. */
const MAX_READ = 100_000;

/** Characters invalid in XML 1.0, control characters, and characters that change the text direction. */
const UNFIT = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFFFE\uFFFF]/gu;

/** Text made safe for a picture: well-formed, on one line, and unable to reorder the text around it. */
export function plainText(text: string): string {
  return (
    text
      .slice(0, MAX_READ)
      .toWellFormed()
      .replaceAll(UNFIT, " ")
      // Limit stacked combining marks, which would extend beyond the picture.
      .replaceAll(/(\p{M}{3})\p{M}+/gu, "$1")
      .replaceAll(/\s+/gu, " ")
      .trim()
      .slice(0, MAX_TEXT)
      // Drop a surrogate whose other half was cut off.
      .replace(/[\uD800-\uDBFF]$/, "")
  );
}

/** Escapes text for the content or a quoted attribute of XML and HTML. All text in pictures goes through here. */
export function escapeMarkup(text: string): string {
  return escapeXml(plainText(text));
}

/** A finished part of a picture. Plain strings are treated as text and escaped. */
export class Markup {
  readonly xml: string;

  constructor(xml: string) {
    this.xml = xml;
  }
}

/** Absent ones are skipped. */
type Attributes = Readonly<Record<string, string | number | undefined>>;
type Child = Markup | string | undefined;

/** An element; absent children are skipped. Throws RangeError for a number that is not finite. */
export function element(name: ElementName, attributes: Attributes, ...children: readonly Child[]): Markup {
  let written = "";
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    const text =
      typeof value === "number" ? coordinate(value) : escapeXml(value.toWellFormed().replaceAll(UNFIT, " "));
    written += ` ${key}="${text}"`;
  }
  const inner = children
    .map((one) => (typeof one === "string" ? escapeMarkup(one) : (one?.xml ?? "")))
    .join("");
  return new Markup(inner === "" ? `<${name}${written}/>` : `<${name}${written}>${inner}</${name}>`);
}

/** A number rounded to one decimal. */
export function coordinate(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError("a coordinate must be finite");
  const rounded = Math.round(value * 10) / 10;
  return String(rounded === 0 ? 0 : rounded);
}

/** The fonts of pictures: system fonts, since nothing may be loaded. */
const FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/** Size and text alternative of a picture. */
interface PictureFrame {
  width: number;
  height: number;
  /** Prefix of all ids, so that one document can contain several pictures. */
  idPrefix: string;
  title: string;
  /** Details beyond the title. */
  description?: string;
  /** Default: the reader's system fonts. */
  fonts?: string;
  /** Its style sheet; absent in a page, which has the rules. */
  style?: string;
}

/** The attributes of an `svg` element of a size. */
export const svgOf = (width: number, height: number) => ({
  xmlns: "http://www.w3.org/2000/svg",
  width,
  height,
  viewBox: `0 0 ${width} ${height}`,
});

/** An SVG picture: title and description, then the given children. */
export function picture(
  { width, height, idPrefix, title, description, fonts = FONTS, style }: PictureFrame,
  ...drawn: readonly Child[]
): string {
  const [titleId, descId] = [`${idPrefix}-title`, `${idPrefix}-desc`];
  return element(
    "svg",
    {
      ...svgOf(width, height),
      role: "img",
      "aria-labelledby": description === undefined ? titleId : `${titleId} ${descId}`,
      class: "chart",
      "font-family": fonts,
    },
    element("title", { id: titleId }, title),
    description === undefined ? undefined : element("desc", { id: descId }, description),
    style === undefined ? undefined : element("style", {}, new Markup(style)),
    ...drawn,
  ).xml;
}

export function background(width: number, height: number): Markup {
  return element("rect", { class: "chart-bg", x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 10 });
}

/** Characters with a meaning in Markdown. */
const MARKDOWN = /[\\`*_{}[\]<>()#+!|~&"$^=@]/g;
/** Those that end the address of a link there, or may not be in an address. */
const NO_ADDRESS = /[\s\p{Cc}()<>\\"`]|[^\0-\x7f]/gu;
const BRACKETS: Readonly<Record<string, string>> = { "(": "%28", ")": "%29" };

interface Shown {
  image: string;
  page: string;
  alt: string;
  /** Absent: as wide as it is. */
  width?: number;
  height: number;
}

/** An address in a link of Markdown. What is encoded already stays as it is. */
function linked(address: string): string {
  return address.toWellFormed().replaceAll(NO_ADDRESS, (one) => BRACKETS[one] ?? encodeURIComponent(one));
}

/** Code that shows the picture at `image` on another site, linked to `page`. All text is escaped. */
export function snippetsOf({ image, page, alt, width, height }: Shown) {
  const wide = width === undefined ? "" : `width="${Math.round(width)}" `;
  const size = `${wide}height="${Math.round(height)}"`;
  return {
    markdown: `[![${plainText(alt).replaceAll(MARKDOWN, "\\$&")}](${linked(image)})](${linked(page)})`,
    html: `<a href="${escapeXml(page)}"><img src="${escapeXml(image)}" alt="${escapeMarkup(alt)}" ${size}></a>`,
  };
}
