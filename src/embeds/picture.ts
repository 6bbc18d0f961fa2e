import { type Child, element } from "./markup.js";
import { FONTS } from "./text.js";

/** A picture that stands for something: its size, and what is said to those who cannot see it. */
export interface PictureFrame {
  width: number;
  height: number;
  /** Begins the ids, so that several can stand in one document. */
  idPrefix: string;
  title: string;
  /** More than the title says, where there is more. */
  description?: string;
}

/** The picture as SVG, with its title and description before what is drawn. */
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
