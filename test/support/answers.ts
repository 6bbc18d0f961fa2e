import assert from "node:assert/strict";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { Answer } from "./world.js";

/** The error of an answer with its status, without the request's own name; fails when it is no error in the envelope. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape the document already proves.
export function errorOf({ status, body }: Answer): any {
  assert.deepEqual(Object.keys(body), ["data", "error"]);
  assert.equal(body.data, null);
  const { requestId, ...error } = body.error;
  assert.match(requestId, /^[\w-]{12}$/);
  return { status, ...error };
}

/** The error that a VALIDATION_FAILED about one parameter must be. */
export function invalid(parameter: string, message: string, more: Record<string, unknown> = {}) {
  return {
    status: 400,
    code: "VALIDATION_FAILED",
    message: `${parameter}: ${message}`,
    details: [{ parameter, message, ...more }],
  };
}

/** The state of a star history that is not to be read. */
export const NO_HISTORY = { state: "NOT_OFFERED", readTo: null, why: null, nextTryAt: null };

const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
};

/** The text of a response, whatever it is compressed with. */
export async function decodedText(response: Response): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const encoding = response.headers.get("content-encoding");
  if (encoding === null) return bytes.toString();
  const decode = DECODERS[encoding];
  assert.ok(decode, `an encoding that nobody asked for: ${encoding}`);
  return decode(bytes).toString();
}
