import Bowser from "bowser";
import { OTHER_AGENT } from "../accounts/accounts.js";

/** The family of requests without a user agent. */
const NO_AGENT = "None";

/** Characters of a user agent that are parsed. */
const MAX_LENGTH = 200;
/** Cached user agents. */
const MAX_REMEMBERED = 1_000;

/** Names the library may return. It also derives names from the input, which are ignored. */
const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const GENERIC = "Generic";

/** Families of user agents, cached so that each is parsed once. */
export class Agents {
  readonly #families = new Map<string, string>();

  /** Number of cached user agents; at most 1,000. */
  get size(): number {
    return this.#families.size;
  }

  /**
   * The browser or bot that a user agent names, or the program name it begins with. Never a version, and nothing else of the
   * input: at most 24 letters, digits, dots and hyphens.
   */
  familyOf(userAgent: string | null): string {
    const text = (userAgent ?? "").slice(0, MAX_LENGTH);
    const known = this.#families.get(text);
    if (known !== undefined) return known;
    const family = familyOf(text.trim());
    if (this.#families.size >= MAX_REMEMBERED) this.#families.clear();
    this.#families.set(text, family);
    return family;
  }
}

function familyOf(text: string): string {
  if (text === "") return NO_AGENT;
  // Browsers, and programs that pose as one, begin this way.
  if (/^(?:Mozilla|Opera)\//.test(text)) {
    const name = Bowser.getParser(text, true).getBrowserName();
    return BROWSERS.has(name) && name !== GENERIC ? name : OTHER_AGENT;
  }
  return /^([A-Za-z][A-Za-z0-9.-]{0,23})(?=[/ ;(]|$)/.exec(text)?.[1] ?? OTHER_AGENT;
}
