import type { ProviderSettings } from "../config/config.js";
import { type AvatarSource, UpstreamFailure } from "../forges/forges.js";
import { HOUR_MS } from "../lib/clock.js";
import { type Owner, shrink } from "./avatars.js";
import type { Lane, Step, TrackingModules } from "./lane.js";

const MINUTE_MS = 60_000;

/** Maximum number of repositories of watchlists whose owners get an avatar, and of those on leaderboards. */
const WATCHED = 2_000;
const LEADERS = 6_000;
/** How often the owners on lists are noted. */
const NOTE_EVERY_MS = 10 * MINUTE_MS;
/** The same while there are none: the first lists appear minutes after the first start. */
const NOTE_FIRST_MS = 15_000;
const BATCH = 500;
/** Longest wait for something to become due, as another lane may note an owner or an address. */
const IDLE_MS = MINUTE_MS;
const PAUSE_MS = 1_000;

/** Pause between two requests for avatars: a tenth of the operator's limit on requests is theirs. */
function avatarPause({ requestsPerHour }: ProviderSettings): number {
  return requestsPerHour === null ? PAUSE_MS : Math.max(PAUSE_MS, (10 * HOUR_MS) / requestsPerHour);
}

/**
 * Fetches the avatar of one provider that is due, at a pace of its own: these requests neither use an API nor its quota. Throws
 * UpstreamFailure if its host does not respond or its rate limit is reached.
 */
export async function avatarStep(
  { modules: { avatars }, provider: { name, settings }, reporter, signal }: Lane,
  source: AvatarSource,
): Promise<Step> {
  const pauseMs = avatarPause(settings);
  const due = await avatars.next(name);
  if (typeof due === "number") return { waitMs: Math.min(IDLE_MS, Math.max(pauseMs, due)) };
  const address = due.address ?? source.addressOf(due.owner);
  if (address === null) {
    // It is due again when its forge has reported an address.
    await avatars.retryLater(due);
    return { waitMs: pauseMs };
  }
  try {
    const image = await source.fetch(address, signal);
    await avatars.keep(due, image && (await shrink(image)));
  } catch (error) {
    const isItsOwn = error instanceof UpstreamFailure && error.kind !== "quota" && !signal.aborted;
    if (isItsOwn) await avatars.retryLater(due);
    throw error;
  }
  reporter.add("avatars", 1);
  return { waitMs: pauseMs, hasResponse: true };
}

/**
 * Notes whose avatars are wanted: owners of the repositories with most stars and of those on watchlists, and tracked. Pages
 * show an initial for all others, so requests for pages cause no fetching. Returns how long to wait.
 */
export async function noteWanted(
  { avatars, watchlists, catalog }: TrackingModules,
  tracked: readonly string[],
): Promise<number> {
  const popular = await catalog.popular(LEADERS);
  const ids = [
    ...new Set([...popular.slice(0, LEADERS / 2), ...(await watchlists.watched(WATCHED)), ...popular]),
  ];
  const owners: Owner[] = [];
  for (let from = 0; from < ids.length; from += BATCH) {
    const found = await catalog.findMany(ids.slice(from, from + BATCH));
    for (const { provider, owner, availability, nextRefreshAt } of found)
      if (availability === "AVAILABLE" && nextRefreshAt !== null && tracked.includes(provider))
        owners.push({ provider, owner });
  }
  await avatars.want(owners);
  return owners.length === 0 ? NOTE_FIRST_MS : NOTE_EVERY_MS;
}
