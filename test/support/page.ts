import type { World } from "./world.js";

/** A page as a test looks at it. */
export interface SeenPage {
  status: number;
  headers: Headers;
  html: string;
  /** What is read: no tags, no data for scripts, white space as one blank. */
  text: string;
  /** Where links lead to, in their order. */
  links: string[];
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** What stands for a text or attribute in HTML, as it is meant. */
export function decoded(html: string): string {
  return html.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** Opens a page. */
export async function seePage(world: World, path: string, init?: RequestInit): Promise<SeenPage> {
  const response = await world.request(path, init);
  const html = await response.text();
  const visible = html
    .replaceAll(/<(script|title|desc)\b[^>]*>.*?<\/\1>/gs, " ")
    .replaceAll(/<[^>]*>/g, (tag) => (/^<\/?(?:a|span|wbr|strong|time|code)\b/.test(tag) ? "" : " "));
  return {
    status: response.status,
    headers: response.headers,
    html,
    text: decoded(visible).replaceAll(/\s+/g, " ").trim(),
    links: [...html.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map((match) => decoded(match[1] ?? "")),
  };
}

/** The content of the only block of data for scripts. */
export function dataOf({ html }: SeenPage): unknown {
  const blocks = [...html.matchAll(/<script type="application\/json"[^>]*>(.*?)<\/script>/gs)];
  if (blocks.length !== 1) throw new Error(`the page has ${blocks.length} blocks of data`);
  return JSON.parse(blocks[0]?.[1] ?? "");
}
