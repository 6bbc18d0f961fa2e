import Bowser from "bowser";

/** The family of those who send no user agent. */
export const NO_AGENT = "None";
/** The family of all that is not known, and of what is too much to be told apart. */
export const OTHER_AGENT = "Other";

/** Characters of a user agent that are looked at. */
const MAX_LENGTH = 200;
/** User agents whose family is remembered. */
const MAX_REMEMBERED = 1_000;

/** Names that the library may answer; it also makes up some from what was sent, which are passed over. */
const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const UNTOLD = "Generic";

/** Families of user agents, remembered so that the same program costs one look. */
export class Agents {
  readonly #families = new Map<string, string>();

  /** How many are remembered; at most 1,000. */
  get size(): number {
    return this.#families.size;
  }

  /**
   * The browser or robot that a user agent names, or the name of the program it begins with. Never a version, and never
   * more of what was sent than such a name: letters, digits, dots and hyphens, 24 at most.
   */
  familyOf(userAgent: string | null): string {
    const text = (userAgent ?? "").slice(0, MAX_LENGTH);
    const known = this.#families.get(text);
    if (known !== undefined) {
      // The one that was used longest ago is the first to go.
      this.#families.delete(text);
      this.#families.set(text, known);
      return known;
    }
    const family = familyOf(text.trim());
    this.#families.set(text, family);
    for (const oldest of this.#families.keys()) {
      if (this.#families.size <= MAX_REMEMBERED) break;
      this.#families.delete(oldest);
    }
    return family;
  }
}

function familyOf(text: string): string {
  if (text === "") return NO_AGENT;
  // Browsers, and much else that wants to be taken for one, begin alike.
  if (/^(?:Mozilla|Opera)\//.test(text)) {
    const name = Bowser.getParser(text, true).getBrowserName();
    return BROWSERS.has(name) && name !== UNTOLD ? name : OTHER_AGENT;
  }
  return /^([A-Za-z][A-Za-z0-9.-]{0,23})(?=[/ ;(]|$)/.exec(text)?.[1] ?? OTHER_AGENT;
}
