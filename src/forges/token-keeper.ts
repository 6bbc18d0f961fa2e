/**
 * Token keeper: tokens that change while the program runs. It loads them before the first request, well before they expire, and when
 * one is rejected. While no new ones can be obtained, the old ones are used as long as they are valid. A failure to obtain tokens
 * concerns the forge as a whole, never a repository. Deadlines are on the monotonic clock.
 */
import type { Clock } from "../lib/clock.js";
import type { TokenNotice, TokenQuota } from "./contract.js";
import { concernsForge, UpstreamFailure } from "./failures.js";
import { MAX_WAIT_MS, type NamedToken } from "./quota.js";

export interface TokenLoader {
  /** Shown while there is no token: `app`, `file` or `command`. */
  readonly label: string;
  /** Minimum time between two loads, also after a rejection. */
  readonly minIntervalMs: number;
  /** Time between loads of tokens without an expiry. */
  readonly intervalMs: number;
  /** The present tokens, at least one. Throws UpstreamFailure of any kind. */
  load(): Promise<Loaded>;
}

export interface Loaded {
  tokens: readonly NamedToken[];
  /** How long they are valid; null: unknown. */
  validMs: number | null;
}

/** Part of its validity after which a token is renewed; the rest is left for retries. */
const RENEWAL_PART = 0.75;
/** A token is not used in the last seconds of its validity. */
const MARGIN_MS = 10_000;
/** How soon to check again while a renewal is in flight. */
const LOADING_MS = 1_000;
const FIRST_RETRY_MS = 30_000;
const LAST_RETRY_MS = 10 * 60_000;

export class TokenKeeper {
  readonly #loader: TokenLoader;
  readonly #clock: Clock;
  readonly #onTokens: (tokens: readonly NamedToken[]) => void;
  #tokens: readonly (string | null)[];
  #expiresAt: number;
  #renewAt = Number.NEGATIVE_INFINITY;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  /** Consecutive loads that were followed by a rejection. */
  #rejections = 0;
  #failure: UpstreamFailure | null = null;
  #loading: Promise<void> | null = null;
  #notices: TokenNotice[] = [];

  /** `tokens`: those known at the start; may be empty. `onTokens` is called with all tokens whenever some were loaded. */
  constructor(
    loader: TokenLoader,
    {
      tokens,
      clock,
      onTokens,
    }: {
      tokens: readonly string[];
      clock: Clock;
      onTokens: (tokens: readonly NamedToken[]) => void;
    },
  ) {
    this.#loader = loader;
    this.#clock = clock;
    this.#onTokens = onTokens;
    this.#tokens = tokens;
    this.#expiresAt = tokens.length === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }

  /**
   * Resolves when there is a valid token, and renews it when that is due: in the background while the old one can be used,
   * unless `isUsable` says that it cannot. Throws UpstreamFailure if none can be obtained, `quota` before the next attempt.
   */
  async ready(signal: AbortSignal, isUsable = true): Promise<void> {
    const isDue = this.#clock.monotonic() >= this.#renewAt;
    const isValid = this.#clock.monotonic() < this.#expiresAt;
    if (isDue && isValid && isUsable) void this.#begin();
    else if (isDue) await this.#renew(signal);
    if (this.#clock.monotonic() < this.#expiresAt) return;
    const until = this.#wall(this.#renewAt);
    if (isDue && this.#failure !== null) throw this.#failure;
    const message = `no token could be obtained; tried again at ${new Date(until).toJSON()}`;
    throw new UpstreamFailure("quota", message, { until });
  }

  /** Call when a token was rejected. Returns whether others are in use now, so that the request may be sent again. */
  async hasReplaced(token: string, signal: AbortSignal): Promise<boolean> {
    if (!this.#tokens.includes(token)) return true;
    const isTooSoon = this.#clock.monotonic() < this.#loadedAt + this.#loader.minIntervalMs;
    if (this.#loading !== null || !isTooSoon) await this.#renew(signal);
    if (!this.#tokens.includes(token)) return true;
    this.#retryAfterRejection();
    return false;
  }

  /** When a rejected token may be replaced, on the monotonic clock. Starts a renewal that is due, without waiting for a request. */
  renewedAt(): number {
    if (this.#clock.monotonic() >= this.#renewAt) void this.#begin();
    return this.#loading === null ? this.#renewAt : this.#clock.monotonic() + LOADING_MS;
  }

  /** When a token may be available, on the monotonic clock; may be in the past. */
  get readyAt(): number {
    return this.#clock.monotonic() < this.#expiresAt ? Number.NEGATIVE_INFINITY : this.#renewAt;
  }

  /** Shown while tokens cannot be renewed; null: they can. */
  problem(): TokenQuota | null {
    if (this.#failure === null) return null;
    const isValid = this.#clock.monotonic() < this.#expiresAt;
    return {
      token: this.#loader.label,
      resource: "any",
      limit: null,
      remaining: null,
      resetAt: null,
      blockedUntil: isValid ? null : this.#wall(this.#renewAt),
      blockReason: "not_renewed",
      blockMessage: this.#failure.message,
    };
  }

  takeNotices(): TokenNotice[] {
    const notices = this.#notices;
    this.#notices = [];
    return notices;
  }

  /** Loads tokens; concurrent callers share one load. Ends early if `signal` is aborted. */
  async #renew(signal: AbortSignal): Promise<void> {
    const loading = this.#begin();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(new UpstreamFailure("unreachable", "the request was aborted"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    try {
      await Promise.race([loading, aborted]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Never rejects. */
  #begin(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    this.#loadedAt = this.#clock.monotonic();
    try {
      const { tokens, validMs } = await this.#loader.load();
      const valid = validMs === null ? null : Math.min(MAX_WAIT_MS, validMs);
      if (valid !== null && valid <= MARGIN_MS)
        throw new UpstreamFailure("refused", "the new token has expired already");
      const now = this.#clock.monotonic();
      this.#tokens = tokens.map(({ token }) => token);
      this.#expiresAt = valid === null ? Number.POSITIVE_INFINITY : now + valid - MARGIN_MS;
      this.#renewAt =
        now + (valid === null ? this.#loader.intervalMs : Math.max(FIRST_RETRY_MS, valid * RENEWAL_PART));
      this.#succeeded();
      this.#onTokens(tokens);
    } catch (error) {
      this.#failed(ofForge(error));
    }
  }

  /** Renews a rejected token earlier than one that works, after growing waits. */
  #retryAfterRejection(): void {
    if (this.#failure !== null) return;
    const now = this.#clock.monotonic();
    if (now - this.#loadedAt > LAST_RETRY_MS) this.#rejections = 0;
    const waitMs = Math.max(this.#loader.minIntervalMs, retryMs(this.#rejections++));
    this.#renewAt = Math.min(this.#renewAt, Math.max(now, this.#loadedAt) + waitMs);
  }

  #succeeded(): void {
    this.#failures = 0;
    if (this.#failure === null) return;
    this.#failure = null;
    this.#notice({ isWorking: true, isNew: true, message: "tokens are renewed again" });
  }

  #failed(failure: UpstreamFailure): void {
    const askedMs = failure.until === null ? 0 : failure.until - this.#clock.now();
    const waitMs = Math.min(MAX_WAIT_MS, Math.max(retryMs(this.#failures++), askedMs));
    this.#renewAt = this.#clock.monotonic() + waitMs;
    const isNew = this.#failure === null;
    this.#failure = failure;
    this.#notice({ isWorking: false, isNew, message: `no new token: ${failure.message}` });
  }

  #notice(notice: Pick<TokenNotice, "isWorking" | "isNew" | "message">): void {
    if (notice.isNew) this.#notices.push({ token: this.#loader.label, isReplaced: false, ...notice });
  }

  #wall(monotonic: number): number {
    return Math.ceil(this.#clock.now() + (monotonic - this.#clock.monotonic()));
  }
}

/** The wait after a failure that follows this many others. */
function retryMs(failures: number): number {
  return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(20, failures));
}

/** Why no token could be obtained; no error may end a worker that still has a valid token. */
function ofForge(error: unknown): UpstreamFailure {
  if (!(error instanceof UpstreamFailure)) return new UpstreamFailure("refused", "obtaining tokens failed");
  return concernsForge(error.kind) ? error : error.as("refused");
}
