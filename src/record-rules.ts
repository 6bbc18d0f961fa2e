/**
 * Rules for records of repositories from any source: providers clean what a forge sends to fit these rules,
 * and imports refuse lines that break them. Both use this one set, so that every export can be imported.
 */

/** Characters of a description or homepage. */
export const MAX_TEXT = 10_000;
/** Characters of a topic, a language or a license. */
export const MAX_LABEL = 100;
export const MAX_TOPICS = 100;
export const MAX_URL = 2_000;
/** Stars, forks and so on. No repository comes near; sums of them stay exact. */
export const MAX_COUNT = 1e12;
/** Bounds of the times a forge reports (ms since 1970). Times outside are zero values or errors. */
export const EARLIEST = Date.UTC(2000, 0, 1);
export const LATEST = Date.UTC(2100, 0, 1);

/** Characters of `owner/name`. GitLab allows 255, the other forges less. */
const MAX_FULL_NAME = 400;
/** GitLab nests 20 subgroups in a group; the repository is one more. */
const MAX_SEGMENTS = 22;

export interface NameParts {
  /** May contain slashes: groups nest. */
  owner: string;
  name: string;
}

/**
 * Splits `owner/name` at the last slash. Undefined when it cannot be the name of a repository: each segment is non-empty, is
 * neither `.` nor `..`, and contains no white space, no invisible or control character, and none of `\ ? # %`.
 */
export function splitFullName(fullName: string): NameParts | undefined {
  if (fullName.length > MAX_FULL_NAME || /[\s\p{C}\\?#%]/u.test(fullName)) return undefined;
  const segments = fullName.split("/");
  if (segments.length < 2 || segments.length > MAX_SEGMENTS) return undefined;
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) return undefined;
  return { owner: segments.slice(0, -1).join("/"), name: segments.at(-1) ?? "" };
}

/** Whether a text can be a topic. Spaces are allowed inside, as on GitLab. */
export function isTopic(text: string): boolean {
  return (
    text !== "" &&
    text.length <= MAX_LABEL &&
    text.isWellFormed() &&
    !/\p{Cc}/u.test(text) &&
    text === text.trim()
  );
}
