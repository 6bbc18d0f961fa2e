/** The rendering thread: finding fonts and encoding a PNG take tens of milliseconds, which would block requests. */
import { parentPort } from "node:worker_threads";
import { Resvg } from "@resvg/resvg-js";
import { drawCard } from "./card-drawing.js";
import { FONT_FAMILY, Fonts, withFonts } from "./fonts.js";
import type { Picture } from "./png.js";

const fonts = new Fonts();

interface Job {
  id: number;
  picture: Picture;
}

function render({ id, picture }: Job): void {
  try {
    const svg = picture.kind === "svg" ? picture.svg : drawCard(picture.card, fonts);
    const drawing = withFonts(svg, fonts);
    const png = new Resvg(drawing.svg, {
      font: { loadSystemFonts: false, fontFiles: [...drawing.fontFiles], defaultFontFamily: FONT_FAMILY },
      fitTo: { mode: "zoom", value: picture.kind === "svg" ? picture.zoom : 1 },
    });
    parentPort?.postMessage({ id, png: png.render().asPng() });
  } catch (error) {
    parentPort?.postMessage({ id, fault: error instanceof Error ? error.message : String(error) });
  }
}

const jobs: Job[] = [];

/**
 * Renders one picture in a turn of the event loop, and then frees its pixels: V8 does not count them (3 MB of a card) when it
 * decides to collect garbage, and what it collects is freed between turns only.
 */
function next(): void {
  const job = jobs.shift();
  if (job === undefined) return;
  render(job);
  gc?.({ type: "minor" });
  if (jobs.length > 0) setImmediate(next);
}

parentPort?.on("message", (job: Job) => {
  jobs.push(job);
  if (jobs.length === 1) setImmediate(next);
});
