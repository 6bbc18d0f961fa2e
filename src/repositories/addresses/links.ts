import { fullNameKey } from "../record-rules.js";
import type { AddressProblem } from "./split.js";

/** The repositories that a text links to. */
export interface LinkedAddresses<Address> {
  /** Each once, in the order of the text. */
  addresses: Address[];
  /** Number of other links: on other hosts, and to pages of no repository. */
  others: number;
}

/** What addresses consist of in Markdown, HTML and plain text: everything but what encloses and separates them. */
const WORD = /[^\s<>"'`()[\]{}|\\^,;]+/g;
/** What follows an address in a sentence, or emphasizes it. */
const TRAILING = new Set(".:!?*_~");
/** The mark of an item of a list. */
const BULLET = /^(?:[-*+]|\d{1,9}[.)])$/;

/**
 * The addresses in a text: links, clone URLs, and names such as `owner/name` if each line is a single one. Takes time in
 * proportion to the text. `read`: parses one address.
 */
export function linksIn<Address extends { provider: string; fullName: string }>(
  text: string,
  read: (address: string) => Address | AddressProblem,
): LinkedAddresses<Address> {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => (line.match(WORD) ?? []).filter((word) => !BULLET.test(word)).map(withoutTrailing))
    .filter(([first]) => first !== undefined && !first.startsWith("#"));
  const isList = lines.every(({ length }) => length === 1);
  const found = new Map<string, Address>();
  const others = new Set<string>();
  for (const word of lines.flat()) {
    const address = linkIn(word) ?? (isList ? word : undefined);
    if (address === undefined) continue;
    const one = read(address);
    if ("problem" in one) {
      others.add(address);
      continue;
    }
    const key = `${one.provider} ${fullNameKey(one.fullName)}`;
    if (!found.has(key)) found.set(key, one);
  }
  return { addresses: [...found.values()], others: others.size };
}

/** The part of a word that is an address with a scheme, `user@host:path` or `host/owner/name`; undefined without one. */
function linkIn(word: string): string | undefined {
  const scheme = word.indexOf("://");
  if (scheme > 0) {
    // `href=https://…` without quotes.
    let start = scheme;
    while (start > 0 && /[a-z+]/i.test(word[start - 1] ?? "")) start--;
    return start === scheme ? undefined : word.slice(start);
  }
  if (/^[\w.-]{1,64}@[\w.-]{1,255}:./.test(word)) return word;
  const slash = word.indexOf("/");
  const hasPath = slash > 3 && word.slice(0, slash).includes(".");
  return hasPath && word.includes("/", slash + 1) ? word : undefined;
}

function withoutTrailing(word: string): string {
  let end = word.length;
  while (end > 0 && TRAILING.has(word[end - 1] ?? "")) end--;
  return word.slice(0, end);
}
