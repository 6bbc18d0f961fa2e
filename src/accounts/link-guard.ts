import type { z } from "zod";
import { hashToken } from "../tokens.js";
import type { Library } from "./library.js";
import { storedLink } from "./links.js";

/** Addresses that may be typed for one link, in browsers that have not asked for it. */
const MAX_TRIES = 5;

/**
 * Keeps a link to those who asked for it, so that nobody signs somebody else in to an account that is not theirs by giving
 * them a link: it may be used in the browser that asked for it, and elsewhere by who can tell where it was sent. Looking at
 * a link does not use it up.
 */
export class LinkGuard {
  readonly #library: Library;

  constructor(library: Library) {
    this.#library = library;
  }

  /** Whether the browser that holds `browser` has asked for the link. Undefined for one that nobody may use there. */
  async isAskedBy(token: string, browser: string | undefined): Promise<boolean | undefined> {
    const link = await this.#find(token);
    if (link === undefined) return undefined;
    if (browser !== undefined && link.browser === hashToken(browser)) return true;
    return link.tries < MAX_TRIES ? false : undefined;
  }

  /**
   * Whether the link was sent to this address. Undefined for one that is not there, or for which five addresses have been
   * typed: it counts before it compares, so no number of tries at once is more than five.
   */
  async isSentTo(token: string, address: string): Promise<boolean | undefined> {
    for (;;) {
      const link = await this.#find(token);
      if (link === undefined || link.tries >= MAX_TRIES) return undefined;
      if (await this.#countTry(token, link)) return link.email === address.trim().toLowerCase();
    }
  }

  async #find(token: string): Promise<StoredLink | undefined> {
    const { adapter } = await this.#library.$context;
    const found = await adapter.findOne<{ value: string }>({
      model: "verification",
      where: [
        { field: "identifier", value: hashToken(token) },
        { field: "expiresAt", operator: "gt", value: new Date() },
      ],
    });
    return found === null ? undefined : { ...storedLink.parse(JSON.parse(found.value)), value: found.value };
  }

  /** False where another try was counted meanwhile, or the link was used. */
  async #countTry(token: string, { value, ...link }: StoredLink): Promise<boolean> {
    const { adapter } = await this.#library.$context;
    const changed = await adapter.updateMany({
      model: "verification",
      where: [
        { field: "identifier", value: hashToken(token) },
        { field: "value", value },
      ],
      update: { value: JSON.stringify({ ...link, tries: link.tries + 1 }) },
    });
    return changed > 0;
  }
}

interface StoredLink extends z.infer<typeof storedLink> {
  /** As it stands in the database. */
  value: string;
}
