import { drawGround } from "./chart.js";
import { styleOf, type Theme } from "./looks.js";
import { element, Markup } from "./markup.js";
import { picture } from "./picture.js";
import { estimateWidth, fit } from "./text.js";

/** A small picture that says why there is no other. */
export interface NoticeInput {
  title: string;
  message: string;
  theme: Theme;
  width: number;
  height: number;
}

const SIZE = 13;
const PAD = 16;

/** Words instead of a chart or badge, in lines as the width allows. */
export function drawNotice({ title, message, theme, width, height }: NoticeInput): string {
  const room = width - 2 * PAD;
  const most = Math.max(1, Math.floor((height - 2 * PAD - 22) / (SIZE + 6)) + 1);
  const lines = wrap(message, SIZE, room, most);
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
    drawGround(width, height),
    element(
      "text",
      { class: "chart-text", "font-size": 15, "font-weight": 600, x: PAD, y: PAD + 14 },
      fit(title, 15 * 1.06, room),
    ),
    ...body,
  );
}

/** The height of a notice that stands where no other size was asked for. */
export const NOTICE_SIZE = { width: 480, height: 96 };

/** A text in lines no wider than `width`, at most so many; what is over ends with an ellipsis. */
export function wrap(
  text: string,
  size: number,
  width: number,
  most: number,
  measure = estimateWidth,
): string[] {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const lines: string[] = [];
  let line = "";
  for (const [i, word] of words.entries()) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (measure(longer, size) <= width) {
      line = longer;
      continue;
    }
    if (lines.length === most - 1) {
      const rest = words.slice(i, i + 50).join(" ");
      return [...lines, fit(line === "" ? rest : `${line} ${rest}`, size, width, measure)];
    }
    if (line !== "") lines.push(line);
    line = measure(word, size) <= width ? word : fit(word, size, width, measure);
  }
  return line === "" ? lines : [...lines, line];
}
