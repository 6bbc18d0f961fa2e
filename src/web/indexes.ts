/** Files for programs of others: robots.txt (RFC 9309), the site map (sitemaps.org 0.9) and security.txt (RFC 9116). */

import { content, type Reply, type Route } from "../http/http.js";
import { basePathOf } from "../lib/base-url.js";
import { type Clock, DAY_MS, HOUR_MS, isoTime } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { languagePage, repositoryPage, topicPage } from "../lib/page-addresses.js";
import { element, type Xml, xmlDocument } from "../lib/xml.js";
import type { Modules } from "../modules.js";
import { fileRoute } from "./assets.js";

export interface IndexOptions {
  modules: Modules;
  baseUrl: string;
  /** A link to the operator. Absent: there is no security.txt. */
  contact?: string | undefined;
  clock: Clock;
  /** The addresses of the pages that are always there. */
  pages: readonly string[];
}

/** Repositories in the site map, those with the most stars: the last row that numbered pages of a list reach. */
const MAX_REPOSITORIES = 10_000;
/** Repositories per part. */
export const PART_REPOSITORIES = 1_000;
const MAX_LANGUAGES = 200;
const MAX_TOPICS = 1_000;

/** A response may be older than a day, and the file should be valid for less than a year. */
const SECURITY_DAYS = 180;

/** How long a part is cached: these requests are hardly limited, so they must not read the list each time. */
const CACHED_MS = HOUR_MS;

const NAMESPACE = { xmlns: "http://www.sitemaps.org/schemas/sitemap/0.9" };

/** `/robots.txt`, `/.well-known/security.txt`, `/sitemap.xml` and its parts below `/sitemaps/`. */
export function indexRoutes({ modules, baseUrl, contact, clock, pages }: IndexOptions): Route[] {
  const parts = new PartCache(clock);
  const file = (path: string, handle: Route["handle"]) => fileRoute(path, "public, max-age=3600", handle);
  return [
    file("/robots.txt", () => content("text/plain; charset=utf-8", robots(baseUrl))),
    ...(contact === undefined
      ? []
      : [
          file("/.well-known/security.txt", () =>
            content("text/plain; charset=utf-8", security(contact, clock.now())),
          ),
        ]),
    file("/sitemap.xml", async () => xml(await parts.get("index", () => siteIndex(modules, baseUrl)))),
    file("/sitemaps/pages.xml", async () =>
      xml(await parts.get("pages", () => pagesPart(modules, baseUrl, pages))),
    ),
    file("/sitemaps/{part}.xml", async ({ params: { part = "" } }) => {
      const number = Number(/^repositories-([1-9][0-9]?)\.xml$/.exec(part)?.[1]);
      const isPart = number >= 1 && number <= MAX_REPOSITORIES / PART_REPOSITORIES;
      const text = isPart
        ? await parts.get(`repositories ${number}`, () => repositoriesPart(modules, baseUrl, number))
        : "";
      if (text === "") throw new AppError("NOT_FOUND", "This part of the sitemap does not exist.");
      return xml(text);
    }),
  ];
}

function xml(text: string): Reply {
  return content("application/xml; charset=utf-8", text);
}

/**
 * The rules for crawlers: other sites fetch embeds and feeds, all else in the API is not to be crawled. Watchlists are not
 * named: their responses say `noindex`, which counts only if a crawler may read it. An address that it may not read can
 * still be listed, and that address is the secret.
 */
function robots(baseUrl: string): string {
  const base = basePathOf(baseUrl);
  const lines = [
    "User-agent: *",
    `Allow: ${base}/api/embed/`,
    `Allow: ${base}/api/feeds/`,
    `Disallow: ${base}/api/`,
    `Disallow: ${base}/account`,
    `Disallow: ${base}/sign-in`,
    "",
    `Sitemap: ${baseUrl}/sitemap.xml`,
  ];
  return `${lines.join("\n")}\n`;
}

/** Where to report vulnerabilities, for another half year. */
function security(contact: string, now: number): string {
  const end = Math.floor(now / DAY_MS + SECURITY_DAYS) * DAY_MS;
  return `Contact: ${contact}\nExpires: ${isoTime(end)}\n`;
}

async function siteIndex({ rankings }: Modules, baseUrl: string): Promise<string> {
  const { repositories } = await rankings.counters();
  const listed = Math.min(repositories, MAX_REPOSITORIES);
  const parts = Array.from(
    { length: Math.ceil(listed / PART_REPOSITORIES) },
    (_, i) => `repositories-${i + 1}`,
  );
  const maps = ["pages", ...parts].map((part) =>
    element("sitemap", {}, element("loc", {}, `${baseUrl}/sitemaps/${part}.xml`)),
  );
  return xmlDocument(element("sitemapindex", NAMESPACE, ...maps));
}

async function pagesPart({ rankings }: Modules, baseUrl: string, pages: readonly string[]): Promise<string> {
  const facets = async (kind: "language" | "topic", limit: number) => {
    const found = await rankings.facets({ kind, window: "30d", sort: "repository-count", limit, offset: 0 });
    // As path segments these would lead to another path.
    return found.facets.map(({ name }) => name).filter((name) => name !== "." && name !== "..");
  };
  const languages = await facets("language", MAX_LANGUAGES);
  const topics = await facets("topic", MAX_TOPICS);
  const paths = [...pages, ...languages.map(languagePage), ...topics.map(topicPage)];
  return urlSet(paths.map((path) => page(`${baseUrl}${path}`)));
}

/** One part of the most-starred repositories; empty past the last. */
async function repositoriesPart({ lists }: Modules, baseUrl: string, number: number): Promise<string> {
  const { rows } = await lists.read({
    scope: { kind: "all" },
    filters: {},
    sort: "stars",
    direction: "desc",
    window: "24h",
    page: { limit: PART_REPOSITORIES, offset: (number - 1) * PART_REPOSITORIES },
  });
  if (rows.length === 0) return "";
  return urlSet(
    rows.map(({ repository }) => page(`${baseUrl}${repositoryPage(repository)}`, repository.refreshedAt)),
  );
}

function page(address: string, changedAt: number | null = null): Xml {
  const changed = changedAt === null ? [] : [element("lastmod", {}, isoTime(changedAt))];
  return element("url", {}, element("loc", {}, address), ...changed);
}

function urlSet(pages: readonly Xml[]): string {
  return xmlDocument(element("urlset", NAMESPACE, ...pages));
}

/** Caches each part for a while; concurrent requests share one build. */
class PartCache {
  readonly #clock: Clock;
  readonly #parts = new Map<string, { until: number; made: Promise<string> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(name: string, make: () => Promise<string>): Promise<string> {
    const now = this.#clock.monotonic();
    const kept = this.#parts.get(name);
    if (kept !== undefined && now < kept.until) return kept.made;
    const made = make();
    const parts = this.#parts;
    parts.set(name, { until: now + CACHED_MS, made });
    // A failed build is retried by the next request.
    made.catch(() => parts.delete(name));
    return made;
  }
}
