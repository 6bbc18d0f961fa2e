import { z } from "zod";
import type { Clock } from "../clock.js";
import { hashToken } from "../tokens.js";
import type { Mail } from "./mail.js";

/** How long a link is valid. */
export const LINK_MS = 15 * 60_000;
/** Maximum number of links per address in that time. */
const MAX_LINKS = 3;
/** Maximum number of addresses counted; the least recently used are evicted. */
const MAX_COUNTED = 10_000;

/** Keeps strangers from flooding a mailbox: limits the links per address, in this process. */
export class LinkQuota {
  readonly #clock: Clock;
  /** When links were requested (monotonic), by the hash of the address. */
  readonly #requests = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one more link for the address; false if the limit is reached. */
  take(email: string): boolean {
    const now = this.#clock.monotonic();
    const hash = hashToken(email);
    const recent = (this.#requests.get(hash) ?? []).filter((at) => now - at < LINK_MS);
    const may = recent.length < MAX_LINKS;
    if (may) recent.push(now);
    this.#requests.delete(hash);
    this.#requests.set(hash, recent);
    for (const oldest of this.#requests.keys()) {
      if (this.#requests.size <= MAX_COUNTED) break;
      this.#requests.delete(oldest);
    }
    return may;
  }
}

/** What we add to the value that the library stores with a link. */
const metadata = z.object({
  /** Hash of the secret of the requesting browser; absent without one. */
  browser: z.string().optional(),
  /** The path to continue to. */
  next: z.string().optional(),
});

/** The value stored with a link. The library reads the address; the rest is ours. */
export const storedLink = metadata.extend({
  email: z.string(),
  /** Number of addresses tried for it. */
  tries: z.int().default(0),
});

/** Adds what was known when a link was requested to the value that the library stores with it. */
export function withMetadata(value: string, given: unknown): string {
  const { data } = metadata.safeParse(given);
  return data === undefined ? value : JSON.stringify({ ...storedLink.parse(JSON.parse(value)), ...data });
}

/** The mail with a sign-in link. */
export function linkMail(to: string, link: URL): Mail {
  const text = `Somebody, probably you, wants to sign in to ${link.host} with this address.

Open this page and press the button to sign in:

${link.href}

The link works once, for ${LINK_MS / 60_000} minutes. In a different browser from the one that requested it, the page
asks for this address. If it was not you, ignore this mail.
`;
  return { to, subject: `Sign in to ${link.host}`, text };
}
