/**
 * XML that is well-formed whatever it is made from: texts are escaped where they are put in, so no caller has to think of it.
 */

/** A piece of markup that `element` has made. */
export interface Xml {
  readonly markup: string;
}

/** What no XML 1.0 document may hold, not even escaped: most control characters, broken surrogates, U+FFFE and U+FFFF. */
const IMPOSSIBLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const NAMED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** A text as it stands in an element or a quoted attribute; what XML cannot hold is left out. */
export function escapeXml(text: string): string {
  // Line ends and tabs as references, as a reader would make other white space of them.
  return text
    .replaceAll(IMPOSSIBLE, "")
    .replaceAll(/[&<>"'\t\n\r]/g, (character) => NAMED[character] ?? `&#${character.charCodeAt(0)};`);
}

/** An element; strings among its children are texts. Its name and those of its attributes are the caller's own words. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Xml | string)[]
): Xml {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  const inner = children.map((child) => (typeof child === "string" ? escapeXml(child) : child.markup));
  const tag = `${name}${given.join("")}`;
  return { markup: inner.length === 0 ? `<${tag}/>` : `<${tag}>${inner.join("")}</${name}>` };
}

/** A whole document in UTF-8. */
export function xmlDocument(root: Xml): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.markup}\n`;
}
