/**
 * Everything that can go wrong with a forge. The list is closed: `tracking` decides by the kind alone how a failure changes the
 * schedule and for the repository.
 *
 * - `gone`: the repository does not exist (404, 410), at least for us: unless a forge says `private`, a deleted repository
 *   looks like a hidden one.
 * - `private`: the forge says that it exists and is not public.
 * - `blocked`: unavailable for legal reasons (451).
 * - `renamed`: moved to an address that must not be followed, such as another host.
 * - `quota`: the rate limit is reached, or the forge requests fewer calls; `until` says when to retry.
 * - `refused`: the token is invalid or has no permission (401, or 403 that is not a rate limit).
 * - `malformed`: an unusable response: not JSON, too long, nested too deeply, cut off, of the wrong shape, or, with `until`, one
 *   that the forge has not prepared yet.
 * - `clock`: the forge's clock and ours differ by more than an hour. Snapshots are only as good as their times, so nothing
 *   is accepted until they agree.
 * - `unreachable`: no response: connection error, timeout, status 500 and above, or an address that must not be contacted.
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

/** Whether a failure is temporary for all requests to the forge and says nothing about any repository. */
export function isTemporary(kind: FailureKind): boolean {
  return kind === "quota" || kind === "clock";
}

/** Whether a failure concerns the forge as a whole rather than the requested repository. */
export function concernsForge(kind: FailureKind): boolean {
  return isTemporary(kind) || kind === "unreachable" || kind === "refused";
}

/**
 * The only error a provider throws. The message is for the log and `status`; it ends with `reason`. Neither contains a secret:
 * `safeWords` removes our tokens and everything that looks like one from the forge's words.
 */
export class UpstreamFailure extends Error {
  readonly kind: FailureKind;
  /** Earliest time to retry, in ms since 1970; null when the forge did not say. */
  readonly until: number | null;
  /** The forge's own words, as one line of at most 200 characters without markup; null when it gave none. */
  readonly reason: string | null;
  readonly #own: string;

  constructor(
    kind: FailureKind,
    message: string,
    {
      until = null,
      reason = null,
      cause,
    }: { until?: number | null; reason?: string | null; cause?: unknown } = {},
  ) {
    super(reason === null ? message : `${message} (${reason})`, cause === undefined ? undefined : { cause });
    this.name = "UpstreamFailure";
    this.kind = kind;
    this.until = until;
    this.reason = reason;
    this.#own = message;
  }

  as(kind: FailureKind): UpstreamFailure {
    const { until, reason, cause } = this;
    return new UpstreamFailure(kind, this.#own, { until, reason, cause });
  }
}

/** The failure of a request that was not about one repository: a missing address is then a fault of the response. */
export function notOfRepository(failure: UpstreamFailure): UpstreamFailure {
  const isOfRepository = ["gone", "private", "blocked", "renamed"].includes(failure.kind);
  return isOfRepository ? failure.as("malformed") : failure;
}

/** The repository that was requested, by its id or by its name. */
export interface RequestedRepository {
  providerId: string;
  by: "id" | "name";
}

/** Throws if a response is about another repository: `gone` if that one has the requested name now, otherwise `malformed`. */
export function checkSame(found: string, { providerId, by }: RequestedRepository): void {
  if (found === providerId) return;
  if (by === "name") throw new UpstreamFailure("gone", "its name belongs to another repository");
  throw new UpstreamFailure("malformed", "the response is about another repository");
}

/** The error as a result of one repository. Throws it again if it is not an UpstreamFailure, that is, a bug of ours. */
export function asFailed(error: unknown): { kind: "failed"; failure: UpstreamFailure } {
  if (error instanceof UpstreamFailure) return { kind: "failed", failure: error };
  throw error;
}

/** Throws UpstreamFailure for a repository that is being deleted, or that not everybody may see. */
export function checkPublic(
  provider: string,
  { owner, name }: { owner: string; name: string },
  { isPublic, isBeingDeleted = false }: { isPublic: boolean; isBeingDeleted?: boolean },
): void {
  const what = `${provider}: ${owner}/${name}`;
  if (isBeingDeleted) throw new UpstreamFailure("gone", `${what} is being deleted`);
  if (!isPublic) throw new UpstreamFailure("private", `${what} is not public`);
}
