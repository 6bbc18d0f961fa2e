/**
 * Rules for records of repositories from any source: providers clean the data of a forge to fit these rules,
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

/** Combining marks after eight of them. No script needs as many, and hundreds of them draw over the lines around a text. */
const EXCESS_MARKS = /(?<=\p{M}{8})\p{M}+/gu;
const CONTROLS = /\p{Cc}+/gu;
/**
 * Characters that no text needs: controls of direction, which can reverse the display around a text (UAX #9, 2.1 to 2.5; the
 * marks of 2.6 cannot), and code points that are no characters.
 */
const NEEDLESS = /[\u202A-\u202E\u2066-\u2069\p{NChar}]+/gu;

/** Characters of `owner/name`. GitLab allows 255, the other forges less. */
const MAX_FULL_NAME = 400;
/** GitLab nests 20 subgroups in a group; the repository is one more. */
const MAX_SEGMENTS = 22;

/**
 * Whether a repository can still be reached. Only AVAILABLE repositories are listed. RENAMED: a rule or an operator has
 * joined it to another one; HIDDEN: an operator has hidden it. No source reports these.
 */
export const AVAILABILITIES = ["AVAILABLE", "GONE", "PRIVATE", "BLOCKED", "RENAMED", "HIDDEN"] as const;
export type Availability = (typeof AVAILABILITIES)[number];

/** Origin of a snapshot: taken by this service, imported from an archive, or reported later by the provider. */
export const SNAPSHOT_SOURCES = ["OBSERVED", "IMPORTED", "BACKFILLED"] as const;
export type SnapshotSource = (typeof SNAPSHOT_SOURCES)[number];

/** The kinds of damage of a file of an archive. */
export const DAMAGE_KINDS = [
  /** It ends inside a row, or without a line end. */
  "CUT_OFF",
  /** It could not be read to its end. */
  "UNREADABLE",
  /** It has a header and no rows. */
  "HEADER_ONLY",
  /** Its text is not valid UTF-8. */
  "ENCODING",
  /** It was read at a time far from the date in its name. */
  "OTHER_TIME",
  /** It has fewer rows than the files around it. */
  "FEW_ROWS",
  /** It has counts of 0, unlike the files around it. */
  "ZEROS",
  /** Other files have the same time. */
  "SAME_TIME",
  /** Many of its repositories have several rows that differ. */
  "CONFLICTS",
  /** Its counts are those of the file before. */
  "REPEATED",
  /** Most counts that differ from the file before are lower. */
  "OLDER",
  /** Many counts have risen or fallen further since the file before than counts do. */
  "JUMPS",
] as const;
export type DamageKind = (typeof DAMAGE_KINDS)[number];

interface NameParts {
  /** May contain slashes: groups nest. */
  owner: string;
  name: string;
}

/**
 * Text as it is stored: well-formed, without control characters, which become spaces, and controls of direction, with at most
 * eight combining marks in a row, and cut to a number of UTF-16 units. Null when nothing is left.
 */
export function cleanText(value: string, maxLength: number): string | null {
  // Bounds the work on very long texts.
  const start = value
    .slice(0, 2 * maxLength)
    .toWellFormed()
    .replaceAll(CONTROLS, " ")
    .replaceAll(NEEDLESS, "")
    .replaceAll(EXCESS_MARKS, "")
    .trim();
  // Do not cut through a surrogate pair.
  const isCutThrough = /[\uD800-\uDBFF]/.test(start.charAt(maxLength - 1));
  const cut = start.slice(0, isCutThrough ? maxLength - 1 : maxLength).trimEnd();
  return cut === "" ? null : cut;
}

/** Whether a homepage may be stored: an http or https address, or text that is no address with a scheme, such as `example.org`. */
export function isHomepage(text: string): boolean {
  if (/^https?:\/\//i.test(text)) return true;
  const protocol = URL.parse(text)?.protocol ?? "https:";
  // `example.org:8080` is parsed as a scheme too, but browsers know none with a dot.
  return protocol === "https:" || protocol === "http:" || protocol.includes(".");
}

/**
 * Splits `owner/name` at the last slash. Undefined when it cannot be the name of a repository: each segment is non-empty, is
 * neither `.` nor `..`, and contains no white space, no invisible or control character, no long run of combining marks, and
 * none of `\ ? # %`.
 */
export function splitFullName(fullName: string): NameParts | undefined {
  if (fullName.length > MAX_FULL_NAME || /[\s\p{C}\\?#%]/u.test(fullName)) return undefined;
  if (fullName.search(EXCESS_MARKS) !== -1) return undefined;
  const segments = fullName.split("/");
  if (segments.length < 2 || segments.length > MAX_SEGMENTS) return undefined;
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) return undefined;
  return { owner: segments.slice(0, -1).join("/"), name: segments.at(-1) ?? "" };
}

/** Whether a text can be a topic: it is stored unchanged. Spaces are allowed inside, as on GitLab. */
export function isTopic(text: string): boolean {
  return text.length <= MAX_LABEL && text === cleanText(text, MAX_LABEL);
}

/** The form in which names are compared: neither case nor the way in which a letter is encoded distinguishes repositories. */
export function fullNameKey(fullName: string): string {
  return fullName.toLowerCase().normalize("NFC");
}

/** The same of the parts of a name. */
export function nameKey(owner: string, name: string): string {
  return fullNameKey(`${owner}/${name}`);
}

/** `^[A-Z][A-Z0-9_]{0,31}$`, the form in which providers are stored and returned. */
export function providerName(text: string): string | undefined {
  const name = text.toUpperCase();
  return /^[A-Z][A-Z0-9_]{0,31}$/.test(name) ? name : undefined;
}

/** Parses `provider:owner/name`; undefined if malformed. */
export function readRepositoryName(text: string): { provider: string; fullName: string } | undefined {
  const [prefix = "", ...rest] = text.split(":");
  const provider = providerName(prefix);
  const fullName = rest.join(":");
  return provider === undefined || splitFullName(fullName) === undefined ? undefined : { provider, fullName };
}

/** Parses an id as the API writes it; undefined if malformed. An id too large to exist gives 0, which no row has. */
export function repositoryId(text: string): number | undefined {
  if (!/^[1-9][0-9]{0,18}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : 0;
}

/** Decides which fields of a repository may be shown. Everything that reads repositories, for any face, uses it. */

/** The facts that an owner writes. */
export const OWNER_TEXTS = ["description", "homepage", "topics"] as const;

const TEXTLESS: readonly string[] = ["PRIVATE", "BLOCKED", "RENAMED", "HIDDEN"] satisfies Availability[];

/**
 * Whether a repository is shown without the texts of its owner, and not to search engines: its forge hides or blocks it, or it was
 * joined to another one, which may be hidden. The texts stay stored.
 */
export function hidesTexts({ availability }: { availability: string }): boolean {
  return TEXTLESS.includes(availability);
}

/**
 * The availability of a repository that its forge no longer has: GONE, unless the forge hid it before. Only members can see whether
 * such a one was deleted since, and its texts must not come back.
 */
export function lostAvailability({ availability }: { availability: string }): Availability {
  return availability === "PRIVATE" || availability === "BLOCKED" ? availability : "GONE";
}
