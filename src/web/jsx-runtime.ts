/**
 * JSX on the server. The compiler turns each element into a call of `jsx` (see tsconfig.json), which only notes it; `render` writes it
 * as text. A component runs when it is written, inside the elements around it, so that a context can give it values.
 */

/** What an element may contain. Texts are escaped; null, undefined and booleans are nothing. */
export type Child = Markup | string | number | boolean | null | undefined | readonly Child[];

/** A component. */
export type FC<Props = object> = (props: Props) => Child;

/** An element, or text that is written as it is. */
export type Markup = Element | Raw;

interface Attributes {
  readonly children?: Child;
  readonly [name: string]: Child;
}

class Raw {
  readonly html: string;

  constructor(html: string) {
    this.html = html;
  }
}

abstract class Element {
  abstract write(): string;

  /** Elements in a text are a mistake: it would be escaped, or written before there is a context. */
  toString(): never {
    throw new TypeError("an element is written by render");
  }
}

class TagElement extends Element {
  readonly #tag: string;
  readonly #attributes: Attributes;

  constructor(tag: string, attributes: Attributes) {
    super();
    this.#tag = tag;
    this.#attributes = attributes;
  }

  write(): string {
    const tag = this.#tag;
    let html = `<${tag}`;
    for (const name in this.#attributes)
      if (name !== "children") html += attribute(name, this.#attributes[name]);
    if (VOID.has(tag)) return `${html}/>`;
    return `${html}>${render(this.#attributes.children)}</${tag}>`;
  }
}

class ComponentElement<Props> extends Element {
  readonly #component: FC<Props>;
  readonly #props: Props;

  constructor(component: FC<Props>, props: Props) {
    super();
    this.#component = component;
    this.#props = props;
  }

  write(): string {
    return render(this.#component(this.#props));
  }
}

/** Elements without content. */
const VOID = new Set("area base br col embed hr img input link meta source track wbr".split(" "));

/** Attributes that are there or not. Of others, a boolean is text. */
const BOOLEAN = new Set(
  "allowfullscreen async autofocus autoplay checked controls default defer disabled download formnovalidate hidden inert ismap itemscope loop multiple muted nomodule novalidate open playsinline readonly required reversed selected".split(
    " ",
  ),
);

/** An attribute with a space before it; empty for one that is left out. */
function attribute(name: string, value: Child): string {
  if (typeof value === "string") return ` ${name}="${escaped(value)}"`;
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean" && BOOLEAN.has(name)) return value ? ` ${name}=""` : "";
  if (typeof value === "object") throw new TypeError(`the attribute ${name} must be text`);
  return ` ${name}="${value}"`;
}

/**
 * What a page may not contain even escaped (HTML, 13.1.4): control characters other than tabs and line breaks, and
 * noncharacters, those beyond the first plane as surrogates: with the flag `u`, a search takes twice as long.
 */
const IMPOSSIBLE =
  /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\uFDD0-\uFDEF\uFFFE\uFFFF]|[\uD83F\uD87F\uD8BF\uD8FF\uD93F\uD97F\uD9BF\uD9FF\uDA3F\uDA7F\uDABF\uDAFF\uDB3F\uDB7F\uDBBF\uDBFF][\uDFFE\uDFFF]/g;
const SPECIAL = /[&<>'"]/g;
/** Whether a text has any of them, with more than those beyond the first plane. Most have none. */
const UNUSUAL = /[&<>'"\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\uFDD0-\uFDEF\uFFFE\uFFFF\uDFFE\uDFFF]/;
const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "'": "&#39;",
  '"': "&quot;",
};

function escaped(text: string): string {
  if (!UNUSUAL.test(text)) return text;
  return possible(text).replaceAll(SPECIAL, (character) => ESCAPES[character] ?? "");
}

function possible(text: string): string {
  return text.replaceAll(IMPOSSIBLE, "\uFFFD");
}

/** The HTML of what an element may contain. */
export function render(child: Child): string {
  if (typeof child === "string") return escaped(child);
  if (child instanceof Element) return child.write();
  if (child === undefined || child === null || typeof child === "boolean") return "";
  if (typeof child === "number") return String(child);
  if (child instanceof Raw) return child.html;
  let html = "";
  for (const one of child) html += render(one);
  return html;
}

/** Text that is HTML already, but for characters that no page may contain. */
export function raw(html: string): Markup {
  return new Raw(possible(html));
}

/** A value for all components inside an element. */
export interface Context<T> {
  Provider: FC<{ value: T; children: Child }>;
  /** For `useContext`. */
  value: T;
}

/** `value`: outside all providers. */
export function createContext<T>(value: T): Context<T> {
  const context: Context<T> = {
    value,
    Provider: ({ value: inner, children }) => {
      const outer = context.value;
      context.value = inner;
      try {
        return new Raw(render(children));
      } finally {
        context.value = outer;
      }
    },
  };
  return context;
}

/** The value of the innermost provider around the component that calls it. */
export function useContext<T>({ value }: Context<T>): T {
  return value;
}

export function jsx(tag: string, attributes: Attributes): Markup;
export function jsx<Props>(component: FC<Props>, props: Props): Markup;
export function jsx<Props extends Attributes>(tag: string | FC<Props>, props: Props): Markup {
  return typeof tag === "string" ? new TagElement(tag, props) : new ComponentElement(tag, props);
}

export { jsx as jsxs };

/** Elements without one around them. */
export const Fragment: FC<{ children?: Child }> = ({ children }) => children;

/** The types that the compiler checks elements by. */
export declare namespace JSX {
  type Element = Markup;
  type ElementType = string | ((props: never) => Child);
  interface ElementChildrenAttribute {
    children: unknown;
  }
  interface IntrinsicElements {
    [tag: string]: Attributes;
  }
}
