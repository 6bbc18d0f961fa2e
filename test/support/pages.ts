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

/** Opens a mailed link and presses its button, with the cookies of that browser; gives where it leads. */
export async function followLink(world: World, mailbox: Mailbox, cookie = ""): Promise<Page> {
  const { link } = await mailbox.next();
  const fields = { token: link.searchParams.get("token") ?? "", next: link.searchParams.get("next") ?? "/" };
  return submit(world, link.pathname, fields, { Cookie: cookie });
}

/** The text of a page without its markup, for looking at what it says. */
export function textOf({ html }: Page): string {
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
