import Bowser from "bowser";
import { OTHER_AGENT } from "../accounts/accounts.js";
import { remembering } from "../lib/remembering.js";

/** The family of requests without a user agent. */
const NO_AGENT = "None";

/** Characters of a user agent that are parsed. */
const MAX_LENGTH = 200;

/** Names the library may return. It also derives names from the input, which are ignored. */
const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const GENERIC = "Generic";

const known = remembering(familyOf, { most: 1_000, longest: MAX_LENGTH });

/**
 * The browser or bot that a user agent names, or the program name it begins with. Never a version, and nothing else of the
 * input: at most 24 letters, digits, dots and hyphens.
 */
export function agentFamily(userAgent: string | undefined): string {
  return known((userAgent ?? "").slice(0, MAX_LENGTH).trim());
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
