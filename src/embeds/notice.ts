import { background, element, Markup, picture } from "./markup.js";
import { fit, wrap } from "./text.js";
import { styleOf, type Theme } from "./themes.js";

/** A small picture that says why a chart or badge is missing. */
export interface NoticeInput {
  title: string;
  message: string;
  theme: Theme;
  width: number;
  height: number;
}

const SIZE = 13;
const PAD = 16;

/** Draws a title and a wrapped message. */
export function drawNotice({ title, message, theme, width, height }: NoticeInput): string {
  const room = width - 2 * PAD;
  const maxLines = Math.max(1, Math.floor((height - 2 * PAD - 22) / (SIZE + 6)) + 1);
  const lines = wrap(message, { size: SIZE, width: room }, maxLines);
  const body = lines.map((line, i) =>
    element(
      "text",
      { class: "chart-muted", "font-size": SIZE, x: PAD, y: PAD + 14 + 22 + i * (SIZE + 6) },
      line,
    ),
  );
  return picture(
    { width, height, idPrefix: "notice", title, description: message },
    element("style", {}, new Markup(styleOf(theme))),
    background(width, height),
    element(
      "text",
      { class: "chart-text", "font-size": 15, "font-weight": 600, x: PAD, y: PAD + 14 },
      fit(title, { size: 15 * 1.06, width: room }),
    ),
    ...body,
  );
}

/** The size of a notice when the request has none. */
export const NOTICE_SIZE = { width: 480, height: 96 };
