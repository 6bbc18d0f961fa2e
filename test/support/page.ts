import assert from "node:assert/strict";
import type { Geometry } from "../../src/charts/chart.js";
import type { Mailbox } from "./mail.js";
import { ORIGIN } from "./members.js";
import type { World } from "./world.js";

/** A page as a browser gets it. Tests check its roles, links and numbers; sentences may be reworded. */
export interface Page {
  status: number;
  headers: Headers;
  html: string;
  /** What a reader sees: no tags, no data for scripts, white space as one blank, a blank between blocks. */
  text: string;
  /** The level and text of each heading, in order. */
  headings: [level: number, text: string][];
  /** The addresses of all links, in order. */
  links: string[];
  /** The names of all buttons, in order. */
  buttons: string[];
  /** What is announced as a problem (role `alert`). */
  alerts: string[];
  /** What is announced otherwise (role `status`), and what is set apart (role `note`). */
  notices: string[];
  notes: string[];
  /** The texts of the links that are current, such as the selected tabs. */
  current: string[];
  /** Names and values of the description lists. */
  facts: ReadonlyMap<string, string>;
  /** Where it redirects to; null if it does not. */
  location: string | null;
  /** The cookies it sets, each as a browser would send it back. */
  cookies: string[];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

const INLINE = /^<\/?(?:a|bdi|span|wbr|strong|time|code)\b/;

/** A text or attribute without the escapes of HTML. */
function decoded(html: string): string {
  return html.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "");
}

/** The numbers and dates in a text, in order, without the punctuation after them. */
export function numbersIn(text: string): string[] {
  return text.match(/[+−-]?\d(?:[\d,.:-]*\d)?/g) ?? [];
}

/** What a reader sees of a part of a page. */
export function textOf(html: string): string {
  const visible = html
    .replaceAll(/<(script|style|title|desc)\b[^>]*>.*?<\/\1>/gs, " ")
    .replaceAll(/<[^>]*>/g, (tag) => (INLINE.test(tag) ? "" : " "));
  return decoded(visible).replaceAll(/\s+/g, " ").trim();
}

/** A response as a page. */
export async function pageOf(response: Response): Promise<Page> {
  const { status, headers } = response;
  const html = await response.text();
  assert.ok(!html.includes("[object "), "an element was written as a text instead of being rendered");
  const innerOf = (expression: RegExp) =>
    [...html.matchAll(expression)].map((match) => textOf(match.groups?.inner ?? ""));
  const levels = [...html.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level));
  const titles = innerOf(/<h([1-6])(?: [^>]*)?>(?<inner>.*?)<\/h\1>/gs);
  return {
    status,
    headers,
    html,
    text: textOf(html),
    headings: titles.map((title, i) => [levels[i] ?? 0, title]),
    links: [...html.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map(([, href = ""]) => decoded(href)),
    buttons: innerOf(/<button\b[^>]*>(?<inner>.*?)<\/button>/gs),
    alerts: innerOf(/<(\w+)\b[^>]*\srole="alert"[^>]*>(?<inner>.*?)<\/\1>/gs),
    notices: innerOf(/<(\w+)\b[^>]*\srole="status"[^>]*>(?<inner>.*?)<\/\1>/gs),
    notes: innerOf(/<(\w+)\b[^>]*\srole="note"[^>]*>(?<inner>.*?)<\/\1>/gs),
    current: innerOf(/<a\b[^>]*\saria-current="[^"]*"[^>]*>(?<inner>.*?)<\/a>/gs),
    facts: new Map(
      [...html.matchAll(/<dt>(.*?)<\/dt>\s*<dd[^>]*>(.*?)<\/dd>/gs)].map(([, name = "", value = ""]) => [
        textOf(name),
        textOf(value),
      ]),
    ),
    location: headers.get("location"),
    cookies: headers.getSetCookie().map((line) => line.split(";")[0] ?? ""),
  };
}

/** Opens a page. */
export async function open(world: World, path: string, headers: Record<string, string> = {}): Promise<Page> {
  return pageOf(await world.request(path, { headers: { Accept: "text/html", ...headers } }));
}

/** Sends a form as a page of ours does, unless the headers say otherwise. */
export async function submit(
  world: World,
  path: string,
  fields: Record<string, string> | string[][] = {},
  headers: Record<string, string> = {},
): Promise<Page> {
  const body = new URLSearchParams(fields).toString();
  return pageOf(
    await world.request(path, {
      method: "POST",
      body,
      headers: {
        Accept: "text/html",
        Origin: ORIGIN,
        "Content-Type": "application/x-www-form-urlencoded",
        "Content-Length": String(Buffer.byteLength(body)),
        ...headers,
      },
    }),
  );
}

/** Opens a mailed link and presses its button, with the cookies of the browser that asked for it; gives where it leads. */
export async function followLink(world: World, mailbox: Mailbox, cookie: string): Promise<Page> {
  const { link } = await mailbox.next();
  const fields = { token: link.searchParams.get("token") ?? "" };
  return submit(world, link.pathname, fields, { Cookie: cookie });
}

/** Opens a page, and fails where its frame is not that of a page: one heading, the policy, nothing inline. */
export async function openPage(
  world: World,
  path: string,
  asked: Record<string, string> = {},
): Promise<Page> {
  const page = await open(world, path, asked);
  const { headers, html } = page;
  assert.match(headers.get("content-type") ?? "", /^text\/html/, path);
  assert.equal(html.match(/<h1[ >]/g)?.length, 1, `${path}: headings`);
  assert.doesNotMatch(html, /<script(?![^>]*\s(?:src=|type="application\/json"))| style="| on[a-z]+="/, path);
  assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/, path);
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map((match) => match[1]);
  assert.deepEqual(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
    `${path}: ids that are there twice`,
  );
  return page;
}

/** The names of the parameters that a page reports as invalid. */
export function problemsOf({ html }: Page): string[] {
  const alert = /<div class="note wrong" role="alert">(.*?)<\/div>/s.exec(html)?.[1] ?? "";
  return [...alert.matchAll(/<li><(a|code)[^>]*>(.*?)<\/\1>/gs)].map(([, , name = ""]) => textOf(name));
}

/** The attributes of the first field with this name; those without a value are empty. Undefined without such a field. */
export function fieldOf({ html }: Pick<Page, "html">, name: string): Record<string, string> | undefined {
  const field = new RegExp(`<(?:input|select|textarea)\\b[^>]*\\sname="${name}"[^>]*>`).exec(html)?.[0];
  if (field === undefined) return undefined;
  const attributes = [...field.matchAll(/\s([\w-]+)(?:="([^"]*)")?/g)];
  return Object.fromEntries(attributes.map(([, attribute, value = ""]) => [attribute, decoded(value)]));
}

/** What a watchlist says of the time since the last visit; empty on the first one. */
export function sinceIn({ html }: Pick<Page, "html">): string {
  return textOf(/<p class="soft" id="since">(.*?)<\/p>/s.exec(html)?.[1] ?? "");
}

/** The rows of the first table with this class, or of the first one: the texts of their cells. */
export function rowsOf(html: string, className?: string): string[][] {
  const attribute = className === undefined ? "[^>]*" : ` class="[^"]*\\b${className}\\b[^"]*"`;
  const table = new RegExp(`<table${attribute}>(.*?)</table>`, "s").exec(html)?.[1];
  const body = /<tbody>(.*)<\/tbody>/s.exec(table ?? "")?.[1] ?? "";
  return [...body.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = ""]) => textOf(cell)),
  );
}

/** The texts of the links to pages of repositories, in order. */
export function repositoriesIn(html: string): string[] {
  return [...html.matchAll(/<a href="\/repos\/[^"#]*">(.*?)<\/a>/g)].map(([, name = ""]) => textOf(name));
}

/** Where the link with this text leads, as an address; undefined where there is none. */
export function linkTo(html: string, text: string): URL | undefined {
  for (const [, href = "", inner = ""] of html.matchAll(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs)) {
    if (textOf(inner) === text) return new URL(textOf(href), "http://localhost");
  }
  return undefined;
}

/** The content of the only block of data for scripts. */
/** Where the wide drawing of the chart of a page has its lines. */
export function geometryOf({ html }: Page): Geometry {
  const [, text = ""] = /class="plot-wide" data-geometry="([^"]*)"/.exec(html) ?? [];
  return JSON.parse(text.replaceAll("&quot;", '"'));
}

export function dataOf({ html }: Page): unknown {
  const blocks = [...html.matchAll(/<script type="application\/json"[^>]*>(.*?)<\/script>/gs)];
  if (blocks.length !== 1) throw new Error(`the page has ${blocks.length} blocks of data`);
  return JSON.parse(blocks[0]?.[1] ?? "");
}
