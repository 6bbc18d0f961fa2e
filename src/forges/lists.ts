/** Walks through the lists of forges: which page comes next. Each kind of walk makes and recognizes its own cursors. */
import type { UpstreamRepository } from "./contract.js";
import { UpstreamFailure } from "./failures.js";

export interface ForgeRecord {
  /** `url`: null when the forge does not give it. `avatarUrl` may be relative to the site. */
  repository: Omit<UpstreamRepository, "nodeId" | "url"> & { url: string | null };
  /** Whether everybody may see it; a token may see more than may be shown here. */
  isPublic: boolean;
  /** Whether the forge has renamed it and deletes it within weeks; absent: no. */
  isBeingDeleted?: boolean;
  /** Whether its forge still copies it from another one, so that it may fail and vanish; absent: no. */
  isBeingImported?: boolean;
}

export interface ListPage {
  /** The valid records, in the forge's order. */
  records: readonly ForgeRecord[];
  /** Number of all rows, valid or not. */
  rows: number;
  /** Whether there may be another page: this one is full, or the forge announces one. */
  hasMore: boolean;
  /** Number of repositories in the whole list; null when the forge does not say. */
  total: number | null;
}

export interface WalkContext {
  minStars: number;
  now: number;
}

/** The traces of earlier pages of a walk, to detect a list that repeats itself. */
export interface Mark {
  page: number;
  /** Identifies an earlier page; empty on the first. */
  mark: string;
}

/**
 * The mark to remember after a page that `key` identifies. Pages that repeat in a cycle of n are noticed within 4n pages, as each
 * page is compared with the one at the last power of two (Brent's algorithm). Throws UpstreamFailure `malformed`.
 */
export function nextMark({ page, mark }: Mark, key: string): string {
  if (key === mark) throw repeated();
  return (page & (page - 1)) === 0 ? key : mark;
}

/** Throws UpstreamFailure `malformed` if there are rows on a numbered page after the last one. */
export function checkWithin(page: number, { rows, total }: ListPage): void {
  if (total !== null && rows > 0 && (page - 1) * rows >= total) throw repeated();
}

/**
 * Whether a page is sorted by stars, most first, and may follow a page that ended with `least`, as some have gained a few since.
 * Otherwise the forge does not sort by stars.
 */
export function isSortedByStars(stars: readonly number[], least: number): boolean {
  const descends = stars.every((one, i) => one <= (stars[i - 1] ?? Number.POSITIVE_INFINITY));
  return descends && (stars[0] ?? 0) <= least * 1.1 + 10;
}

/** The highest id so far, after a page in ascending order of ids. Throws UpstreamFailure `malformed` if none is higher. */
export function highestId(lastId: number, records: readonly ForgeRecord[]): number {
  const highest = Math.max(lastId, ...records.map(({ repository }) => Number(repository.providerId)));
  if (highest === lastId) throw repeated();
  return highest;
}

const repeated = (): UpstreamFailure =>
  new UpstreamFailure("malformed", "the repository list repeats itself");

export interface ListRequest {
  path: string;
  /** Number of the page, from 1. */
  page: number;
  /** The request to send if the forge rejects this one as one it does not support (422). */
  instead?: () => ListRequest;
  /** Cursor of the page after this one; null at the end of the walk. Throws UpstreamFailure `malformed` if the list repeats itself. */
  next: (page: ListPage) => string | null;
}
