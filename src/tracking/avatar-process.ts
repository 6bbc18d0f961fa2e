/**
 * The process that decodes one image and draws it again: reads the image from standard input and writes the PNG to standard output,
 * or nothing if it cannot be decoded. `avatars.ts` starts it without an environment and ends it after a deadline; whatever an image
 * does to the decoder happens here.
 */
import { buffer } from "node:stream/consumers";
import { Resvg } from "@resvg/resvg-js";
import { imageFormat } from "./image-header.js";

/** Pixels of a side of an avatar: 40 CSS pixels, the largest size on a page, on a screen with two per pixel. */
const SIDE = 80;

const bytes = await buffer(process.stdin);
const format = imageFormat(bytes);
const size = `width="${SIDE}" height="${SIDE}"`;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><image ${size} preserveAspectRatio="xMidYMid slice"
  href="data:image/${format};base64,${bytes.toString("base64")}"/></svg>`;
const draw = (background: string) =>
  new Resvg(svg, { background, font: { loadSystemFonts: false } }).render();
/** Of an image that it cannot decode, resvg draws nothing. */
const isSeen = ({ pixels }: ReturnType<typeof draw>) => pixels.some((value, i) => i % 4 === 3 && value > 0);
if (format !== undefined && isSeen(draw("#ffffff00"))) process.stdout.write(draw("#ffffff").asPng());
