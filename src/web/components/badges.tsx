import type { FunctionComponent as FC } from "preact";
import { type Anomaly, COUNT_NAMES, isUnsure, type Trend } from "../../growth/growth.js";
import type { Availability, Repository } from "../../repositories/repositories.js";
import type { RenderContext } from "../page-request.js";
import { formatDate } from "./numbers.js";

/** What surrounds the name of a repository: the image of its owner, and badges. */

/** A word of caution or state after a name, and its reason. */
export interface Badge {
  label: string;
  /** Whether it lowers how far the counts or the growth of the repository can be trusted. */
  isCaution: boolean;
  /** A phrase without a full stop; absent if the label says it all. */
  reason?: string;
}

/** The facts that the badges of a repository follow from. */
interface BadgeFacts {
  repository: Pick<Repository, "availability" | "archived" | "countedAt">;
  /** The growth that is shown next to the badges, of one window or of several. */
  trends: readonly (Trend | null | undefined)[];
  /** Whether its counts are no longer recent. */
  isStale: boolean;
  /** An earlier full name: the one by which it was requested, or on its own page the latest. */
  renamedFrom?: string | undefined;
  /** Whether to say that its age counts from when it was first seen. */
  marksFirstSeen?: boolean;
}

type Absence = Exclude<Availability, "AVAILABLE">;

/** Why a repository is no longer there, in words that follow its badge. */
export const ABSENCE_REASONS: Readonly<Record<Absence, string>> = {
  GONE: "the forge reports that it was deleted or moved",
  PRIVATE: "the forge no longer shows it to the public",
  BLOCKED: "the forge has disabled access to it",
  RENAMED: "its history continues under another name",
  HIDDEN: "this service does not show it",
};

/** The badges of a repository, in order. */
export function badgesOf({ repository, trends, isStale, renamedFrom, marksFirstSeen }: BadgeFacts): Badge[] {
  const { availability, archived, countedAt } = repository;
  const known = trends.filter((trend) => trend !== null && trend !== undefined);
  const badges: Badge[] = [];
  if (renamedFrom !== undefined) badges.push({ label: `was ${renamedFrom}`, isCaution: false });
  if (availability !== "AVAILABLE")
    badges.push({
      label: availability.toLowerCase(),
      isCaution: true,
      reason: ABSENCE_REASONS[availability],
    });
  if (isStale) badges.push({ label: `not seen since ${formatDate(countedAt)}`, isCaution: true });
  const anomalies = known.flatMap((trend) => trend.anomalies);
  if (anomalies.length > 0)
    badges.push({ label: "unusual", isCaution: true, reason: anomalyWords(anomalies) });
  const unsure = known.filter(isUnsure);
  const doubts = new Set(unsure.flatMap(({ confidenceReasons }) => confidenceReasons));
  if (unsure.length > 0)
    badges.push({
      label: "low confidence",
      isCaution: true,
      reason: [...doubts].join(", ") || "too little is known",
    });
  if (archived) badges.push({ label: "archived", isCaution: false });
  const firstSeenAt = known.find((trend) => trend.firstSeenAt !== null)?.firstSeenAt ?? null;
  if (marksFirstSeen && firstSeenAt !== null)
    badges.push({
      label: `first seen ${formatDate(firstSeenAt)}`,
      isCaution: false,
    });
  return badges;
}

/** How each kind of anomaly is worded. */
const ANOMALY_WORDS: Readonly<Record<Anomaly["kind"], (counts: string) => string>> = {
  FAILED_READING: (counts) => `a reading of ${counts} looks wrong`,
  UNCONFIRMED: (counts) => `a jump in ${counts} is not confirmed yet`,
  RETURN: (counts) => `${counts} dropped and recovered`,
  BURST: (counts) => `far more ${counts} than usual`,
  PURGE: (counts) => `many ${counts} were taken back`,
};

/** "stars and forks dropped and recovered", each kind once. */
function anomalyWords(anomalies: readonly Anomaly[]): string {
  const kinds = Map.groupBy(anomalies, ({ kind }) => kind);
  return [...kinds]
    .map(([kind, ofKind]) => {
      const counts = new Set(ofKind.map(({ measure }) => COUNT_NAMES[measure]));
      return ANOMALY_WORDS[kind]([...counts].join(" and "));
    })
    .join("; ");
}

/** The badges after a name. */
export const Badges: FC<{ badges: readonly Badge[] }> = ({ badges }) => (
  <>
    {badges.map(({ label, isCaution }) => (
      // Without the space, two of them are read as one word.
      <>
        <span class={isCaution ? "badge caution" : "badge"}>{label}</span>{" "}
      </>
    ))}
  </>
);

/** Number of colours behind initials; `styles/pages.ts` has one class for each. */
const TINTS = 6;

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

interface OwnerImageProps {
  provider: string;
  owner: string;
  /** In CSS pixels: 24 in cards and side lists, 32 in lists, 48 in the lead, 64 in the head of a repository. */
  size?: 24 | 32 | 48 | 64;
  /** Whether it is visible before the reader scrolls. */
  isFirst?: boolean;
}

/**
 * The image of an owner in a circle, before a name that says who it is; so screen readers skip it. Without a stored image, and
 * until it is loaded, the circle shows the owner's initial.
 */
export const OwnerImage: FC<OwnerImageProps> = (
  { provider, owner, size = 24, isFirst = false },
  { findOwnerImage }: RenderContext,
) => {
  const version = findOwnerImage?.(provider, owner);
  return (
    // The initial is an attribute, so that copied text and searches on the page do not contain it.
    <span
      class={`owner-image tint-${tintOf(owner)} size-${size}`}
      data-initial={initialOf(owner)}
      aria-hidden="true"
    >
      {version === undefined ? null : (
        <img
          src={`/avatars/${version}`}
          alt=""
          width={size}
          height={size}
          loading={isFirst ? undefined : "lazy"}
        />
      )}
    </span>
  );
};

/** The first letter or digit of an owner, of the innermost group if groups nest; in capitals if the script has them. */
function initialOf(owner: string): string {
  const name = owner.slice(owner.lastIndexOf("/") + 1);
  // Only a character beyond ASCII can combine with the one before it. Segmenting costs as much as all else of the image.
  const first = /^[a-z0-9](?![^\0-\x7F])/i.exec(name)?.[0] ?? firstGrapheme(name);
  const capital = first.toUpperCase();
  // Some capitals are two letters, such as that of ß.
  return capital.length === 1 || [...GRAPHEMES.segment(capital)].length === 1 ? capital : first;
}

/** The first grapheme with a letter or digit, else the first of all; empty without any. */
function firstGrapheme(name: string): string {
  let first: string | undefined;
  for (const { segment } of GRAPHEMES.segment(name.slice(0, 100))) {
    if (/[\p{L}\p{N}]/u.test(segment)) return segment;
    first ??= segment;
  }
  return first ?? "";
}

/** From 1 to TINTS: always the same for an owner, in any case of letters (FNV-1a). */
function tintOf(owner: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(owner.toLowerCase())) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return (hash % TINTS) + 1;
}
