/** The rendering thread: finding fonts and encoding a PNG take tens of milliseconds, which would block requests. */
import { parentPort } from "node:worker_threads";
import { Resvg } from "@resvg/resvg-js";
import { FONT_FAMILY, Fonts, withFonts } from "./fonts.js";
import type { Picture } from "./png.js";

const fonts = new Fonts();

function render({ svg, zoom }: Picture): Buffer {
  const drawing = withFonts(svg, fonts);
  const png = new Resvg(drawing.svg, {
    font: { loadSystemFonts: false, fontFiles: [...drawing.fontFiles], defaultFontFamily: FONT_FAMILY },
    fitTo: { mode: "zoom", value: zoom },
  });
  return png.render().asPng();
}

function replyTo(picture: Picture): { png: Buffer } | { fault: string } {
  try {
    return { png: render(picture) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Frees the pixels of each picture before the next one: V8 does not count them (3 MB of a card) when it decides to collect
 * garbage, and collected memory is freed between turns only.
 */
parentPort?.on("message", (picture: Picture) => {
  const reply = replyTo(picture);
  gc?.({ type: "minor" });
  setImmediate(() => parentPort?.postMessage(reply));
});
