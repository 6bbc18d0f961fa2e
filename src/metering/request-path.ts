const MAX_LENGTH = 200;
/** Percent-encoding is undone this often, so that an encoded token is recognised too. */
const MAX_DECODINGS = 3;

/** Tokens of this service: API keys, sign-in links and watchlist tokens. */
const TOKEN = /sid[a-z]?_[0-9A-Za-z]*/gi;
/** The token of a watchlist, however it is mistyped. */
const WATCHLIST = /(\/watchlists\/)[^/]+/gi;

/**
 * The path of a failed request as it may be stored: decoded, without its query, at most 200 characters. Tokens become `…`, and
 * control and invisible characters are removed.
 */
export function storablePath(path: string): string {
  let text = path.replace(/[?#].*$/s, "");
  for (let i = 0; i < MAX_DECODINGS && text.includes("%"); i++) text = decoded(text);
  return text
    .replaceAll(/\p{C}/gu, "")
    .replace(TOKEN, "…")
    .replace(WATCHLIST, "$1…")
    .slice(0, MAX_LENGTH)
    .toWellFormed();
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
