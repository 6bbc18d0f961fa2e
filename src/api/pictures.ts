import { BADGE_BRAND, drawBadge, drawNotice, NOTICE_SIZE, THEMES, type Theme } from "../charts/charts.js";
import { content, type HttpRequest, type Reply } from "../http/http.js";
import type { AppError } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import type { ResponseContract } from "./operation.js";

/** Responses that are pictures, and the pictures of errors. */

/** How long other sites may keep pictures and their data. */
export const EMBED_CACHE = "public, max-age=300, stale-while-revalidate=3600";

/** An SVG opened directly is a document: allow styles only. Other sites show it as an image, not in a frame. */
const SVG_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; sandbox";

/** An SVG response. */
export function svg(drawing: string): Reply {
  return content("image/svg+xml; charset=utf-8", drawing, {
    headers: { "Content-Security-Policy": SVG_POLICY, Vary: "Accept-Encoding" },
  });
}

/** Contract of a response with an SVG. */
export function svgResponse(description: string): ResponseContract {
  return { description, content: { "image/svg+xml": { schema: z.string() } } };
}

/** An error as a picture, since an image tag shows nothing else. */
export function errorPicture(error: AppError, { path, query, id }: HttpRequest): Reply {
  const theme: Theme = THEMES.find((name) => name === query.get("theme")) ?? "auto";
  const unknown = error.details?.flatMap(({ values = [] }) => values) ?? [];
  const isUnknown = error.code === "NOT_FOUND" && unknown.length > 0;
  const message = error.code === "INTERNAL" ? `${error.message} (${id})` : error.message;
  const title = error.code === "NOT_FOUND" ? "Not tracked here" : "No picture";
  const drawing = path.endsWith("/badge.svg")
    ? drawBadge({ label: BADGE_BRAND, message, tone: "quiet", title: message, theme })
    : drawNotice(title, isUnknown ? unknown.join(", ") : message, { theme, ...NOTICE_SIZE });
  const reply = svg(drawing);
  return { ...reply, headers: { ...reply.headers, Vary: "Accept, Accept-Encoding" } };
}
