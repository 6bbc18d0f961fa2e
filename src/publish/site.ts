/**
 * A static site: the pages of the service as files. Pages are the responses of their routes, which leave out controls that need a server and links to
 * pages that are not published; here their links become relative, so that they work below any path, also from a disk.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { z } from "zod";
import { MAIN_SORTS } from "../discovery/discovery.js";
import { WINDOWS } from "../growth/growth.js";
import { AppError } from "../lib/errors.js";
import { chartPage, type RepositoryName, repositoryPage } from "../lib/page-addresses.js";
import { element, escapeXml, unescapeXml, xmlDocument } from "../lib/xml.js";
import { exportCatalogue } from "../transfer/transfer.js";
import { type FileSite, RANKED_FROM } from "../web/web.js";
import { fileName, OwnFolder, readManifest, writeJson, writtenPath } from "./files.js";
import { PASS_URL, type Pass, type Responder } from "./pass.js";

export interface SiteOptions extends Omit<FileSite, "has"> {
  repositories: readonly RepositoryName[];
  /** Public address of the site, without a slash at its end. */
  url: string | undefined;
}

/** Names the files of a site, so that the next run can delete those that it does not write. */
const MANIFEST = "sidereal-site.json";
const FORMAT = "sidereal-site";
const manifestSchema = z.object({ format: z.literal(FORMAT), files: z.array(writtenPath) });

const LINES = "repositories.ndjson";
const SITE_MAP = "sitemap.xml";
/** Files that no route returns here, by their address. */
const OTHERS = new Map([LINES, SITE_MAP].map((file) => [`/${file}`, file]));

/** Pages of one site. */
const MAX_PAGES = 5_000;

/** The sorts that published lists have. */
const SORTS: readonly string[] = [...MAIN_SORTS, "repository-count"];

/** Data that pages link to, and the name of its file. */
const DATA: readonly (readonly [address: RegExp, name: string])[] = [
  [/^\/api\/repos\?/, "repositories"],
  [/^\/api\/repos\/\d+\/metrics\?/, "snapshots"],
  [/^\/api\/repos\/[\w-]+\/by-full-name\?/, "repository"],
  [/^\/api\/embed\/chart\.svg\?/, "chart"],
];
const FIRST_PAGE = "index.html";
/** Linked from the first page, it is a picture of a repository for its README. */
const PICTURE = "/api/embed/chart.svg";
const PICTURES = "pictures";
const FEED = /^\/api\/feeds\/([\w-]+)\.atom$/;

/** Something that a route responded, and its file. */
interface Found {
  address: string;
  file: string;
  type: string;
  /** The page that leads to it. */
  from: string;
  /** The place of its content until it is known which links have a target. */
  path: string;
}

/** The files that earlier runs have written to the folder of a site. Throws InputFault for a file of others. */
export const readSite = (folder: string): string[] =>
  readManifest(folder, MANIFEST, manifestSchema)?.files ?? [];

/**
 * Writes the site: the first page, comparisons, the page of each repository, and of many repositories also rankings, languages and topics, with
 * their data as CSV and JSON next to them; a picture of each; the catalogue as NDJSON; with `url` also feeds and a site map. Deletes other files of earlier runs. Returns the number of
 * pages, and sentences about those that could not be written.
 */
export async function writeSite(
  pass: Pass,
  folder: string,
  options: SiteOptions,
): Promise<{ pages: number; problems: string[] }> {
  const { url } = options;
  const { found, problems } = await collect(pass, options);
  const fileOf = (address: string) => OTHERS.get(address) ?? found.get(keyOf(address))?.file;
  const publicAddress = (file: string) => `${url}/${encoded(file.replace(/(^|\/)index\.html$/, "$1"))}`;
  const all = [...found.values()];
  const pages = all.filter(({ type }) => type === "html").map(({ file }) => file);
  const earlier = readSite(folder);
  const own = new OwnFolder(folder, earlier);
  own.claim([...all.map(({ file }) => file), LINES, ...(url === undefined ? [] : [SITE_MAP])]);
  const list = (files: readonly string[]) =>
    writeJson(join(folder, MANIFEST), { format: FORMAT, version: 1, files });
  const linkFrom = (file: string, address: string) => {
    const to = fileOf(canonical(address));
    return to && own.has(to) ? encoded(posix.relative(posix.dirname(file), to)) : undefined;
  };
  const complete = pass.siteResponder({ ...options, has: (address) => linkFrom("", address) !== undefined });
  // A run that is killed leaves a list with all files.
  list([...own.files, ...own.stale]);
  for (const { address, file, type, from, path } of all)
    await own.write(file, async () => {
      if (type !== "html" && type !== "atom") return { path };
      const text = readFileSync(path, "utf8");
      if (type === "atom") return withPublicLinks(text, url ?? "", (to) => publicAddress(fileOf(to) ?? from));
      const isComplete = linksOf(text).every((link) => linkFrom(file, link) !== undefined);
      const page = isComplete ? text : (await respond(complete, address))?.body;
      return withLinks(String(page ?? text), (link) => linkFrom(file, link));
    });
  await own.write(LINES, async () => {
    const path = join(pass.folder, LINES);
    for await (const text of exportCatalogue(pass.modules.catalog)) appendFileSync(path, text);
    return { path };
  });
  await own.write(SITE_MAP, () => {
    const locations = pages.map((page) => element("url", {}, element("loc", {}, publicAddress(page))));
    const namespace = { xmlns: "http://www.sitemaps.org/schemas/sitemap/0.9" };
    return xmlDocument(element("urlset", namespace, ...locations));
  });
  // Without it GitHub Pages leaves out files that begin with an underscore.
  writeFileSync(join(folder, ".nojekyll"), "", { flag: "a" });
  own.removeStale();
  list(own.files);
  return { pages: pages.length, problems: [...problems, ...own.problems()] };
}

/** Follows links from the first page and those of repositories and comparisons. The result has the responses by the keys of their addresses. */
async function collect(
  pass: Pass,
  options: SiteOptions,
): Promise<{ found: Map<string, Found>; problems: string[] }> {
  const found = new Map<string, Found>();
  const problems: string[] = [];
  const { repositories, comparisons } = options;
  const compared = comparisons.map((one) => chartPage(one.repositories));
  const first = ["/", "/about", ...compared, ...repositories.map(repositoryPage)];
  const open = first.map((address) => ({ address: canonical(address), from: "" }));
  const tried = new Set(open.map(({ address }) => keyOf(address)));
  const responder = pass.siteResponder({
    ...options,
    has: (one) => isPublished(pass.responder, one, options),
  });
  let pages = 0;
  for (const { address, from } of open) {
    if (pages === MAX_PAGES) break;
    try {
      const reply = await respond(responder, address);
      if (reply === undefined) continue;
      const { type, body } = reply;
      const path = join(pass.folder, `page-${found.size}`);
      writeFileSync(path, body);
      const file = pathOf(address, { type, from });
      found.set(keyOf(address), { address, file, type, from, path });
      if (typeof body !== "string") continue;
      pages++;
      for (const link of linksOf(body)) {
        if (tried.has(keyOf(link)) || !isFollowed(link, address)) continue;
        tried.add(keyOf(link));
        open.push({ address: link, from: file });
      }
    } catch (error) {
      problems.push(
        `${address}: the page could not be made: ${error instanceof Error ? error.message : error}`,
      );
    }
  }
  return { found, problems };
}

/** Paths do not differ by case alone: files of such names would be one on some systems. */
const keyOf = (address: string): string => address.toLowerCase();

/** A feed whose links lead to the site. */
function withPublicLinks(xml: string, url: string, to: (address: string) => string): string {
  return xml
    .replaceAll(/ href="([^"]*)"/g, (whole, link: string) => {
      if (!link.startsWith(`${PASS_URL}/`)) return whole;
      return ` href="${escapeXml(to(canonical(unescapeXml(link).slice(PASS_URL.length))))}"`;
    })
    .replaceAll(`<id>${PASS_URL}/`, () => `<id>${escapeXml(url)}/`)
    .replaceAll(` scheme="${PASS_URL}/`, () => ` scheme="${escapeXml(url)}/`);
}

/** The one address of a page, in whatever order a link has its parameters. */
function canonical(link: string): string {
  const { pathname, searchParams } = new URL(link, PASS_URL);
  searchParams.sort();
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`;
}

/** Whether a site has the target of an address, if that exists. */
function isPublished(responder: Responder, address: string, { url, repositories }: SiteOptions): boolean {
  const { pathname, searchParams } = new URL(address, PASS_URL);
  if (FEED.test(pathname) || pathname === `/${SITE_MAP}`) return url !== undefined;
  if (OTHERS.has(pathname) || isData(address)) return true;
  const { published: parameters, isRanking = false } = responder.routeOf(pathname) ?? {};
  return (
    parameters !== undefined &&
    !(isRanking && repositories.length < RANKED_FROM) &&
    // The first page has the comparisons.
    address !== "/compare" &&
    [...searchParams].every(
      ([name, value]) => parameters.includes(name) && (name !== "sort" || SORTS.includes(value)),
    )
  );
}

const isData = (address: string) =>
  address.startsWith("/assets/") || DATA.some(([pattern]) => pattern.test(address));

/**
 * Whether a link of the page `from` makes its target a part of the site. Each repository has many topics; those have a page that the list
 * of topics shows, and of comparisons those of the list.
 */
const isFollowed = (link: string, from: string) =>
  !OTHERS.has(link) && !link.startsWith("/compare") && (isData(link) || !/^\/(?:repos|compare)\b/.test(from));

/** A page as a text, and anything else as bytes, with the usual ending of its file; undefined if there is nothing at the address. */
async function respond(
  responder: Responder,
  address: string,
): Promise<{ type: string; body: string | Uint8Array } | undefined> {
  try {
    const { status, headers, body } = await responder.get(address);
    if (status !== 200 || body === null) return undefined;
    const [, type = ""] = /^\w+\/(\w+)/.exec(String(headers["Content-Type"])) ?? [];
    return { type, body: type === "html" ? String(body) : Buffer.from(body) };
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return undefined;
    throw error;
  }
}

const LINK = / (href|src)="(\/(?!\/)[^"]*)"/g;

/** The addresses that a page links to or loads. */
const linksOf = (html: string): string[] =>
  [...html.matchAll(LINK)].map(([, , link = ""]) => canonical(unescapeXml(link)));

/** The page with other links: `resolve` returns that of an address, undefined for one that leads nowhere. */
const withLinks = (html: string, resolve: (address: string) => string | undefined): string =>
  html.replaceAll(LINK, (_, name: string, link: string) => {
    const [address = "", fragment] = unescapeXml(link).split("#");
    const to = resolve(address);
    return to === undefined ? "" : ` ${name}="${to}${fragment === undefined ? "" : `#${fragment}`}"`;
  });

/** Names next to a folder of a topic, a language or a repository: those of files, and of the same list in another order. */
const TAKEN = new RegExp(
  `^(?:view-table|window-(?:${WINDOWS.join("|")})|sort-(?:${SORTS.join("|")}))$|\\.(?:atom|csv|html|json|ndjson|svg|xml)$`,
  "i",
);

/** The file of an address. Data is next to the page that leads to it. */
function pathOf(address: string, { type, from }: { type: string; from: string }): string {
  const { pathname, searchParams } = new URL(address, PASS_URL);
  const repository = searchParams.getAll("repo").join(":");
  if (pathname === PICTURE && from === FIRST_PAGE)
    return `${[PICTURES, ...repository.split(/[:/]/).map((one) => fileName(one))].join("/")}.${type}`;
  const data = DATA.find(([pattern]) => pattern.test(address))?.[1];
  if (data !== undefined) return posix.join(posix.dirname(from), `${data}.${type}`);
  const feed = FEED.exec(pathname)?.[1];
  const window = searchParams.get("window") ?? "7d";
  if (feed !== undefined) searchParams.delete("window");
  const page = searchParams.get("page");
  searchParams.delete("page");
  const values = [...searchParams, ...(page === null ? [] : [["page", page]])].map((one) =>
    fileName(one.join("-")),
  );
  const names = pathname.split("/").filter((part) => part !== "");
  if (feed !== undefined) return ["feeds", ...values, `${feed}-${window}.atom`].join("/");
  if (type !== "html") return names.map((name) => fileName(name)).join("/");
  return [...names.map((name) => fileName(decodeURIComponent(name), TAKEN)), ...values, "index.html"].join(
    "/",
  );
}

const encoded = (path: string): string => path.split("/").map(encodeURIComponent).join("/");
