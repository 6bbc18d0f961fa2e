import { queryWords, wholeOf, wordsOf } from "./words.js";

/** What a search text looks for. */
export interface WordsQuery {
  /** In lower case; only the full name of an address. */
  text: string;
  /** All must match, each once; the last one may be a prefix. */
  words: readonly string[];
  /** The name that the text may be, or the beginning of one, as one word; empty if it cannot be one. */
  name: string;
  /** Words of the owner, if the text is an owner and a name. */
  owner: readonly string[];
  /** The text as a full name in lower case, if it has the form of one. */
  fullName: string | undefined;
}

/** Parses a search text; undefined if it holds no word. Addresses of repositories are reduced to their full names. */
export function parseQuery(text: string): WordsQuery | undefined {
  const plain = withoutAddress(text.trim()).toLowerCase();
  const words = queryWords(plain);
  if (words.length === 0) return undefined;
  const slash = plain.lastIndexOf("/");
  if (slash < 0 || /\s/.test(plain))
    return { text: plain, words, name: wholeOf(plain), owner: [], fullName: undefined };
  return {
    text: plain,
    words,
    name: wholeOf(plain.slice(slash + 1)),
    owner: [...new Set(wordsOf(plain.slice(0, slash)))].slice(0, words.length),
    fullName: plain,
  };
}

/**
 * The full name in the address of a repository on a forge, such as `https://github.com/rust-lang/rust/issues?q=x` or
 * `git@gitlab.com:group/app.git`; any other text as it is.
 */
function withoutAddress(text: string): string {
  const address =
    /^(?:(?:https?|ssh|git):\/\/(?:[^/@\s]*@)?([^/:\s]+)(?::\d+)?\/|git@([^/:\s]+):)([^\s?#]+)/i.exec(text);
  if (address === null) return text;
  // GitLab separates the parts of a repository's page by `/-/`; elsewhere a full name has two parts.
  const [path = "", isGroup] = (address[3] ?? "").split("/-/", 2);
  const parts = path.split("/").filter((part) => part !== "");
  const host = (address[1] ?? address[2] ?? "").toLowerCase();
  const isNested = isGroup !== undefined || host.includes("gitlab");
  return (isNested ? parts : parts.slice(0, 2)).join("/").replace(/\.git$/, "");
}
