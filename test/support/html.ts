/** An element of a page; text is a string. */
export interface HtmlElement {
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: (HtmlElement | string)[];
}

const VOID = new Set(["area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"]);
/** Elements whose content is text up to their end tag. */
const RAW = new Set(["script", "style"]);
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  "#39": "'",
};
const TAG = /<(\/?)([a-z][a-zA-Z0-9-]*)((?: [a-zA-Z][\w:-]*(?:="[^"<]*")?)*)\s*(\/?)>/y;
const ATTRIBUTE = / ([a-zA-Z][\w:-]*)(?:="([^"<]*)")?/g;

/**
 * Reads a page more strictly than browsers do: every element is closed, attributes are quoted, and `<` and `&` only begin what they
 * should begin. Throws at the first thing that is not so, since browsers disagree about what follows.
 */
export function readHtml(html: string): HtmlElement {
  const doctype = "<!doctype html>";
  if (!html.startsWith(doctype)) throw new Error("no document type");
  const top: HtmlElement = { name: "", attributes: new Map(), children: [] };
  const open = [top];
  let at = doctype.length;
  const fail = (reason: string): never => {
    throw new Error(`${reason}: ${JSON.stringify(html.slice(at, at + 120))}`);
  };
  while (at < html.length) {
    const inner = open.at(-1) ?? top;
    const next = html.indexOf("<", at);
    if (next !== at) {
      inner.children.push(plain(html.slice(at, next === -1 ? undefined : next)));
      at = next === -1 ? html.length : next;
      continue;
    }
    TAG.lastIndex = at;
    const tag = TAG.exec(html) ?? fail("not a tag");
    const [text = "", slash, name = "", attributes = "", selfClosed] = tag;
    if (slash !== "") {
      if (inner.name !== name) fail(`</${name}> inside of <${inner.name}>`);
      open.pop();
      at += text.length;
      continue;
    }
    const element = { name, attributes: attributesOf(attributes), children: [] as HtmlElement["children"] };
    inner.children.push(element);
    at += text.length;
    if (VOID.has(name) || selfClosed !== "") continue;
    if (RAW.has(name)) {
      const end = html.indexOf(`</${name}>`, at);
      if (end === -1) fail(`<${name}> has no end`);
      element.children.push(html.slice(at, end));
      at = end + name.length + 3;
    } else open.push(element);
  }
  if (open.length !== 1) throw new Error(`<${open.at(-1)?.name}> has no end`);
  return top;
}

/** All elements, each after those it is in, with those it is in from the outside to the inside. */
export function* elementsOf(
  root: HtmlElement,
  path: readonly HtmlElement[] = [],
): Generator<{ element: HtmlElement; path: readonly HtmlElement[] }> {
  for (const child of root.children) {
    if (typeof child === "string") continue;
    yield { element: child, path };
    yield* elementsOf(child, [...path, child]);
  }
}

function attributesOf(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = "", value = ""] of text.matchAll(ATTRIBUTE)) {
    if (attributes.has(name)) throw new Error(`the attribute ${name} is there twice`);
    attributes.set(name, plain(value));
  }
  return attributes;
}

/** A text without its escapes. */
function plain(text: string): string {
  return text.replaceAll(/&([^;&]{0,8};)?/g, (found, name: string | undefined) => {
    const character = ENTITIES[name?.slice(0, -1) ?? ""];
    if (character === undefined) throw new Error(`not an escape: ${text.slice(0, 80)} (${found})`);
    return character;
  });
}
