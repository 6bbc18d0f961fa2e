import { escapeXml } from "../xml.js";
import { escapeMarkup, plainText } from "./markup.js";

/** Code that shows a picture on another site. */
export interface Snippets {
  markdown: string;
  html: string;
}

/** Characters with a meaning in Markdown. */
const MARKDOWN = /[\\`*_{}[\]<>()#+!|~&"$^=@]/g;

/** The picture at `image`, linked to `page`. All text is escaped. */
export function snippetsOf(options: {
  image: string;
  page: string;
  alt: string;
  /** Absent: as wide as it is. */
  width?: number;
  height: number;
}): Snippets {
  const { image, page, alt, width, height } = options;
  const wide = width === undefined ? "" : `width="${Math.round(width)}" `;
  const size = `${wide}height="${Math.round(height)}"`;
  return {
    markdown: `[![${plainText(alt).replaceAll(MARKDOWN, "\\$&")}](${image})](${page})`,
    html: `<a href="${escapeXml(page)}"><img src="${escapeXml(image)}" alt="${escapeMarkup(alt)}" ${size}></a>`,
  };
}
