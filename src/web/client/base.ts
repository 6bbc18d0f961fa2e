/** The path of the base URL, with a slash at its end: this module is at `assets/<version>/base.js` below it. */
const BASE = new URL("../../", import.meta.url).pathname;

/** An address below the base URL; `path` begins with a slash. */
export function address(path: string): string {
  return BASE + path.slice(1);
}
