import { UpstreamFailure } from "./contract.js";

const MAX_DEPTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses JSON. Throws UpstreamFailure `malformed` for anything else and for values nested deeper than `maxDepth`; the
 * depth is checked first, so that no recursive parser sees such a text.
 */
export function parseJson(text: string, maxDepth: number = MAX_DEPTH): unknown {
  if (/^\s*</.test(text)) throw new UpstreamFailure("malformed", "the response is a page, not JSON");
  if (isDeeper(text, maxDepth)) {
    throw new UpstreamFailure("malformed", `the response is nested deeper than ${maxDepth} levels`);
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new UpstreamFailure("malformed", "the response is not JSON");
  }
}

function isDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isString) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isString = false;
    } else if (code === QUOTE) isString = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}
