/** The path of the base URL, with a slash at its end: this module is at `assets/<version>/base.js` below it. */
const BASE = new URL("../../", import.meta.url).pathname;

/** An address below the base URL; `path` begins with a slash. */
export function address(path: string): string {
  return BASE + path.slice(1);
}

/** The event of an element that replaced another, so that scripts can set up its content. */
export const REPLACED = "sidereal-replaced";

/** Calls `start` with the document, and later with each element that replaces another. */
export function startIn(start: (within: ParentNode) => void): void {
  start(document);
  document.addEventListener(REPLACED, ({ target }) => {
    if (target instanceof Element) start(target);
  });
}

/** Values that the browser stores for its reader; all are absent if it stores nothing. */

const prefixed = (name: string): string => `sidereal.${name}`;

export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(prefixed(name));
  } catch {
    return null;
  }
}

/** `null` removes it. */
export function store(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(prefixed(name));
    else localStorage.setItem(prefixed(name), value);
  } catch {
    // Storage is full or denied: nothing is remembered.
  }
}

/** A repository that the reader has opened. */
export interface Recent {
  fullName: string;
  /** Path of its page. */
  path: string;
}

const RECENT = "recent";
const MAX_RECENT = 6;

/** The repositories opened last, newest first. Ignores malformed entries. */
export function readRecent(): Recent[] {
  try {
    const read: unknown = JSON.parse(readStored(RECENT) ?? "[]");
    if (!Array.isArray(read)) return [];
    return read
      .filter(
        (one): one is Recent =>
          typeof one?.fullName === "string" && typeof one.path === "string" && /^\/(?!\/)/.test(one.path),
      )
      .slice(0, MAX_RECENT);
  } catch {
    return [];
  }
}

export function addRecent(opened: Recent): void {
  const others = readRecent().filter(({ path }) => path !== opened.path);
  store(RECENT, JSON.stringify([opened, ...others].slice(0, MAX_RECENT)));
}

/** Forgets one of them, or all. */
export function removeRecent(path?: string): void {
  const kept = path === undefined ? [] : readRecent().filter((one) => one.path !== path);
  store(RECENT, kept.length === 0 ? null : JSON.stringify(kept));
}

const region = document.createElement("div");
region.className = "hidden";
region.setAttribute("role", "status");
document.body.append(region);

/** Announces a change of the page to screen readers. */
export function announce(text: string): void {
  region.textContent = text;
}
