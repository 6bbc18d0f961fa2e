import { type Child, element } from "./markup.js";
import { FONTS } from "./text.js";

/** Size and text alternative of a picture. */
export interface PictureFrame {
  width: number;
  height: number;
  /** Prefix of all ids, so that one document can contain several pictures. */
  idPrefix: string;
  title: string;
  /** Details beyond the title. */
  description?: string;
}

/** An SVG picture: title and description, then the given children. */
export function picture(
  { width, height, idPrefix, title, description }: PictureFrame,
  ...drawn: readonly Child[]
): string {
  const [titleId, descId] = [`${idPrefix}-title`, `${idPrefix}-desc`];
  return element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-labelledby": description === undefined ? titleId : `${titleId} ${descId}`,
      class: "chart",
      "font-family": FONTS,
    },
    element("title", { id: titleId }, title),
    description === undefined ? undefined : element("desc", { id: descId }, description),
    ...drawn,
  ).xml;
}
