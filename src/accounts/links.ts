import { z } from "zod";
import type { Clock } from "../clock.js";
import { hashToken } from "../tokens.js";
import type { Mail } from "./mail.js";

/** How long a link may be used. */
export const LINK_MS = 15 * 60_000;
/** Links for one address in that time. */
const MAX_LINKS = 3;
/** Addresses whose links are counted; those asked for longest ago leave first. */
const MAX_COUNTED = 10_000;

/** Keeps strangers from filling somebody's mailbox: counts the links of each address, in this process. */
export class LinkQuota {
  readonly #clock: Clock;
  /** When links were asked for (monotonic), by the hash of the address. */
  readonly #asked = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether one more link may be made for the address now; then it counts. */
  take(email: string): boolean {
    const now = this.#clock.monotonic();
    const hash = hashToken(email);
    const recent = (this.#asked.get(hash) ?? []).filter((at) => now - at < LINK_MS);
    const may = recent.length < MAX_LINKS;
    if (may) recent.push(now);
    this.#asked.delete(hash);
    this.#asked.set(hash, recent);
    for (const oldest of this.#asked.keys()) {
      if (this.#asked.size <= MAX_COUNTED) break;
      this.#asked.delete(oldest);
    }
    return may;
  }
}

/** What is stored with a link; the library reads the address, and the rest is ours. */
export const storedLink = z.object({
  email: z.string(),
  /** Hash of what the browser that asked for it holds; absent where none did. */
  browser: z.string().optional(),
  /** Addresses that have been typed for it. */
  tries: z.int().default(0),
});

/** What the library stores with a link, and the hash of what the browser that asks for it holds. */
export function withBrowser(value: string, browser: unknown): string {
  return typeof browser === "string"
    ? JSON.stringify({ ...storedLink.parse(JSON.parse(value)), browser })
    : value;
}

/** The mail that brings a link. */
export function linkMail(to: string, link: URL): Mail {
  const text = `Somebody, probably you, wants to sign in to ${link.host} with this address.

Open this page and press the button to sign in:

${link.href}

The link works once, for ${LINK_MS / 60_000} minutes. In another browser than the one it was asked for in, that page
asks for this address. If it was not you, there is nothing to do.
`;
  return { to, subject: `Sign in to ${link.host}`, text };
}
