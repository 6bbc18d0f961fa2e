import type { JsonSchema } from "../api/api.js";
import { invalidParameter } from "../errors.js";
import type { Argument } from "./tool.js";

/** How tools name a repository. */
export const referenceSchema: JsonSchema = {
  type: "string",
  maxLength: 440,
  pattern: "^[^:]+:.+/[^/]+$",
  description:
    "provider:owner/name, such as github:facebook/react, in any case; previous names work too. Search first if you do not know it.",
};

/** The address of a repository in the API. Throws VALIDATION_FAILED for an argument of another form. */
export function detailUrl(argument: Argument | undefined): string {
  const text = String(argument).toWellFormed();
  const colon = text.indexOf(":");
  if (colon < 1 || !text.includes("/", colon) || text.length > 440)
    throw invalidParameter("repository", "must be of the form provider:owner/name");
  const query = new URLSearchParams({ fullName: text.slice(colon + 1) });
  return `/api/repos/${encodeURIComponent(text.slice(0, colon))}/by-full-name?${query}`;
}
