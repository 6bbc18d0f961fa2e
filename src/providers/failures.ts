/**
 * Everything that can go wrong with a forge. The list is closed: whatever a forge answers, or does not, is one of these,
 * and `tracking` decides by the kind alone what it does to the schedule and to the repository.
 *
 * - `gone`: the repository is not there (404, 410), for us at least; a forge does not tell a deleted one from a hidden one
 *   unless it says `private`.
 * - `private`: the forge says that it is there and not public.
 * - `blocked`: it may not be shown for legal reasons (451).
 * - `renamed`: it has moved to an address that cannot be followed, such as another host.
 * - `quota`: the allowance is spent, or the forge asks to slow down; `until` tells when to come back.
 * - `refused`: the token is wrong or may not do this (401, 403 without a limit).
 * - `malformed`: an answer that is not what was asked for: no JSON, too long, too deep, cut off, of the wrong shape.
 * - `clock`: the forge's clock and ours differ by more than an hour. Snapshots are only as good as their times, so
 *   nothing is believed until the two agree.
 * - `unreachable`: no answer: a broken connection, a time-out, a status of 500 and above, an address that may not be
 *   connected to.
 */
export const FAILURE_KINDS = [
  "gone",
  "private",
  "blocked",
  "renamed",
  "quota",
  "refused",
  "malformed",
  "clock",
  "unreachable",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** Whether a failure says nothing of any repository, and when to come back of all. */
export function isForNow(kind: FailureKind): boolean {
  return kind === "quota" || kind === "clock";
}

/** Whether a failure is of the forge as a whole, and none of the repository that was asked for. */
export function isOfForge(kind: FailureKind): boolean {
  return isForNow(kind) || kind === "unreachable" || kind === "refused";
}

/** What a provider throws, and nothing else. The message is for the log: it holds no token and no body of an answer. */
export class UpstreamFailure extends Error {
  readonly kind: FailureKind;
  /** When to ask again at the earliest, in ms since 1970; null where the forge did not say. */
  readonly until: number | null;

  constructor(kind: FailureKind, message: string, options: { until?: number | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UpstreamFailure";
    this.kind = kind;
    this.until = options.until ?? null;
  }
}
