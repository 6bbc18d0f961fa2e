import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { measure } from "./image.js";

/** Why an image is not used, in a few words for the operator. */
export class ImageRefused extends Error {}

/** Largest size of a side of an image that is decoded: 16 MiB of pixels. */
const MAX_SIDE = 2_048;
/** Longest time to decode an image; most take a tenth of a second, with the start of the process. */
const DEADLINE_MS = 10_000;
/** Memory of the process for JavaScript, in MiB. */
const HEAP_MB = 64;
/** Longest result. */
const MAX_PNG_BYTES = 16 * 1024;

export interface ShrinkOptions {
  /** Replaces the decoding process. */
  script?: URL;
  deadlineMs?: number;
}

/**
 * Makes a small PNG of an image that anybody may have uploaded, so that none of its bytes are ever served. It is decoded in a
 * process of its own with little memory, a deadline and no environment: one that crashes or hangs costs this image only. Throws
 * ImageRefused.
 */
export async function shrink(
  bytes: Buffer,
  { script = new URL("./shrink-process.js", import.meta.url), deadlineMs = DEADLINE_MS }: ShrinkOptions = {},
): Promise<Buffer> {
  const measured = measure(bytes);
  if (measured === undefined) throw new ImageRefused("not a PNG, JPEG or GIF image");
  const { width, height } = measured;
  if (width === 0 || height === 0 || width > MAX_SIDE || height > MAX_SIDE)
    throw new ImageRefused(`an image of ${width} × ${height} pixels`);
  const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, fileURLToPath(script)], {
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
    timeout: deadlineMs,
    killSignal: "SIGKILL",
  });
  // It may end before it has read everything.
  child.stdin.on("error", () => {});
  child.stdin.end(bytes);
  const chunks: Buffer[] = [];
  let length = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= MAX_PNG_BYTES) chunks.push(chunk);
    else child.kill("SIGKILL");
  });
  const [code, signal]: [number | null, string | null] = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (...end) => resolve(end));
  });
  if (length > MAX_PNG_BYTES) throw new ImageRefused("an image that is too large when small");
  if (signal === "SIGKILL") throw new ImageRefused("an image that could not be decoded in time");
  if (code !== 0 || length === 0) throw new ImageRefused("an image that cannot be decoded");
  return Buffer.concat(chunks);
}
