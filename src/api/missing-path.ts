import { nearestName } from "../lib/nearest-name.js";
import { withoutTrailingSlashes } from "../lib/page-addresses.js";
import { providerName, splitFullName } from "../repositories/repositories.js";
import { API_ROUTES } from "./routes.js";

/** Length of the longest path that a hint is found for. */
const MAX_LENGTH = 400;

/** The paths without parameters that GET reads. */
const FIXED = API_ROUTES.flatMap(({ route: { method, path } }) =>
  method === "GET" && path.startsWith("/api/") && !path.includes("{") ? [path] : [],
);

/** A sentence that names the request for a missing path below /api; undefined for others. `path`: below the base URL. */
export function hintFor(path: string): string | undefined {
  if (!path.startsWith("/api/") || path.length > MAX_LENGTH) return undefined;
  return hintForName(path) ?? hintForPath(withoutTrailingSlashes(path));
}

/** For a repository whose full name has more than one slash. */
function hintForName(path: string): string | undefined {
  const [, provider = "", fullName = ""] =
    /^\/api\/repos\/([^/]+)\/([^/]+\/[^/]+\/.*[^/])\/*$/.exec(path) ?? [];
  const name = decoded(fullName);
  if (name === undefined || providerName(provider) === undefined || splitFullName(name) === undefined)
    return undefined;
  const query = new URLSearchParams({ fullName: name });
  return `A repository whose owner has slashes is requested as /api/repos/${provider}/by-full-name?${query}.`;
}

/** The nearest path, or else the longest one that the path begins with. */
function hintForPath(path: string): string {
  const beginnings = FIXED.filter((known) => path.startsWith(known));
  const nearest = nearestName(path, FIXED) ?? beginnings.sort((a, b) => b.length - a.length)[0];
  return nearest === undefined ? "/api lists the main addresses." : `The nearest address is ${nearest}.`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
