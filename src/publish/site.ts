/**
 * A static site: the pages of the service as files. Pages are the responses of their routes; here they only lose what needs a server (forms,
 * scripts, links to pages that are not published), and their links become relative, so that they work below any path, also from a disk.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { z } from "zod";
import { RANKINGS } from "../growth/growth.js";
import { AppError } from "../lib/errors.js";
import { chartPage, type RepositoryName, repositoryPage } from "../lib/page-addresses.js";
import { element, escapeXml, unescapeXml, xmlDocument } from "../lib/xml.js";
import { exportCatalogue } from "../transfer/transfer.js";
import { fileName, readEarlier, removeStale, write, writtenPath } from "./files.js";
import { PASS_URL, type Pass } from "./pass.js";
import { linksOf, withLinks, withoutServer } from "./static-page.js";

export interface SiteOptions {
  repositories: readonly RepositoryName[];
  /** Repositories that a page compares. */
  comparisons: readonly (readonly RepositoryName[])[];
  /** Public address of the site, without a slash at its end. */
  url: string | undefined;
}

/** Names the files of a site, so that the next run can delete those that it does not write. */
const MANIFEST = "sidereal-site.json";
const FORMAT = "sidereal-site";
const manifestSchema = z.object({ format: z.literal(FORMAT), files: z.array(writtenPath) });

/** Pages of one site. */
const MAX_PAGES = 5_000;

/** The pages that are published besides those of repositories and comparisons, and the parameters that lists of them have. */
const PAGES: readonly (readonly [path: RegExp, parameter: RegExp])[] = [
  [/^\/$/, /^(?:language|window)$/],
  [/^\/explore$/, /^(?:page|sort|window)$/],
  [/^\/(?:languages|topics)$/, /^(?:sort|window)$/],
  [/^\/(?:languages|topics)\/[^/]+$/, /^window$/],
  [/^\/(?:about$|repos\/)/, /^$/],
];
const SORTS: readonly string[] = [...RANKINGS, "repository-count"];

/** Data that pages link to, and the name of its file. */
const DATA: readonly (readonly [address: RegExp, name: string])[] = [
  [/^\/api\/repos\?/, "repositories"],
  [/^\/api\/repos\/\d+\/metrics\?/, "snapshots"],
  [/^\/api\/repos\/[\w-]+\/by-full-name\?/, "repository"],
  [/^\/api\/embed\/chart\.svg\?/, "chart"],
];
const FEED = /^\/api\/feeds\/([\w-]+)\.atom$/;

/**
 * Writes the site: the first page, rankings, languages, topics, comparisons and the page of each repository, with their data as CSV and JSON
 * next to them; the catalogue as NDJSON; with `url` also feeds and a site map. Deletes what the last run wrote besides. Returns the number of
 * pages.
 */
export async function writeSite(pass: Pass, folder: string, options: SiteOptions): Promise<number> {
  const { repositories, comparisons, url } = options;
  /** The file of each address. */
  const files = new Map([["/repositories.ndjson", "repositories.ndjson"]]);
  if (url !== undefined) files.set("/sitemap.xml", "sitemap.xml");
  const pages: string[] = [];
  /** With the page that leads to each. */
  const feeds = new Map<string, string>();
  const first = [
    "/",
    "/about",
    "/compare",
    ...comparisons.map(chartPage),
    ...repositories.map(repositoryPage),
  ];
  const open = first.map((address) => ({ address: canonical(address), from: "" }));
  const tried = new Set(open.map(({ address }) => address));
  for (const { address, from } of open) {
    if (pages.length === MAX_PAGES) break;
    const reply = await respond(pass, address);
    if (reply === undefined) continue;
    const { type, body } = reply;
    const file = fileOf(address, { type, from });
    files.set(address, file);
    const content =
      typeof body === "string" ? withoutServer(withComparisons(body, address, comparisons)) : body;
    // Kept on the disk until it is known which links lead somewhere.
    write(join(folder, file), content);
    if (type === "atom") feeds.set(file, from);
    if (typeof content !== "string") continue;
    pages.push(file);
    for (const link of linksOf(content).map(canonical)) {
      if (tried.has(link) || !isPublished(link, address, url !== undefined)) continue;
      tried.add(link);
      open.push({ address: link, from: file });
    }
  }
  for (const page of pages) {
    const to = (address: string) => {
      const file = files.get(canonical(address));
      return file && encoded(posix.relative(posix.dirname(page), file));
    };
    rewrite(join(folder, page), (html) => withLinks(html, to));
  }
  const lines = join(folder, "repositories.ndjson");
  write(lines, "");
  for await (const text of exportCatalogue(pass.modules.catalog)) appendFileSync(lines, text);
  const written = [...files.values()].sort();
  const manifest = join(folder, MANIFEST);
  removeStale(folder, readEarlier(manifest, manifestSchema)?.files ?? [], written);
  write(manifest, `${JSON.stringify({ format: FORMAT, version: 1, files: written }, null, 1)}\n`);
  if (url === undefined) return pages.length;
  const publicAddress = (file: string) => `${url}/${encoded(file.replace(/(^|\/)index\.html$/, "$1"))}`;
  for (const [feed, from] of feeds)
    rewrite(join(folder, feed), (xml) =>
      xml
        .replaceAll(/ href="([^"]*)"/g, (whole, link: string) => {
          if (!link.startsWith(`${PASS_URL}/`)) return whole;
          const address = canonical(unescapeXml(link).slice(PASS_URL.length));
          return ` href="${escapeXml(publicAddress(files.get(address) ?? from))}"`;
        })
        .replaceAll(`<id>${PASS_URL}/`, () => `<id>${escapeXml(url)}/`)
        .replaceAll(` scheme="${PASS_URL}/`, () => ` scheme="${escapeXml(url)}/`),
    );
  const locations = pages.map((page) => element("url", {}, element("loc", {}, publicAddress(page))));
  const namespace = { xmlns: "http://www.sitemaps.org/schemas/sitemap/0.9" };
  write(join(folder, "sitemap.xml"), xmlDocument(element("urlset", namespace, ...locations)));
  return pages.length;
}

/** The one address of a page, in whatever order a link has its parameters. */
function canonical(link: string): string {
  const { pathname, searchParams } = new URL(link, PASS_URL);
  searchParams.sort();
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`;
}

/** Whether the site has what a link of the page `from` leads to. */
function isPublished(link: string, from: string, hasFeeds: boolean): boolean {
  const { pathname, searchParams } = new URL(link, PASS_URL);
  if (FEED.test(pathname)) return hasFeeds;
  if (DATA.some(([address]) => address.test(link)) || pathname.startsWith("/assets/")) return true;
  if (pathname === "/compare")
    return from === "/compare" && [...searchParams.keys()].every((name) => name === "repo");
  const parameters = PAGES.find(([path]) => path.test(pathname))?.[1];
  // Each repository has many topics; those have a page that the list of topics shows.
  if (parameters === undefined || /^\/(?:repos|compare)\b/.test(from)) return false;
  return [...searchParams].every(
    ([name, value]) => parameters.test(name) && (name !== "sort" || SORTS.includes(value)),
  );
}

/** A page as a text, and anything else as bytes, with the usual ending of its file; undefined if there is nothing at the address. */
async function respond(
  { responder }: Pass,
  address: string,
): Promise<{ type: string; body: string | Uint8Array } | undefined> {
  try {
    const { status, headers, body } = await responder.get(address);
    if (status !== 200 || body === null) return undefined;
    const [, type = ""] = /^\w+\/(\w+)/.exec(String(headers["Content-Type"])) ?? [];
    return { type, body: type === "html" ? String(body) : Buffer.from(body) };
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** Data is next to the page that leads to it. */
function fileOf(address: string, { type, from }: { type: string; from: string }): string {
  const { pathname, searchParams } = new URL(address, PASS_URL);
  const data = DATA.find(([pattern]) => pattern.test(address))?.[1];
  if (data !== undefined) return posix.join(posix.dirname(from), `${data}.${type}`);
  const feed = FEED.exec(pathname)?.[1];
  const window = searchParams.get("window") ?? "7d";
  if (feed !== undefined) searchParams.delete("window");
  const parts = pathname.split("/").filter((part) => part !== "");
  const page = searchParams.get("page");
  searchParams.delete("page");
  const values = [...searchParams, ...(page === null ? [] : [["page", page]])].map((one) => one.join("-"));
  const folders = [...(feed === undefined ? parts.map(decodeURIComponent) : ["feeds"]), ...values].map(
    fileName,
  );
  const last = feed === undefined ? (type === "html" ? ["index.html"] : []) : [`${feed}-${window}.atom`];
  return [...folders, ...last].join("/");
}

const encoded = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

function rewrite(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

/** The page of comparisons with those that were chosen. */
function withComparisons(html: string, address: string, comparisons: SiteOptions["comparisons"]): string {
  if (address !== "/compare" || comparisons.length === 0) return html;
  const items = comparisons.map((some) =>
    element(
      "li",
      {},
      element("a", { href: chartPage(some) }, some.map(({ fullName }) => fullName).join(", ")),
    ),
  );
  return html.replace("</main>", () => `${element("ul", { class: "plain" }, ...items).markup}</main>`);
}
