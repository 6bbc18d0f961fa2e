import { LANGUAGES_PAGE, queryOf, TOPICS_PAGE } from "../page-addresses.js";

/** Pages whose card depends on nothing in their address, by path. */
const FIXED: Readonly<Record<string, string>> = {
  "/": "home",
  [LANGUAGES_PAGE]: "languages",
  [TOPICS_PAGE]: "topics",
  "/compare": "compare",
  "/about": "about",
  "/docs": "docs",
  "/embed": "embed",
};

/** The path of the picture for previews of a public page; undefined: it has none. `address`: path and query of the page. */
export function cardPath(address: string): string | undefined {
  const { pathname, search, searchParams } = new URL(address, "http://localhost");
  const repositories = searchParams.getAll("repo");
  if (pathname === "/compare" && repositories.length > 0)
    return `/cards/charts?${queryOf(repositories.map((one) => ["repo", one]))}`;
  if (pathname === "/explore") return `/cards/lists${search}`;
  if (pathname.startsWith(`${LANGUAGES_PAGE}/`) || pathname.startsWith(`${TOPICS_PAGE}/`))
    return `/cards${pathname}`;
  const name = FIXED[pathname];
  return name === undefined ? undefined : `/cards/pages/${name}`;
}

/**
 * The text for those who do not see the card of a page. A card that does not take the choices of its page (window, language,
 * alignment) has a text of its own.
 */
export function cardAlt(address: string, title: string): string {
  const { pathname, searchParams } = new URL(address, "http://localhost");
  if (pathname === "/") return "Trending repositories and their gains";
  if (pathname !== "/compare") return title;
  const repositories = searchParams.getAll("repo").map((one) => one.slice(one.indexOf(":") + 1));
  return repositories.length === 0 ? title : `Chart of the stars of ${repositories.join(", ")}`;
}

/** The card of a watchlist, for those who know the token that reads it. */
export function watchlistCardPath(token: string): string {
  return `/cards/watchlists/${token}`;
}
