import type { Availability } from "./record-rules.js";

/** Decides what may be shown of a repository. Whatever reads repositories, for whichever face, asks here. */

/** The facts that an owner writes. */
export const OWNER_TEXTS = ["description", "homepage", "topics"] as const;

const HIDDEN: readonly string[] = ["PRIVATE", "BLOCKED", "RENAMED"] satisfies Availability[];

/**
 * Whether a repository is shown without the texts of its owner, and not to search engines: its forge hides or blocks it, or it was
 * joined to another one, which may be hidden. The texts stay stored.
 */
export function hidesTexts({ availability }: { availability: string }): boolean {
  return HIDDEN.includes(availability);
}

/**
 * The availability of a repository that its forge no longer has: GONE, unless the forge hid it before. Only members can see whether
 * such a one was deleted since, and its texts must not come back.
 */
export function lostAvailability({ availability }: { availability: string }): Availability {
  return availability === "PRIVATE" || availability === "BLOCKED" ? availability : "GONE";
}
