import { providerName, splitFullName } from "../repositories/repositories.js";

/** Length of the longest name that a hint repeats. */
const MAX_LENGTH = 400;

/**
 * What to request instead of a path below /api that does not exist, as a sentence; undefined if nothing seems to be meant.
 * `path`: as sent, below the base URL.
 */
export function hintFor(path: string): string | undefined {
  // A repository whose full name has more than one slash.
  const [, provider = "", fullName = ""] =
    /^\/api\/repos\/([^/]+)\/([^/]+\/[^/]+\/.*[^/])\/*$/.exec(path) ?? [];
  const name = decoded(fullName);
  if (name === undefined || name.length > MAX_LENGTH || providerName(provider) === undefined)
    return undefined;
  if (splitFullName(name) === undefined) return undefined;
  const query = new URLSearchParams({ fullName: name });
  return `A repository whose owner has slashes is requested as /api/repos/${provider}/by-full-name?${query}.`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
