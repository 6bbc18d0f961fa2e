/**
 * A static site: the pages of the service as files. Pages are the responses of their routes; here they only lose what needs a server (forms,
 * scripts, links to pages that are not published), and their links become relative, so that they work below any path, also from a disk.
 */
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { basePathOf } from "../lib/base-url.js";
import { AppError } from "../lib/errors.js";
import { type RepositoryName, repositoryPage } from "../lib/page-addresses.js";
import { element, xmlDocument } from "../lib/xml.js";
import { exportCatalogue } from "../transfer/transfer.js";
import type { Pass } from "./pass.js";
import { fileName, write } from "./pictures.js";

/** Pages of one site. */
const MAX_PAGES = 5_000;
const FEEDS = ["trending", "rising"] as const;
/** The list pages that are published: those of one ranking and window, without filters. */
const LIST_QUERY = /^(?:(?:sort|window|direction)=[\w-]+&?)*$/;

const LINK = / (href|src)="(\/(?!\/)[^"]*)"/g;

/**
 * Writes the site: the first page, rankings, languages, topics and the page of each repository; the catalogue as NDJSON; with `url`, the
 * public address of the site, also feeds and a site map. Returns the number of pages.
 */
export async function writeSite(
  pass: Pass,
  folder: string,
  { repositories, url }: { repositories: readonly RepositoryName[]; url: string | undefined },
): Promise<number> {
  const pages = new Map<string, string>();
  const files = new Map<string, string>();
  const base = url === undefined ? "" : basePathOf(url);
  const open = ["/", "/about", ...repositories.map(repositoryPage)];
  const tried = new Set(open);
  for (let address = open.shift(); address !== undefined && pages.size < MAX_PAGES; address = open.shift()) {
    const reply = await respond(pass, address, base);
    if (reply === undefined) continue;
    const isPage = typeof reply === "string";
    const file = fileOf(address, isPage);
    (isPage ? pages : files).set(address, file);
    // Kept on the disk until it is known which links lead somewhere.
    await write(join(folder, file), isPage ? withoutServer(reply) : reply);
    if (!isPage) continue;
    for (const [, , link = ""] of reply.matchAll(LINK)) {
      const found = plainAddress(link);
      if (found === undefined || tried.has(found)) continue;
      tried.add(found);
      open.push(found);
    }
  }
  const all = new Map([...pages, ...files]);
  for (const file of pages.values()) {
    const path = join(folder, file);
    await write(path, relativeLinks(readFileSync(path, "utf8"), file, all));
  }
  let lines = "";
  for await (const text of exportCatalogue(pass.modules.catalog)) lines += text;
  await write(join(folder, "repositories.ndjson"), lines);
  if (url !== undefined) await writeAddressed(pass, folder, { url, pages });
  return pages.size;
}

/** The text of a page, or the bytes of a file that pages load; undefined if it does not exist. */
async function respond(
  { responder }: Pass,
  address: string,
  base: string,
): Promise<string | Uint8Array | undefined> {
  try {
    const { status, headers, body } = await responder.get(address);
    if (status !== 200 || body === null) return undefined;
    if (!String(headers["Content-Type"]).startsWith("text/html")) return Buffer.from(body);
    // Links begin with the path of the public address.
    return String(body).replaceAll(` href="${base}/`, ' href="/').replaceAll(` src="${base}/`, ' src="/');
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** The address of a link that may be published, without its fragment. */
function plainAddress(link: string): string | undefined {
  const { pathname, search } = new URL(link.replaceAll("&amp;", "&"), "http://localhost");
  if (/^\/(?:assets|languages|topics)(?:\/|$)/.test(pathname)) return search === "" ? pathname : undefined;
  return pathname === "/explore" && LIST_QUERY.test(search.slice(1)) ? pathname + search : undefined;
}

function fileOf(address: string, isPage: boolean): string {
  const { pathname, searchParams } = new URL(address, "http://localhost");
  const parts = pathname.split("/").filter((part) => part !== "");
  const all = [
    ...parts.map(decodeURIComponent),
    ...[...searchParams].map(([name, value]) => `${name}-${value}`),
  ];
  return [...all.map(fileName), ...(isPage ? ["index.html"] : [])].join("/");
}

/** Forms do not nest, and quotes and angle brackets in texts are escaped, so none of these can end early. */
const NEEDS_SERVER =
  /<form\b[\s\S]*?<\/form>|<button\b[\s\S]*?<\/button>|<script\b[\s\S]*?<\/script>|<meta (?:property="og:(?:url|image)|name="twitter|http-equiv)[^>]*>|<link rel="(?:canonical|alternate)"[^>]*>/g;

const withoutServer = (html: string): string => html.replaceAll(NEEDS_SERVER, "");

/** Buttons and entries of the navigation that lead nowhere. */
const DEAD = /<a(?: class="button")?>[^<]*<\/a>/g;

function relativeLinks(html: string, from: string, files: ReadonlyMap<string, string>): string {
  const linked = html.replaceAll(LINK, (_, name: string, link: string) => {
    const [address = "", fragment] = link.replaceAll("&amp;", "&").split("#");
    const file = files.get(address);
    if (file === undefined) return "";
    const path = posix.relative(posix.dirname(from), file).split("/").map(encodeURIComponent).join("/");
    return ` ${name}="${path}${fragment === undefined ? "" : `#${encodeURIComponent(fragment)}`}"`;
  });
  const top = linked.indexOf("<main");
  return linked.slice(0, top).replaceAll(DEAD, "") + linked.slice(top);
}

/** What needs absolute addresses. */
async function writeAddressed(
  pass: Pass,
  folder: string,
  { url, pages }: { url: string; pages: ReadonlyMap<string, string> },
): Promise<void> {
  for (const ranking of FEEDS) {
    const { body } = await pass.responder.get(`/api/feeds/${ranking}.atom`);
    await write(join(folder, "feeds", `${ranking}.atom`), body);
  }
  const addressOf = (file: string) =>
    `${url}/${file
      .replace(/index\.html$/, "")
      .split("/")
      .map(encodeURIComponent)
      .join("/")}`;
  const locations = [...pages.values()].map((file) =>
    element("url", {}, element("loc", {}, addressOf(file))),
  );
  const namespace = { xmlns: "http://www.sitemaps.org/schemas/sitemap/0.9" };
  await write(join(folder, "sitemap.xml"), xmlDocument(element("urlset", namespace, ...locations)));
}
