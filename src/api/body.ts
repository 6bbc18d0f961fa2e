import type { MiddlewareHandler } from "hono";
import { AppError } from "../errors.js";
import type { ApiEnv } from "./endpoint.js";

/** 500 identifiers of 19 digits fit, with their quotes and a name. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * For routes that take a body: refuses one that is too large before any of it is parsed, and one that is not JSON. What
 * was read is kept for the handler. Bodies sent to other routes are never looked at.
 */
export const checkBody: MiddlewareHandler<ApiEnv> = async (context, next) => {
  const { raw } = context.req;
  const type = (context.req.header("content-type") ?? "").toLowerCase();
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/.test(type)) {
    throw new AppError(
      "UNSUPPORTED_MEDIA_TYPE",
      "The body must be sent as Content-Type: application/json in UTF-8.",
    );
  }
  if ((context.req.header("content-encoding") ?? "identity") !== "identity") {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The body must be sent without a Content-Encoding.", {
      headers: { "Accept-Encoding": "identity" },
    });
  }
  const tooLarge = () =>
    new AppError("PAYLOAD_TOO_LARGE", `The body may be at most ${MAX_BODY_BYTES} bytes.`, {
      headers: { Connection: "close" },
    });
  if (Number(context.req.header("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of raw.body ?? []) {
      length += chunk.byteLength;
      if (length > MAX_BODY_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("INVALID_REQUEST", "The body was not sent to its end.", { cause: error });
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new AppError("INVALID_REQUEST", "The body is not UTF-8.");
  }
  try {
    JSON.parse(text);
  } catch {
    throw new AppError("INVALID_REQUEST", "The body is not JSON.");
  }
  // The stream has been read; the handler gets a request that holds the text.
  context.req.raw = new Request(raw.url, { method: raw.method, headers: raw.headers, body: text });
  await next();
};
