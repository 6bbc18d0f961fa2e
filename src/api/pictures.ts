import { z } from "@hono/zod-openapi";
import { drawBadge, drawNotice, NOTICE_SIZE, THEMES, type Theme } from "../embeds/embeds.js";
import type { AppError, ErrorCode } from "../errors.js";
import { type ApiContext, errorResponses } from "./endpoint.js";

/** Answers that are pictures: how they are kept, what they may not do, and what stands for an error where one is expected. */

/** How long pictures for other pages, and what goes with them, may be kept. */
export const EMBED_CACHE = "public, max-age=300, stale-while-revalidate=3600";

/** Pictures cost nothing, as those who see them did not ask for them. What each takes is bounded, and how many are made at a time. */
export const FREE = { bucket: "default", isFree: true } as const;

const SVG_HEADERS = {
  "Content-Type": "image/svg+xml; charset=utf-8",
  // Opened by itself, a picture is a document: it may have style, and nothing else.
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
};

/** A drawing as an answer. */
export function svgAnswer(context: ApiContext, svg: string): Response {
  return context.body(svg, 200, { ...SVG_HEADERS, "Cache-Control": EMBED_CACHE, Vary: "Accept-Encoding" });
}

/** Contract of an answer that is a drawing. */
export function svgResponse(description: string) {
  return { description, content: { "image/svg+xml": { schema: z.string() } } };
}

/** Contract of the errors of a route of drawings: drawings too, but for those who ask for JSON and where no route was asked. */
export function pictureErrors(...codes: ErrorCode[]) {
  return Object.fromEntries(
    Object.entries(errorResponses(...codes)).map(([status, response]) => [
      status,
      { ...response, content: { ...response.content, ...svgResponse("").content } },
    ]),
  );
}

/** Whether a drawing is expected at a path. */
export function isPicturePath(path: string): boolean {
  return /^\/api\/embed\/[\w-]+\.svg$/.test(path);
}

/** An error as a drawing, since an image tag would show nothing of any other answer. Has the status of the error. */
export function errorPicture(error: AppError, address: string, requestId: string): Response {
  const { pathname, searchParams } = new URL(address, "http://localhost");
  const theme: Theme = THEMES.find((name) => name === searchParams.get("theme")) ?? "auto";
  const unknown = error.details?.flatMap(({ values = [] }) => values) ?? [];
  const isUnknown = error.code === "NOT_FOUND" && unknown.length > 0;
  const message = error.status >= 500 ? `${error.message} (${requestId})` : error.message;
  const title = error.code === "NOT_FOUND" ? "Not tracked here" : "No picture";
  const svg = pathname.endsWith("/badge.svg")
    ? drawBadge({ main: message, more: "", title: message, theme })
    : drawNotice({ title, message: isUnknown ? unknown.join(", ") : message, theme, ...NOTICE_SIZE });
  return new Response(svg, {
    status: error.status,
    headers: {
      ...SVG_HEADERS,
      "Cache-Control": "no-store",
      Vary: "Accept, Accept-Encoding",
      ...(error.status === 503 ? { "Retry-After": "5" } : {}),
      ...error.headers,
    },
  });
}
