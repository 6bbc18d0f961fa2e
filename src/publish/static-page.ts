/**
 * A page that was rendered for a site, without the forms and the links that only a server answers. Quotes and angle brackets in texts are escaped, so that none of these expressions can
 * begin or end within one; attributes may contain a closing bracket.
 */
import { unescapeXml } from "../lib/xml.js";

/** Forms do not nest. */
const NEEDS_SERVER = /<form\b[\s\S]*?<\/form>|<button\b[\s\S]*?<\/button>|<script\b[\s\S]*?<\/script>/g;

const LINK = / (href|src)="(\/(?!\/)[^"]*|#[^"]+)"/g;
/** A link element without an address, which loads nothing. */
const DEAD_ELEMENT = /<link(?!(?:[^>"]|"[^"]*")* href=)(?:[^>"]|"[^"]*")*>/g;
/** A link and what surrounds it, which decides whether a dead one is removed or leaves its text. */
const ANCHOR = /(<p(?: [^>]*)?>|<\/h2>| · )?<a((?: (?:[^>"]|"[^"]*")*)?)>([\s\S]*?)<\/a>(<\/p>)?/g;
/** Tiles are numbers that are also links. */
const MENU = /<(nav|footer)\b(?! class="tiles")[\s\S]*?<\/\1>/g;
/** A fold with nothing but its title, and elements without content. */
const EMPTY =
  /<details\b[^>]*><summary\b[^>]*>(?:(?!<\/summary>|<details)[\s\S])*<\/summary>(?:<div><\/div>)?<\/details>|<(search|ul|li|p)\b[^>]*><\/\1>/g;

/** The page without what needs a server, but with its links. */
export const withoutServer = (html: string): string => html.replaceAll(NEEDS_SERVER, "");

/** The addresses below the base that a page links to or loads. */
export function linksOf(html: string): string[] {
  return [...html.matchAll(LINK)]
    .map(([, , link = ""]) => unescapeXml(link))
    .filter((link) => link[0] === "/");
}

/**
 * The page with other links: `resolve` returns that of an address, undefined for one that leads nowhere. Of those the text stays; controls
 * and entries of menus go.
 */
export function withLinks(html: string, resolve: (address: string) => string | undefined): string {
  const linked = html.replaceAll(LINK, (whole, name: string, link: string) => {
    if (link.startsWith("#")) return html.includes(` id="${link.slice(1)}"`) ? whole : "";
    const [address = "", fragment] = unescapeXml(link).split("#");
    const to = resolve(address);
    return to === undefined ? "" : ` ${name}="${to}${fragment === undefined ? "" : `#${fragment}`}"`;
  });
  let page = linked
    .replaceAll(DEAD_ELEMENT, "")
    .replaceAll(MENU, (menu) => (menu.includes(" href=") ? menu.replaceAll(ANCHOR, unlink(true)) : ""))
    .replaceAll(ANCHOR, unlink(false));
  for (let before = ""; before !== page; ) {
    before = page;
    page = page.replaceAll(EMPTY, "");
  }
  // Without filters a list has the whole width.
  return page.replace('<div class="beside"><section', "<div><section");
}

const unlink =
  (isMenu: boolean) =>
  (
    whole: string,
    ...[before = "", attributes = "", content = "", after = ""]: (string | undefined)[]
  ): string => {
    if (attributes.includes(" href=")) return whole;
    if (before.startsWith("<p") && after !== "") return "";
    const isControl = isMenu || /^(?:<\/h2>| · )$/.test(before) || / class="(?:button|out)"/.test(attributes);
    const style = / class="[^"]*"/.exec(attributes)?.[0] ?? "";
    return `${before === " · " ? "" : before}${isControl ? "" : `<span${style}>${content}</span>`}${after}`;
  };
