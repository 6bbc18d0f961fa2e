import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Resvg } from "@resvg/resvg-js";
import { encodePng, measure } from "../../../src/tracking/avatars/image.js";
import { ImageRefused, shrink } from "../../../src/tracking/avatars/shrink.js";
import { colouredPng } from "../../support/forge/avatars.js";

/** 16 × 8 pixels of #c02040, as a browser writes it. */
const JPEG = Buffer.from(
  `/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8yb
  qmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAI
  ABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAgX/xA
  AUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCIAFZ//9k=`,
  "base64",
);

/** One pixel of #c02040. */
const GIF = Buffer.from("R0lGODdhAQABAIAAAMAgQAAAACwAAAAAAQABAAACAkQBADs=", "base64");

/** Whether these are the colours of pixels, all of them nearly the same. */
function assertColour(png: Buffer, [red, green, blue]: readonly [number, number, number]): void {
  const { pixels, width, height } = drawn(png);
  assert.deepEqual([width, height], [80, 80]);
  for (let i = 0; i < pixels.length; i += 4)
    for (const [channel, expected] of [red, green, blue, 255].entries())
      assert.ok(
        Math.abs((pixels[i + channel] ?? 0) - expected) < 8,
        `pixel ${i / 4}: ${pixels.subarray(i, i + 4)}`,
      );
}

function drawn(png: Buffer) {
  const { width = 0, height = 0 } = measure(png) ?? {};
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <image href="data:image/png;base64,${png.toString("base64")}" width="${width}" height="${height}"/></svg>`;
  return new Resvg(svg).render();
}

const refused = (bytes: Buffer, reason: RegExp, options?: Parameters<typeof shrink>[1]) =>
  assert.rejects(shrink(bytes, options), (error) => {
    assert.ok(error instanceof ImageRefused, String(error));
    assert.match(error.message, reason);
    return true;
  });

/** A PNG whose header names another size than it has. */
function pngOf(width: number, height: number): Buffer {
  const png = Buffer.from(colouredPng("header", 8));
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  return png;
}

describe("An image from a forge", () => {
  test("becomes a small PNG of the same picture, whatever its format", async () => {
    for (const [format, bytes] of [
      ["jpeg", JPEG],
      ["gif", GIF],
      ["png", await shrink(JPEG)],
    ] as const) {
      const png = await shrink(bytes);
      assert.ok(png.length < 6 * 1024, `${format}: ${png.length} bytes`);
      assertColour(png, [0xc0, 0x20, 0x40]);
      assert.deepEqual(
        [...png.toString("latin1").matchAll(/IHDR|PLTE|IDAT|IEND|[a-z][A-Za-z]{3}(?=\0)/g)].flat(),
        ["IHDR", "PLTE", "IDAT", "IEND"],
        "it has chunks that the encoder does not write",
      );
    }
  });

  test("is refused if it is something else, whatever it is called", async () => {
    for (const [what, text] of [
      ["nothing", ""],
      ["a page", "<!doctype html><title>Sign in</title>"],
      ["SVG", `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`],
      ["WebP", "RIFF\x1a\0\0\0WEBPVP8 "],
      ["BMP", "BM\x8a\0\0\0"],
      ["an archive", "PK\x03\x04"],
      ["the beginning of a PNG", "\x89PNG\r\n\x1a\n"],
      ["the beginning of a GIF", "GIF89a\xff\xff"],
      ["the beginning of a JPEG", "\xff\xd8\xff\xe0"],
      ["JSON", `{"message":"Not Found"}`],
    ] as const)
      await refused(Buffer.from(text, "latin1"), /^not a PNG, JPEG or GIF image$/).catch((error) =>
        assert.fail(`${what}: ${error}`),
      );
  });

  test("is refused before it is decoded if it has too many pixels", async () => {
    const never = { script: new URL("file:///nowhere.js") };
    for (const [width, height] of [
      [65_000, 65_000],
      [2_049, 1],
      [0, 8],
      [1, 4_294_967_295],
    ] as const)
      await refused(pngOf(width, height), /^an image of \d+ × \d+ pixels$/, never);
    const jpeg = Buffer.from(JPEG);
    jpeg.writeUInt16BE(65_535, jpeg.indexOf(Buffer.from([0xff, 0xc0])) + 5);
    await refused(jpeg, /^an image of 16 × 65535 pixels$/, never);
    // The frame is larger than the screen.
    const gif = Buffer.from(GIF);
    gif.writeUInt16LE(65_535, gif.indexOf(0x2c) + 5);
    await refused(gif, /^an image of 65535 × 1 pixels$/, never);
  });

  test("is refused if it is damaged", async () => {
    const png = colouredPng("damaged");
    await refused(png.subarray(0, 60), /cannot be decoded/);
    await refused(pngOf(800, 800), /cannot be decoded/);
    await refused(JPEG.subarray(0, JPEG.indexOf(Buffer.from([0xff, 0xda]))), /./);
    await refused(Buffer.concat([GIF.subarray(0, 20), Buffer.alloc(100)]), /./);
  });

  test("costs only itself if it crashes the decoder, keeps it busy or makes it write without end", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sidereal-decoder-"));
    after(() => rmSync(folder, { recursive: true }));
    const script = (name: string, text: string) => {
      writeFileSync(join(folder, `${name}.mjs`), text);
      return { script: pathToFileURL(join(folder, `${name}.mjs`)) };
    };
    await refused(GIF, /cannot be decoded/, script("crash", "process.abort()"));
    await refused(GIF, /cannot be decoded/, script("throw", "throw new Error('damaged')"));
    await refused(GIF, /cannot be decoded/, script("silent", ""));
    await refused(GIF, /in time/, { ...script("busy", "for (;;);"), deadlineMs: 1_000 });
    await refused(GIF, /^an image that is too large when small$/, {
      ...script(
        "endless",
        "for (;;) if (!process.stdout.write('x'.repeat(1e5))) await new Promise((r) => process.stdout.once('drain', r));",
      ),
      deadlineMs: 5_000,
    });
    await refused(GIF, /cannot be decoded|in time/, {
      ...script("memory", "const all = []; for (;;) all.push(new Array(1e6).fill({}));"),
      deadlineMs: 2_000,
    });
    const seen = await shrink(GIF, script("secrets", "process.stdout.write(JSON.stringify(process.env))"));
    assert.equal(seen.toString(), "{}", "the decoder sees the environment");
    assertColour(await shrink(GIF), [0xc0, 0x20, 0x40]);
  });

  test("of any bytes is measured or not, without an error", () => {
    let seed = 7;
    const next = () => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0);
    for (const start of [JPEG, GIF, colouredPng("any", 8)])
      for (let i = 0; i < 3_000; i++) {
        const bytes = Buffer.from(start.subarray(0, next() % (start.length + 1)));
        for (let j = 0; j < 4 && bytes.length > 8; j++)
          bytes[8 + (next() % (bytes.length - 8))] = next() >>> 24;
        const size = measure(bytes);
        assert.ok(size === undefined || (size.width >= 0 && size.height >= 0));
      }
  });

  test("has white where it was transparent, and at most 128 colours", () => {
    const side = 80;
    const pixels = new Uint8Array(4 * side * side);
    for (let i = 0; i < side * side; i++) {
      const alpha = i % side < 40 ? 0 : 255;
      pixels.set(
        [(i * 7) % 256, (i * 13) % 256, (i * 29) % 256].map((value) => (value * alpha) / 255),
        4 * i,
      );
      pixels[4 * i + 3] = alpha;
    }
    const png = encodePng(pixels, side);
    const result = drawn(png).pixels;
    const colours = new Set<string>();
    for (let i = 0; i < side * side; i++) {
      const colour = [...result.subarray(4 * i, 4 * i + 4)];
      if (i % side < 40) assert.deepEqual(colour, [255, 255, 255, 255]);
      colours.add(colour.join());
    }
    assert.ok(colours.size > 64 && colours.size <= 128, `${colours.size} colours`);
  });
});
