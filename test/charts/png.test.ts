import assert from "node:assert/strict";
import { test } from "node:test";
import { PngRenderer } from "../../src/charts/png.js";

const renderer = new PngRenderer();
const PNG = Buffer.from("89504e470d0a1a0a", "hex");
const [width, height] = [1_200, 630];
const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"/>`;

test("pictures that wait together do not keep each other's pixels in memory", async () => {
  await renderer.render(drawing);
  const pictures = 96;
  const before = process.memoryUsage.rss();
  for (let i = 0; i < pictures; i += 8)
    await Promise.all(Array.from({ length: 8 }, () => renderer.render(drawing)));
  const grown = process.memoryUsage.rss() - before;
  assert.ok(grown < (pictures * width * height * 4) / 3, `it has grown by ${Math.round(grown / 1e6)} MB`);
});

test("a drawing is rendered with as many pixels as requested", async () => {
  const png = await renderer.render(drawing, 2);
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [2 * width, 2 * height]);
});

test("an invalid drawing does not affect the next", async () => {
  await assert.rejects(renderer.render("<svg"), /could not be rendered/);
  assert.deepEqual((await renderer.render(drawing)).subarray(0, 8), PNG);
});

test("when the thread exits, pending drawings fail and the next drawing starts a new thread", async () => {
  const exits = `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(1));`;
  const script = new URL(`data:text/javascript,${encodeURIComponent(exits)}`);
  const crashing = new PngRenderer(script);
  const drawings = [crashing.render(drawing), crashing.render(drawing)];
  for (const drawing of drawings) await assert.rejects(drawing, /has exited/);
  await assert.rejects(crashing.render(drawing), /has exited/, "a thread that is gone would never respond");
});
