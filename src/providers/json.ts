import { UpstreamFailure } from "./failures.js";

const MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The value of a JSON text. Throws UpstreamFailure `malformed` for anything else, and for what is nested deeper than `maxDepth`;
 * the depth is looked at first, in one pass, so that no parser goes down there.
 */
export function parseJson(text: string, maxDepth: number = MAX_DEPTH): unknown {
  if (/^\s*</.test(text)) throw new UpstreamFailure("malformed", "the answer is a page, not JSON");
  if (isDeeper(text, maxDepth)) {
    throw new UpstreamFailure("malformed", `the answer is nested deeper than ${maxDepth} levels`);
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw new UpstreamFailure("malformed", "the answer is not JSON");
  }
}

function isDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isText) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}
