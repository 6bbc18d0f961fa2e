import { BADGE_BRAND, drawBadge, drawNotice, SHAPES, THEMES, type Theme } from "../charts/charts.js";
import { content, type HttpRequest, type Reply } from "../http/http.js";
import type { AppError } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import type { ResponseContract } from "./operation.js";

/** Responses that are pictures, and the pictures of errors. */

/** How long other sites may keep pictures and their data. */
export const EMBED_CACHE = "public, max-age=300, stale-while-revalidate=3600";

/** The same while a repository in them is being read, so that they fill as it is. */
export const READING_CACHE = "public, max-age=10";

/** The problem with a name in a request for a picture of a repository that is not recorded yet. */
export const BEING_READ = "is being read";

/** An SVG opened directly is a document: allow styles only. Other sites show it as an image, not in a frame. */
const SVG_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; sandbox";

export function svg(drawing: string): Reply {
  return content("image/svg+xml; charset=utf-8", drawing, {
    headers: { "Content-Security-Policy": SVG_POLICY, Vary: "Accept-Encoding" },
  });
}

const PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="380"></svg>';

export function svgResponse(description: string): ResponseContract {
  return { description, content: { "image/svg+xml": { schema: z.string().openapi({ example: PICTURE }) } } };
}

/** An error as a picture, since an image tag shows nothing else. */
export function errorPicture(error: AppError, { path, query, id }: HttpRequest): Reply {
  const theme: Theme = THEMES.find((name) => name === query.get("theme")) ?? "auto";
  const unknown = error.details?.flatMap(({ values = [] }) => values) ?? [];
  const isUnknown = error.code === "NOT_FOUND" && unknown.length > 0;
  const message = error.code === "INTERNAL" ? `${error.message} (${id})` : error.message;
  const isReading = error.details?.some((detail) => detail.message === BEING_READ) === true;
  const title = isReading ? "Being read" : error.code === "NOT_FOUND" ? "Not tracked here" : "No picture";
  const drawing = path.endsWith("/badge.svg")
    ? drawBadge({ label: BADGE_BRAND, message, tone: "quiet", title: message, theme })
    : drawNotice(title, isUnknown ? unknown.join(", ") : message, { theme, ...SHAPES.readme });
  const reply = svg(drawing);
  return { ...reply, headers: { ...reply.headers, Vary: "Accept, Accept-Encoding" } };
}
