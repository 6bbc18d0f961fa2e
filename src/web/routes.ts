import { type FacetKind, listQuery } from "../discovery/discovery.js";
import {
  type CachePolicy,
  DEFAULT_LIMIT,
  PER_ROWS,
  type RateLimit,
  UNKNOWN_TOKEN_COST,
} from "../http/http.js";
import { DOCS_PAGE, LANGUAGES_PAGE, queryOf, TOPICS_PAGE } from "../lib/page-addresses.js";
import { dismissSample } from "./first-run.js";
import { PER_REPOSITORY } from "./naming.js";
import type { Handler, MemberRequest, OperatorRequest, PageHandler, PageRoute } from "./page-request.js";
import { showAbout } from "./pages/about.js";
import * as account from "./pages/account.js";
import { showAccountExport } from "./pages/account.js";
import { compareQuery, showComparison } from "./pages/compare.js";
import { DOCS_PAGES } from "./pages/docs.js";
import { showEmbeds } from "./pages/embed.js";
import { showExplore } from "./pages/explore.js";
import { facetQuery, showFacet } from "./pages/facet.js";
import { facetsQuery, showFacets } from "./pages/facets.js";
import { homeQuery, showHome } from "./pages/home.js";
import { showKeyUsage } from "./pages/key-usage.js";
import * as keys from "./pages/keys.js";
import { createTokenWatchlist, showNewWatchlist } from "./pages/new-watchlist.js";
import { showOperator } from "./pages/operator.js";
import * as operated from "./pages/operator-accounts.js";
import * as enter from "./pages/operator-enter.js";
import { operatorsOnly } from "./pages/operator-enter.js";
import * as hidden from "./pages/operator-hidden.js";
import * as tokens from "./pages/operator-tokens.js";
import * as untrack from "./pages/operator-untrack.js";
import * as passkeys from "./pages/passkeys.js";
import { repositoryQuery, showRepository } from "./pages/repository.js";
import * as sessions from "./pages/security.js";
import { showOperatorLog, showSecurity } from "./pages/security.js";
import * as signIn from "./pages/sign-in.js";
import { toSignIn } from "./pages/sign-in.js";
import * as code from "./pages/sign-in-mail.js";
import * as link from "./pages/sign-in-mail.js";
import * as track from "./pages/track.js";
import { showTrackList } from "./pages/track.js";
import * as question from "./pages/track-question.js";
import * as watchlist from "./pages/watchlist.js";
import { OFFER } from "./saving.js";
import { shareQuery } from "./share.js";
import { watchlistPageQuery } from "./watchlist.js";

/** Facts of a page that differ from the defaults, and the places that list it. */
type Facts = Pick<
  PageRoute,
  | "access"
  | "limit"
  | "query"
  | "endsSession"
  | "aliases"
  | "published"
  | "isRanking"
  | "menu"
  | "siteMap"
  | "card"
  | "showsTracking"
>;

const VISITOR: CachePolicy = { kind: "visitor" };
const PRIVATE: CachePolicy = { kind: "private" };
const NONE: CachePolicy = { kind: "none" };
/** A page takes longer than the data in it. */
const PAGE: RateLimit = { bucket: "default", cost: 2, failedCost: 2 };
const LIST: RateLimit = { ...PAGE, cost: 3, surcharges: [PER_ROWS] };
const WATCHLIST: RateLimit = { ...PAGE, cost: 5 };
const WRITE: RateLimit = { bucket: "write", cost: 1 };
const AUTH: RateLimit = { bucket: "auth", cost: 1 };

const parameters = (schema: { shape: object }): string[] => Object.keys(schema.shape);

/** The parameter that offers to save a repository after signing in. Every page knows it. */
const OFFERS = [OFFER];

type PageFacts = Partial<Facts> & { cache: CachePolicy };

/** A page. */
function page(path: string, handler: PageHandler, { query = [], ...facts }: PageFacts): PageRoute {
  const defaults = { access: "public", limit: PAGE, method: "GET", body: "none", form: "page" } as const;
  return { ...defaults, ...facts, path, query: [...query, ...OFFERS], privateQuery: OFFERS, handler };
}

/** The handler of a form. */
function form(path: string, handler: PageHandler, facts: Partial<Facts> = {}): PageRoute {
  const defaults = { access: "public", limit: WRITE, cache: NONE, method: "POST", query: [] } as const;
  return { ...defaults, ...facts, path, body: "form", form: "page", handler };
}

/** Calls a handler with the signed-in account, or shows the sign-in page, which continues to `next`: by default the same page. */
function membersOnly(handler: Handler<MemberRequest>, next?: string): PageHandler {
  return (request, fields) => {
    const { account } = request;
    return account === undefined ? toSignIn(request, next) : handler({ ...request, account }, fields);
  };
}

/** A page for signed-in users, which no browser keeps; visitors sign in first and come back. */
const mine = (path: string, handler: Handler<MemberRequest>, query: readonly string[] = []): PageRoute =>
  page(path, membersOnly(handler), { access: "session", cache: NONE, query });

/** One that leads to revoking keys and ending sessions: leaked keys, which use up the limits of the account, must not keep its owner from it. */
const mineByAddress = (...page: Parameters<typeof mine>): PageRoute => ({ ...mine(...page), limit: AUTH });

/** A form for signed-in users; visitors sign in first and continue to `signInNext`. */
const myForm = (
  path: string,
  handler: Handler<MemberRequest>,
  { signInNext, ...facts }: Partial<Facts> & { signInNext: string },
): PageRoute => form(path, membersOnly(handler, signInNext), { access: "session", ...facts });

/**
 * A page for operators. For everybody else it is not found, at the cost of an unknown page. Other methods are answered with 405, and
 * forms of other origins with 403, as on every page: that the address exists is public, who operates the service is not.
 */
const operatorPage = (
  path: string,
  handler: Handler<OperatorRequest>,
  query: readonly string[] = [],
): PageRoute => page(path, operatorsOnly(handler), { cache: NONE, limit: DEFAULT_LIMIT, query });

/** A form for operators. */
const operatorForm = (
  path: string,
  handler: Handler<OperatorRequest>,
  facts: Partial<Facts> = {},
): PageRoute => form(path, operatorsOnly(handler), facts);

/** A watchlist addressed by its token, which may be a guess. */
const tokenPage = (path: string, handler: PageHandler, query: readonly string[]): PageRoute =>
  page(path, handler, {
    access: "token",
    limit: { ...WATCHLIST, unknownCost: UNKNOWN_TOKEN_COST },
    cache: PRIVATE,
    query,
  });

const tokenForm = (path: string, handler: PageHandler): PageRoute =>
  form(path, handler, { access: "token", limit: { ...WRITE, unknownCost: UNKNOWN_TOKEN_COST } });

/** All languages or topics, and the page of each. */
const facetPages = (path: string, kind: FacetKind, facts: Partial<Facts>): PageRoute[] => [
  page(path, showFacets(kind), {
    cache: VISITOR,
    query: parameters(facetsQuery),
    siteMap: true,
    published: ["sort", "view", "window"],
    isRanking: true,
    ...facts,
  }),
  page(`${path}/{name}`, showFacet(kind), {
    cache: VISITOR,
    query: parameters(facetQuery),
    card: { pathOf: ({ pathname }) => `/cards${pathname}` },
    published: ["window"],
    isRanking: true,
  }),
];

/** All pages and forms. If two match a path, the first one wins. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  page("/", showHome, {
    cache: VISITOR,
    query: parameters(homeQuery),
    siteMap: true,
    card: { name: "home" },
    showsTracking: true,
    published: [],
  }),
  page("/explore", showExplore, {
    cache: VISITOR,
    limit: LIST,
    query: parameters(listQuery),
    menu: "Explore",
    siteMap: true,
    card: { pathOf: ({ search }) => `/cards/lists${search}` },
    showsTracking: true,
    published: ["page", "sort", "window"],
    isRanking: true,
  }),
  ...facetPages(LANGUAGES_PAGE, "language", { menu: "Languages", card: { name: "languages" } }),
  ...facetPages(TOPICS_PAGE, "topic", { menu: "Topics", card: { name: "topics" } }),
  page("/repos/{provider}/{fullName*}", showRepository, {
    cache: VISITOR,
    limit: { ...PAGE, surcharges: [{ parameter: "range", counts: "value", value: "all" }] },
    query: parameters(repositoryQuery),
    published: [],
  }),
  page("/compare", showComparison, {
    cache: VISITOR,
    limit: { ...PAGE, surcharges: [PER_REPOSITORY] },
    query: ["repo", ...parameters(compareQuery)],
    aliases: { window: "range" },
    menu: "Compare",
    card: {
      name: "compare",
      title: "Compare repositories",
      lead: "Up to six repositories on one chart, by date or by age, and their numbers side by side.",
      pathOf: ({ searchParams }) => {
        const repositories = searchParams.getAll("repo");
        return repositories.length === 0
          ? undefined
          : `/cards/charts?${queryOf(repositories.map((one) => ["repo", one]))}`;
      },
    },
    published: ["repo"],
  }),
  page("/embed", showEmbeds, {
    cache: VISITOR,
    query: ["repo", ...parameters(shareQuery)],
    siteMap: true,
    card: {
      name: "embed",
      title: "Share",
      lead: "Star charts, badges and cards for a post, a README or any other page, with the code to copy.",
    },
  }),
  page("/about", showAbout, {
    cache: VISITOR,
    siteMap: true,
    card: {
      name: "about",
      title: "How scores work",
      lead: "What is measured and when, how rankings, scores and confidence are calculated, and what is marked as unusual.",
    },
    published: [],
  }),

  form("/sample/dismiss", dismissSample),
  page("/track", track.showTrackForm, { cache: PRIVATE, query: ["repository"] }),
  form("/track", track.requestRepository, { limit: { ...WRITE, cost: 3 } }),
  page("/track/lists/{listId}", showTrackList, {
    access: "token",
    limit: { ...PAGE, unknownCost: UNKNOWN_TOKEN_COST },
    cache: NONE,
  }),
  page("/track/questions/{questionId}", question.showQuestion, {
    access: "token",
    limit: { ...PAGE, unknownCost: UNKNOWN_TOKEN_COST },
    cache: NONE,
    query: ["next"],
  }),
  form("/track/questions/{questionId}", question.trackOwner, {
    access: "token",
    limit: { ...WRITE, cost: 3, unknownCost: UNKNOWN_TOKEN_COST },
  }),
  page("/track/{requestId}", track.showTrackRequest, {
    access: "token",
    limit: { ...PAGE, unknownCost: UNKNOWN_TOKEN_COST },
    cache: NONE,
  }),

  operatorPage("/operator", showOperator),
  page("/operator/enter", enter.showEnter, { cache: NONE, limit: DEFAULT_LIMIT, query: ["key"] }),
  operatorForm("/operator/leave", enter.leave),
  operatorPage("/operator/tokens", tokens.showTokens, ["added", "removed", "forge"]),
  // It sends a request to a forge.
  operatorForm("/operator/tokens", tokens.addToken, { limit: AUTH }),
  operatorForm("/operator/tokens/{id}/remove", tokens.removeToken),
  operatorPage("/operator/untrack", untrack.showUntrack, ["repository", "deleted"]),
  operatorForm("/operator/untrack", untrack.submitUntrack),
  operatorPage("/operator/hidden", hidden.showHidden, ["target"]),
  operatorForm("/operator/hidden", hidden.submitHidden),
  operatorForm("/operator/hidden/remove", hidden.submitShown),
  operatorPage("/operator/accounts", operated.showAccounts, ["text", "done"]),
  operatorForm("/operator/accounts", operated.submitNetwork),
  operatorPage("/operator/accounts/{id}", operated.showAccountOf, ["done"]),
  operatorForm("/operator/accounts/{id}", operated.submitAccount),
  operatorPage("/operator/log", showOperatorLog, ["cursor"]),

  page("/sign-in", signIn.showSignIn, { cache: PRIVATE, query: ["again", "next"] }),
  form("/sign-in", signIn.requestSignInLink, { limit: AUTH }),
  page("/sign-in/sent", code.showSignInSent, { cache: PRIVATE, query: ["again"] }),
  form("/sign-in/code", code.submitSignInCode, { limit: AUTH }),
  form("/sign-in/resend", code.resendSignInMail, { limit: AUTH }),
  page("/sign-in/link", link.showSignInLink, { cache: NONE, query: ["token"] }),
  form("/sign-in/link", link.submitSignInLink, { limit: AUTH }),
  page("/sign-in/failed", link.showSignInFailed, { cache: NONE }),
  form("/sign-in/{site}", signIn.signInWithSite, { limit: AUTH }),
  form("/sign-out", signIn.signOut, { limit: AUTH, endsSession: true }),

  mineByAddress("/account", account.showAccount),
  form("/account/sign-out-everywhere", account.signOutEverywhere, { limit: AUTH, endsSession: true }),
  mine("/account/delete", account.showAccountRemoval),
  myForm("/account/delete", account.removeAccount, { signInNext: "/account/delete", endsSession: true }),
  page("/account/deleted", account.showAccountRemoved, { cache: PRIVATE }),
  mine("/account/export", showAccountExport),
  mineByAddress("/account/sessions", sessions.showSessions, ["ended"]),
  myForm("/account/sessions/end-others", sessions.endOtherSessions, {
    limit: AUTH,
    signInNext: "/account/sessions",
  }),
  myForm("/account/sessions/{id}/end", sessions.endSession, { limit: AUTH, signInNext: "/account/sessions" }),
  mine("/account/security", showSecurity, ["cursor"]),
  mineByAddress("/account/keys", keys.showKeys, ["revoked", "name"]),
  myForm("/account/keys", keys.createKey, { signInNext: "/account/keys" }),
  { ...mine("/account/keys/{id}", showKeyUsage, ["window"]), aliases: { period: "window" } },
  myForm("/account/keys/{id}/revoke", keys.revokeKey, { limit: AUTH, signInNext: "/account/keys" }),
  mine("/account/passkeys", passkeys.showPasskeys, ["added", "removed", "name"]),
  myForm("/account/passkeys/{id}/remove", passkeys.removePasskey, { signInNext: "/account/passkeys" }),

  page("/watchlist", watchlist.showWatchlist, {
    cache: VISITOR,
    menu: "Watchlist",
    limit: WATCHLIST,
    query: parameters(watchlistPageQuery),
  }),
  form("/watchlist/items", watchlist.addToWatchlist),
  form("/watchlist/items/remove", watchlist.removeFromWatchlist),
  myForm("/watchlist/feed", watchlist.createFeed, { signInNext: "/watchlist" }),
  myForm("/watchlist/feed/revoke", watchlist.revokeFeed, { signInNext: "/watchlist" }),
  page("/watchlists", showNewWatchlist, { cache: PRIVATE }),
  form("/watchlists", createTokenWatchlist, { limit: { ...WRITE, cost: 3 } }),
  page("/watchlists/gone", watchlist.showWatchlistRemoved, { cache: PRIVATE }),
  tokenPage("/watchlists/{token}", watchlist.showWatchlist, parameters(watchlistPageQuery)),
  tokenForm("/watchlists/{token}/items", watchlist.addToWatchlist),
  tokenForm("/watchlists/{token}/items/remove", watchlist.removeFromWatchlist),
  tokenForm("/watchlists/{token}/rename", watchlist.renameTokenWatchlist),
  tokenForm("/watchlists/{token}/delete", watchlist.removeTokenWatchlist),
  tokenForm("/watchlists/{token}/copy", watchlist.copyTokenWatchlist),
];

/** The pages of the guide. `docs` is passed in, as it shows the limits. */
export function docsRoutes(docs: PageHandler): PageRoute[] {
  const card = {
    name: "docs",
    title: "Documentation",
    lead: "The API with requests and responses, the rankings, clients, and tools for language models.",
  };
  return [
    page(DOCS_PAGE, docs, { cache: VISITOR, siteMap: true, card }),
    page(`${DOCS_PAGE}/{document}`, docs, {
      cache: VISITOR,
      siteMap: DOCS_PAGES.filter((path) => path !== DOCS_PAGE),
      card,
    }),
  ];
}
