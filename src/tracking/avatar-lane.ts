import type { ProviderSettings } from "../config/config.js";
import { type AvatarSource, type FoundAvatar, UpstreamFailure } from "../forges/forges.js";
import { type Clock, HOUR_MS } from "../lib/clock.js";
import { ImageRefused, shrink } from "./avatars/shrink.js";
import type { DueAvatar, Owner } from "./avatars/store.js";
import { type Reporter, responded, type Step, type TrackingModules, waiting } from "./lane.js";

const MINUTE_MS = 60_000;

/** Maximum number of repositories of watchlists whose owners get an avatar. */
const WATCHED = 2_000;
/** How often the owners on lists are noted. */
const NOTE_EVERY_MS = 10 * MINUTE_MS;
/** The same while there are none: the first lists appear minutes after the first start. */
const NOTE_FIRST_MS = 15_000;
/** Repositories per read. */
const BATCH = 500;
/** Longest wait for something to become due, as another lane may note an owner or an address; the second while none is known. */
const IDLE_MS = 5 * MINUTE_MS;
const FIRST_MS = MINUTE_MS;
/** How long an avatar without an address waits. Noting the address makes it due. */
const NO_ADDRESS_MS = 24 * 60 * MINUTE_MS;

/** Shortest pause between two requests. */
const PAUSE_MS = 1_000;

/** Pause between two requests for avatars: a tenth of the operator's limit on requests is theirs. */
export function avatarPause({ requestsPerHour }: ProviderSettings): number {
  return requestsPerHour === null ? PAUSE_MS : Math.max(PAUSE_MS, (10 * HOUR_MS) / requestsPerHour);
}

/** Avatars of one provider, and where they come from. */
export interface AvatarLaneOptions {
  modules: Pick<TrackingModules, "avatars">;
  provider: string;
  source: AvatarSource;
  clock: Clock;
  reporter: Reporter;
  /** Pause between two requests. */
  pauseMs: number;
  signal: AbortSignal;
}

/**
 * Fetches the avatars of one provider, one at a time, at its own pace: these requests neither use an API nor its quota. A killed worker
 * leaves a lease; the avatar is due again when that ends.
 */
export class AvatarLane {
  readonly #options: AvatarLaneOptions;

  constructor(options: AvatarLaneOptions) {
    this.#options = options;
  }

  /** Requests the avatar that is due. Throws UpstreamFailure where its host does not respond or asks to slow down. */
  async step(): Promise<Step> {
    const { modules, provider, source, signal, pauseMs } = this.#options;
    const { store } = modules.avatars;
    const due = await store.claim(provider);
    if ("waitMs" in due) {
      const isEmpty = due.waitMs === Number.POSITIVE_INFINITY;
      return waiting(isEmpty ? FIRST_MS : Math.min(IDLE_MS, Math.max(pauseMs, due.waitMs)));
    }
    const address = due.address ?? source.addressOf(due.owner);
    if (address === null) {
      await store.release(due, NO_ADDRESS_MS);
      return waiting(pauseMs);
    }
    let found: FoundAvatar;
    try {
      found = await source.fetch(address, due.etag, signal);
    } catch (error) {
      await this.#noteFailure(due, error);
      throw error;
    }
    await this.#take(due, found);
    return responded(pauseMs);
  }

  async #take(due: DueAvatar, found: FoundAvatar): Promise<void> {
    const { modules, reporter } = this.#options;
    const { store } = modules.avatars;
    if (found.kind === "none") return store.clear(due, found.reason);
    reporter.add("avatars", 1);
    if (found.kind === "unchanged") return store.confirm(due);
    try {
      await store.keep(due, await shrink(found.bytes), found.etag);
    } catch (error) {
      if (!(error instanceof ImageRefused)) throw error;
      await store.clear(due, error.message);
    }
  }

  async #noteFailure(due: DueAvatar, error: unknown): Promise<void> {
    const { modules, signal } = this.#options;
    const { store } = modules.avatars;
    const isOurs = signal.aborted || !(error instanceof UpstreamFailure);
    // A request to slow down says nothing about the image.
    if (isOurs || error.kind === "quota") await store.release(due, MINUTE_MS);
    else await store.postpone(due, `${error.kind}: no usable response`);
  }
}

/**
 * Notes whose avatars are wanted: owners on leaderboards and watchlists, of tracked providers. Pages show an initial for all others, so
 * requests for pages cause no fetching. Returns how long to wait.
 */
export async function noteWanted(modules: TrackingModules, tracked: readonly string[]): Promise<number> {
  const { avatars, rankings, watchlists } = modules;
  const most = avatars.store.maxOwners;
  const leaders = await rankings.allLeaders(most);
  const ids = [
    ...new Set([...leaders.slice(0, most / 2), ...(await watchlists.watched(WATCHED)), ...leaders]),
  ];
  const owners: Owner[] = [];
  for (let from = 0; from < ids.length; from += BATCH) {
    const found = await modules.catalog.findMany(ids.slice(from, from + BATCH));
    for (const { provider, owner, availability } of found)
      if (availability === "AVAILABLE" && tracked.includes(provider)) owners.push({ provider, owner });
  }
  await avatars.store.want(owners);
  return owners.length === 0 ? NOTE_FIRST_MS : NOTE_EVERY_MS;
}
