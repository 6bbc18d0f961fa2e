/**
 * The process that decodes one avatar and encodes it again: reads the image from standard input and writes the PNG to standard
 * output. `shrink.ts` starts it without an environment and ends it after a deadline; whatever an image does to the decoder
 * happens here. The exit code says whether there is a result.
 */
import { buffer } from "node:stream/consumers";
import { Resvg } from "@resvg/resvg-js";
import { encodePng, measure } from "./image.js";

/** Pixels of a side of a stored avatar: 40 CSS pixels, the largest size on a page, on a screen with two per pixel. */
const SIDE = 80;

const bytes = await buffer(process.stdin);
const { type } = measure(bytes) ?? {};
if (type === undefined) process.exit(1);
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${SIDE}" height="${SIDE}">
  <image href="data:image/${type};base64,${bytes.toString("base64")}" width="${SIDE}" height="${SIDE}" preserveAspectRatio="xMidYMid slice"/>
</svg>`;
const { pixels } = new Resvg(svg, { font: { loadSystemFonts: false } }).render();
// An image that cannot be decoded is left out.
if (pixels.every((value) => value === 0)) process.exit(1);
process.stdout.write(encodePng(pixels, SIDE));
