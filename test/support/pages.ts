import assert from "node:assert/strict";
import type { World } from "./world.js";

/** A page as a browser asks for it. */
export interface Page {
  status: number;
  headers: Headers;
  html: string;
}

/** Opens a page, and fails where its frame is not that of a page: one heading, the policy, nothing inline. */
export async function openPage(
  world: World,
  path: string,
  headers: Record<string, string> = {},
): Promise<Page> {
  const response = await world.request(path, { headers: { Accept: "text/html", ...headers } });
  const html = await response.text();
  assert.match(response.headers.get("content-type") ?? "", /^text\/html/, path);
  assert.equal(html.match(/<h1[ >]/g)?.length, 1, `${path}: headings`);
  assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)| style="| on[a-z]+="/, path);
  assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/, path);
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map((match) => match[1]);
  assert.deepEqual(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
    `${path}: ids that are there twice`,
  );
  return { status: response.status, headers: response.headers, html };
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
