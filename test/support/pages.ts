import assert from "node:assert/strict";
import type { Mailbox } from "./mail.js";
import { ORIGIN } from "./members.js";
import type { World } from "./world.js";

/** A page as a browser gets it. */
export interface Page {
  status: number;
  headers: Headers;
  html: string;
  /** Where it leads instead; null for a page. */
  location: string | null;
  /** What it sets, each as the browser would send it back. */
  cookies: string[];
}

async function pageOf(response: Response): Promise<Page> {
  const { status, headers } = response;
  const cookies = headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
  return { status, headers, html: await response.text(), location: headers.get("location"), cookies };
}

/** Opens a page. */
export async function open(world: World, path: string, headers: Record<string, string> = {}): Promise<Page> {
  return pageOf(await world.request(path, { headers: { Accept: "text/html", ...headers } }));
}

/** Sends a form as a page of ours does, unless the headers say otherwise. */
export async function submit(
  world: World,
  path: string,
  fields: Record<string, string> = {},
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
  const fields = { token: link.searchParams.get("token") ?? "", next: link.searchParams.get("next") ?? "/" };
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
  assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)| style="| on[a-z]+="/, path);
  assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/, path);
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map((match) => match[1]);
  assert.deepEqual(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
    `${path}: ids that are there twice`,
  );
  return page;
}

/** The text of a part of a page as it is read: without tags, with blanks as one. */
export function textOf(html: string): string {
  const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  return html
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** The rows of the first table with this class: the texts of their cells. */
export function rowsOf(html: string, className: string): string[][] {
  const table = new RegExp(`<table class="[^"]*\\b${className}\\b[^"]*">(.*?)</table>`, "s").exec(html)?.[1];
  const body = /<tbody>(.*)<\/tbody>/s.exec(table ?? "")?.[1] ?? "";
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = ""]) => textOf(cell)),
  );
}

/** Where the link with this text leads, as an address; undefined where there is none. */
export function linkTo(html: string, text: string): URL | undefined {
  for (const [, href = "", inner = ""] of html.matchAll(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs)) {
    if (textOf(inner) === text) return new URL(textOf(href), "http://localhost");
  }
  return undefined;
}

/** The words of a whole page, without tags, scripts and styles; nothing parts two elements. */
export function wordsOf({ html }: Page): string {
  return html
    .replaceAll(/<(script|style)[\s\S]*?<\/\1>/g, "")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replaceAll(/\s+/g, " ")
    .trim();
}
