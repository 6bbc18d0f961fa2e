import type { z } from "zod";
import { hashToken } from "../tokens.js";
import type { Library } from "./library.js";
import { libraryNow } from "./library-time.js";
import { storedLink } from "./links.js";

/** Maximum number of addresses tried for one link, in browsers that did not request it. */
const MAX_TRIES = 5;

/**
 * Ties a link to whoever requested it, so that nobody can sign somebody else in to a foreign account by passing on a link: it
 * works in the browser that requested it, and elsewhere for whoever knows the address it was sent to. Checking a link does
 * not use it up.
 */
export class LinkGuard {
  readonly #library: Library;

  constructor(library: Library) {
    this.#library = library;
  }

  /** Whether the browser with this secret requested the link. Undefined for a link that cannot be used there. */
  async isAskedBy(token: string, browser: string | undefined): Promise<boolean | undefined> {
    const link = await this.#find(token);
    if (link === undefined) return undefined;
    if (browser !== undefined && link.browser === hashToken(browser)) return true;
    return link.tries < MAX_TRIES ? false : undefined;
  }

  /** The path to continue to with a link; undefined for an unknown link. */
  async nextOf(token: string): Promise<string | undefined> {
    return (await this.#find(token))?.next;
  }

  /**
   * Whether the link was sent to this address. Undefined for an unknown link, or after five tries. Each try is counted before
   * addresses are compared, so that concurrent tries cannot exceed the limit.
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
        { field: "expiresAt", operator: "gt", value: libraryNow() },
      ],
    });
    return found === null ? undefined : { ...storedLink.parse(JSON.parse(found.value)), value: found.value };
  }

  /** False if the link changed in the meantime: another try was counted, or it was used. */
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
  /** The raw value in the database. */
  value: string;
}
