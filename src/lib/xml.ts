/** Builds well-formed XML: all text is escaped on insertion, so callers never escape anything. */

/** Markup built by `element`. */
export interface Xml {
  readonly markup: string;
}

/** Characters that no XML 1.0 document may contain, even escaped: most control characters, lone surrogates, U+FFFE, U+FFFF. */
const IMPOSSIBLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const NAMED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Escapes text for an element or a quoted attribute, and removes characters that XML cannot contain. */
export function escapeXml(text: string): string {
  // Parsers normalize raw line ends and tabs; references survive.
  return text
    .replaceAll(IMPOSSIBLE, "")
    .replaceAll(/[&<>"'\t\n\r]/g, (character) => NAMED[character] ?? `&#${character.charCodeAt(0)};`);
}

/** The text that `escapeXml` escaped. */
export function unescapeXml(escaped: string): string {
  return escaped.replaceAll(/&(?:#(\d+)|\w+);/g, (reference, code?: string) =>
    code === undefined
      ? (Object.keys(NAMED).find((character) => NAMED[character] === reference) ?? reference)
      : String.fromCodePoint(Number(code)),
  );
}

/** An element. Strings among its children are text. Element and attribute names are not escaped: they must be literals. */
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
