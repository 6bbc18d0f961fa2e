import {
  type CachePolicy,
  DEFAULT_LIMIT,
  type RateLimit,
  type Route,
  UNKNOWN_TOKEN_COST,
} from "../http/http.js";
import { listQuery } from "../lists/lists.js";
import { LANGUAGES_PAGE, TOPICS_PAGE } from "../page-addresses.js";
import type { PageRenderer } from "./page.js";
import type { FormHandler, PageHandler } from "./page-request.js";
import { showAbout } from "./pages/about.js";
import * as account from "./pages/account.js";
import { compareQuery, showComparison } from "./pages/compare.js";
import { showExplore } from "./pages/explore.js";
import { facetQuery, showLanguage, showTopic } from "./pages/facet.js";
import { facetsQuery, showLanguages, showTopics } from "./pages/facets.js";
import { showHome } from "./pages/home.js";
import { showKeyUsage } from "./pages/key-usage.js";
import * as keys from "./pages/keys.js";
import { createTokenWatchlist, showNewWatchlist } from "./pages/new-watchlist.js";
import { repositoryQuery, showRepository } from "./pages/repository.js";
import * as signIn from "./pages/sign-in.js";
import * as link from "./pages/sign-in-link.js";
import * as shared from "./pages/token-watchlist.js";
import { showWatchlist } from "./pages/watchlist.js";
import { saveRepository, unsaveRepository } from "./saving.js";
import { watchlistPageQuery } from "./watchlist-view.js";

/** Facts of a page that differ from the defaults. */
interface Facts {
  access: Route["access"];
  limit: RateLimit;
  cache: CachePolicy;
  query: readonly string[];
}

export type PageRoute = Omit<Route, "handle"> & ({ show: PageHandler } | { submit: FormHandler });

const VISITOR: CachePolicy = { kind: "visitor" };
const PRIVATE: Partial<Facts> = { cache: { kind: "private" } };
const SECRET: Partial<Facts> = { cache: { kind: "none" } };
/** A watchlist addressed by its token, which may be a guess. */
const TOKEN: Partial<Facts> = {
  access: "token",
  limit: { ...DEFAULT_LIMIT, unknownCost: UNKNOWN_TOKEN_COST },
  cache: { kind: "private" },
};
const WRITE: RateLimit = { bucket: "write", cost: 1 };
const AUTH: Partial<Facts> = { limit: { bucket: "auth", cost: 1 } };
const TOKEN_WRITE: Partial<Facts> = { access: "token", limit: { ...WRITE, unknownCost: UNKNOWN_TOKEN_COST } };

const parameters = (schema: { shape: object }): string[] => Object.keys(schema.shape);

/** A page. Every page accepts `save`, which offers to save a repository after sign-in. */
function page(path: string, show: PageHandler, { query = [], ...facts }: Partial<Facts> = {}): PageRoute {
  const defaults = { access: "public", limit: DEFAULT_LIMIT, cache: VISITOR } as const;
  return {
    ...defaults,
    ...facts,
    method: "GET",
    path,
    query: [...query, "save"],
    body: "none",
    form: "page",
    show,
  };
}

/** A form action. */
function form(path: string, submit: FormHandler, facts: Partial<Facts> = {}): PageRoute {
  const defaults = { access: "public", limit: WRITE, cache: { kind: "none" } } as const;
  return { ...defaults, ...facts, method: "POST", path, query: [], body: "form", form: "page", submit };
}

/** All pages and forms. Where two match a path, the first one wins. */
const PAGE_ROUTES: readonly PageRoute[] = [
  page("/", showHome),
  page("/explore", showExplore, { query: parameters(listQuery) }),
  page(LANGUAGES_PAGE, showLanguages, { query: parameters(facetsQuery) }),
  page(`${LANGUAGES_PAGE}/{name}`, showLanguage, { query: parameters(facetQuery) }),
  page(TOPICS_PAGE, showTopics, { query: parameters(facetsQuery) }),
  page(`${TOPICS_PAGE}/{name}`, showTopic, { query: parameters(facetQuery) }),
  page("/repos/{provider}/{fullName*}", showRepository, { query: parameters(repositoryQuery) }),
  page("/compare", showComparison, { query: ["repo", ...parameters(compareQuery)] }),
  page("/about", showAbout),

  page("/sign-in", signIn.showSignIn, { ...PRIVATE, query: ["next"] }),
  form("/sign-in", signIn.requestSignInLink, AUTH),
  page("/sign-in/sent", signIn.showSignInSent, PRIVATE),
  page("/sign-in/link", link.showSignInLink, { ...SECRET, query: ["token", "next"] }),
  form("/sign-in/link", link.submitSignInLink, AUTH),
  page("/sign-in/failed", link.showSignInFailed, SECRET),
  form("/sign-in/{site}", signIn.signInWithSite, AUTH),
  form("/sign-out", signIn.signOut),

  page("/account", account.showAccount, PRIVATE),
  form("/account/sign-out-everywhere", account.signOutEverywhere),
  page("/account/delete", account.showAccountRemoval, PRIVATE),
  form("/account/delete", account.removeAccount),
  page("/account/deleted", account.showAccountRemoved, PRIVATE),
  page("/account/keys", keys.showKeys, { ...PRIVATE, query: ["revoked"] }),
  form("/account/keys", keys.createKey),
  page("/account/keys/{id}", showKeyUsage, { ...PRIVATE, query: ["period"] }),
  form("/account/keys/{id}/revoke", keys.revokeKey),

  page("/watchlist", showWatchlist, { query: parameters(watchlistPageQuery) }),
  form("/watchlist/items", saveRepository),
  form("/watchlist/items/remove", unsaveRepository),
  page("/watchlists", showNewWatchlist),
  form("/watchlists", createTokenWatchlist),
  page("/watchlists/gone", shared.showWatchlistRemoved, PRIVATE),
  page("/watchlists/{token}", shared.showTokenWatchlist, { ...TOKEN, query: parameters(watchlistPageQuery) }),
  form("/watchlists/{token}/items", shared.addToTokenWatchlist, TOKEN_WRITE),
  form("/watchlists/{token}/items/remove", shared.removeFromTokenWatchlist, TOKEN_WRITE),
  form("/watchlists/{token}/rename", shared.renameTokenWatchlist, TOKEN_WRITE),
  form("/watchlists/{token}/delete", shared.removeTokenWatchlist, TOKEN_WRITE),
  form("/watchlists/{token}/copy", shared.copyTokenWatchlist, TOKEN_WRITE),
];

/** The routes of all pages. `docs` is passed in, since it depends on the API document. */
export function pageRoutes(renderer: PageRenderer, docs: PageHandler): Route[] {
  return [...PAGE_ROUTES, page("/docs", docs)].map(
    (route): Route => ({
      ...route,
      handle: (request) =>
        "show" in route
          ? renderer.show(route.show, request, route)
          : renderer.submit(route.submit, request, route),
    }),
  );
}
