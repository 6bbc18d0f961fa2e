/**
 * The process that decodes one image and encodes it again: reads the image from standard input and writes the PNG to standard output.
 * `avatars.ts` starts it without an environment and ends it after a deadline; whatever an image does to the decoder happens here.
 */
import { buffer } from "node:stream/consumers";
import sharp from "sharp";

/** Pixels of a side of an avatar: 40 CSS pixels, the largest size on a page, on a screen with two per pixel. */
const SIDE = 80;
/** Larger images are refused before they are decoded. */
const MAX_SIDE = 2_048;

sharp.cache(false);
sharp.concurrency(1);
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: ["VipsForeignLoadPngBuffer", "VipsForeignLoadJpegBuffer", "VipsForeignLoadNsgifBuffer"],
});

const png = await sharp(await buffer(process.stdin), {
  limitInputPixels: MAX_SIDE * MAX_SIDE,
  failOn: "error",
  autoOrient: true,
})
  .resize(SIDE, SIDE)
  .flatten({ background: "#ffffff" })
  // A palette makes it a third as large; in 20 to 40 CSS pixels more colours make no visible difference.
  .png({ palette: true, colours: 128 })
  .toBuffer();
process.stdout.write(png);
