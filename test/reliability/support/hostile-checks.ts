/** Checks of responses that hold texts written by others: nothing in them may run, break their form, or lead astray. */
import { parse } from "csv-parse/sync";
import { elementsOf, type HtmlElement, readHtml } from "../../support/html.js";
import { FORMULA, spreadsheetCells } from "../../support/spreadsheet.js";
import { readPicture } from "../../support/svg.js";
import { parseXml, type XmlElement } from "../../support/xml.js";

export const VIOLATIONS = [
  "responses with a fault of ours (5xx)",
  "documents that are not well-formed",
  "scripts, event attributes and foreign references",
  "addresses that run",
  "formulas",
  "texts that can reorder what is around them",
  "changed built-in objects",
  "responses without a header that protects browsers",
] as const;
export type ViolationKind = (typeof VIOLATIONS)[number];
const [FAULT, MALFORMED, ACTIVE, RUNS, FORMULAS, REORDERS, PROTOTYPE, UNPROTECTED] = VIOLATIONS;

export interface Violation {
  kind: ViolationKind;
  where: string;
  what: string;
}

/** Headers of every response of a service with an https address, with values that protect. */
export const PROTECTING: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "content-security-policy": "default-src 'none'",
  "strict-transport-security": "max-age=31536000",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=()",
};

type Found = [kind: ViolationKind, what: string];

const RUNNING = /^[\s\p{C}]*(?:javascript|data|vbscript|blob|file):/iu;
const CONTROLS = /[\u202A-\u202E\u2066-\u2069]/;
const RIGHT_TO_LEFT = /[\u05BE-\u05F4\u0620-\u064A\u066E-\u07FF]/;
/** Objects that every other one inherits from, with the properties they began with. */
const BUILT_IN = [Object.prototype, Array.prototype, Function.prototype, String.prototype].map(
  (object) => [object, Object.getOwnPropertyNames(object).join()] as const,
);

/** What is wrong with a response. `origin` is the address of the service. */
export async function violationsIn(response: Response, where: string, origin: string): Promise<Violation[]> {
  const found: Found[] = [];
  const { status, headers } = response;
  const bytes = Buffer.from(await response.arrayBuffer());
  const body = bytes.toString("utf8");
  if (status >= 500) found.push([FAULT, `${status} ${body.slice(0, 300)}`]);
  if (!Buffer.from(body).equals(bytes) && !headers.get("content-type")?.startsWith("image/png"))
    found.push([MALFORMED, "not UTF-8"]);
  for (const [name, value] of headers)
    if (!/^[\x20-\x7E]*$/.test(value)) found.push([MALFORMED, `${name}: ${value}`]);
  for (const name of Object.keys(PROTECTING)) if (!headers.has(name)) found.push([UNPROTECTED, name]);
  const location = headers.get("location");
  if (location !== null && !isOwn(location, origin) && !location.startsWith("https://github.com/login/"))
    found.push([RUNS, `Location: ${location}`]);
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  const check = CHECKS.get(type);
  if (check !== undefined && bytes.length > 0) {
    try {
      found.push(...check(type === "image/png" ? bytes.toString("latin1") : body, origin));
    } catch (error) {
      found.push([MALFORMED, error instanceof Error ? error.message : String(error)]);
    }
  } else if (bytes.length > 0 && type !== "text/plain" && type !== "text/javascript" && type !== "text/css")
    found.push([MALFORMED, `nothing checks ${type}`]);
  for (const [object, names] of BUILT_IN)
    if (Object.getOwnPropertyNames(object).join() !== names) found.push([PROTOTYPE, String(object)]);
  return found.map(([kind, what]) => ({ kind, where, what: what.slice(0, 400) }));
}

const CHECKS: ReadonlyMap<string, (body: string, origin: string) => Found[]> = new Map([
  ["text/html", inHtml],
  ["text/csv", inCsv],
  ["image/svg+xml", inSvg],
  ["application/atom+xml", inXml],
  ["application/xml", inXml],
  ["application/json", inJson],
  ["application/manifest+json", inJson],
  ["application/x-ndjson", (body) => body.split("\n").flatMap((line) => (line === "" ? [] : inJson(line)))],
  ["application/problem+json", inJson],
  ["image/png", (body) => (body.startsWith("\x89PNG\r\n\x1A\n") ? [] : [[MALFORMED, "not a PNG"]])],
]);

/** Whether an address is a path of ours, or below our address. */
function isOwn(address: string, origin: string): boolean {
  return /^(?:\/(?![/\\])|[#?]|$)/.test(address) || address === origin || address.startsWith(`${origin}/`);
}

const ADDRESSES = new Set(["href", "src", "action", "formaction", "poster", "data", "srcset", "xlink:href"]);
const FORBIDDEN = new Set(["iframe", "object", "embed", "base", "foreignObject", "use", "image", "style"]);

function inHtml(body: string, origin: string): Found[] {
  const found: Found[] = [];
  // Browsers replace or drop these before they read anything else.
  if (/(?![\t\n\r])[\p{Cc}\p{NChar}]/u.test(body)) found.push([MALFORMED, "a control character"]);
  for (const { element, path } of elementsOf(readHtml(body))) {
    const { name, attributes } = element;
    if (FORBIDDEN.has(name)) found.push([ACTIVE, `<${name}>`]);
    const isStyled = attributes.has("style");
    if (isStyled || (attributes.has("http-equiv") && !isReload(attributes)))
      found.push([ACTIVE, shown(element)]);
    if (name === "script") found.push(...inScript(element, origin));
    for (const [attribute, value] of attributes) {
      if (/^on/i.test(attribute)) found.push([ACTIVE, shown(element)]);
      if (!ADDRESSES.has(attribute)) continue;
      if (RUNNING.test(value)) found.push([RUNS, shown(element)]);
      else if (!isOwn(value, origin) && !(name === "a" && /^https?:\/\/[^/]/.test(value)))
        found.push([ACTIVE, shown(element)]);
    }
    for (const child of element.children)
      if (typeof child === "string") found.push(...reordering(child, [...path, element]));
  }
  return found;
}

/** Whether a page that waits for something only loads itself again after some seconds. */
function isReload(attributes: ReadonlyMap<string, string>): boolean {
  return attributes.get("http-equiv") === "refresh" && /^\d+$/.test(attributes.get("content") ?? "");
}

function inScript({ attributes, children }: HtmlElement, origin: string): Found[] {
  const src = attributes.get("src");
  if (src !== undefined) return isOwn(src, origin) ? [] : [[ACTIVE, src]];
  const text = children.join("");
  if (attributes.get("type") !== "application/json" || text.includes("<"))
    return [[ACTIVE, text.slice(0, 200)]];
  JSON.parse(text);
  return [];
}

/** Elements in which text cannot reach beyond their own, whatever else is in them. */
const ISOLATING = new Set(["bdi", "title", "option", "textarea", "script"]);
/** Elements inside of a line that the style sheet isolates. */
export const INLINE_ISOLATED = [
  "a",
  "abbr",
  "b",
  "button",
  "code",
  "label",
  "span",
  "strong",
  "summary",
  "time",
];
/** With them, the elements that are a paragraph of their own for the algorithm of direction (UAX #9). */
const APART = new Set([
  ...INLINE_ISOLATED,
  ...["li", "td", "th", "p", "h1", "h2", "h3", "h4", "h5", "h6", "dd", "dt", "div", "caption", "pre", "main"],
  ...["section", "ul", "form", "body", "figcaption", "legend", "text", "desc"],
]);

/** A text that can reorder what is around it, as it shares a line with something else and nothing isolates it. */
function reordering(text: string, path: readonly HtmlElement[]): Found[] {
  const open = text.replaceAll(/\u2068[^\u2066-\u2069\u202A-\u202E]*\u2069/g, "");
  if (!CONTROLS.test(open) && !RIGHT_TO_LEFT.test(open)) return [];
  for (const element of path.toReversed()) {
    if (ISOLATING.has(element.name) || element.attributes.has("dir")) return [];
    if (APART.has(element.name)) {
      const line = textOf(element).trim();
      return line === text.trim() ? [] : [[REORDERS, line.slice(0, 200)]];
    }
  }
  return [[REORDERS, text]];
}

function textOf(element: HtmlElement): string {
  return element.children.map((child) => (typeof child === "string" ? child : textOf(child))).join("");
}

function shown({ name, attributes }: HtmlElement): string {
  return `<${name} ${[...attributes].map(([key, value]) => `${key}="${value}"`).join(" ")}>`;
}

function inCsv(body: string): Found[] {
  parse(body, { columns: true });
  return [",", ";", "\t", "|"].flatMap((separator) =>
    spreadsheetCells(body, separator)
      .filter((cell) => FORMULA.test(cell))
      .map((cell): Found => [FORMULAS, `${cell} (at ${JSON.stringify(separator)})`]),
  );
}

function inSvg(body: string): Found[] {
  const { texts } = readPicture(body);
  return texts.filter(({ text }) => CONTROLS.test(text)).map(({ text }) => [REORDERS, text]);
}

function inXml(body: string, origin: string): Found[] {
  const visit = ({ name, attributes, children, text }: XmlElement): Found[] => [
    ...Object.entries(attributes).flatMap(([key, value]): Found[] =>
      /href|src|url|uri/.test(key) && !isOwn(value, origin) && !/^https?:\/\/[^/]/.test(value)
        ? [[RUNS, `${name} ${key}="${value}"`]]
        : [],
    ),
    ...(name.endsWith("}loc") && !isOwn(text, origin) ? [[RUNS, text] satisfies Found] : []),
    ...children.flatMap(visit),
  ];
  return visit(parseXml(body));
}

/** Fields that readers make links of. */
const LINKS = /^(?:url|homepage|href|src|image|page|self|location)$/i;

function inJson(body: string): Found[] {
  const visit = (value: unknown, key: string): Found[] => {
    if (typeof value === "string") {
      if (!value.isWellFormed()) return [[MALFORMED, value]];
      return LINKS.test(key) && RUNNING.test(value) ? [[RUNS, `${key}: ${value}`]] : [];
    }
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([name, inner]) => visit(inner, Array.isArray(value) ? key : name));
  };
  return visit(JSON.parse(body), "");
}
