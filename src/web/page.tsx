import { renderToString } from "preact-render-to-string";
import type { ProviderSettings } from "../config/config.js";
import {
  addressOf,
  type CachePolicy,
  content,
  type HttpRequest,
  quotaOf,
  type Reply,
  type Route,
} from "../http/http.js";
import { basePathOf } from "../lib/base-url.js";
import type { AppError } from "../lib/errors.js";
import { withFirstRun } from "./first-run.js";
import { Layout } from "./layout.js";
import type {
  FrameRequest,
  Page,
  PageCard,
  PageHandler,
  PageRequest,
  PageRoute,
  Privacy,
  RenderContext,
  Result,
  Site,
} from "./page-request.js";
import { errorPage } from "./pages/errors.js";
import { attachPending, offeredBy } from "./saving.js";

type Facts = Pick<PageRoute, "method" | "access" | "cache" | "card">;

/** Only our own scripts, styles and pictures. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

/**
 * Characters that a page may not contain, even escaped (HTML, 13.1.4): control characters other than tabs and line breaks, and
 * noncharacters. Those beyond the first plane are surrogates here, since a search with the flag `u` takes twice as long.
 */
const IMPOSSIBLE =
  /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\uFDD0-\uFDEF\uFFFE\uFFFF]|[\uD83F\uD87F\uD8BF\uD8FF\uD93F\uD97F\uD9BF\uD9FF\uDA3F\uDA7F\uDABF\uDAFF\uDB3F\uDB7F\uDBBF\uDBFF][\uDFFE\uDFFF]/g;

/** Characters of IMPOSSIBLE, and all beyond the first plane: a search for these takes half the time, and finds none in most pages. */
const UNUSUAL = /[^\t\n\r -~\xA0-\uD7FF\uE000-\uFDCF\uFDF0-\uFFFD]/;

function possible(html: string): string {
  return UNUSUAL.test(html) ? html.replaceAll(IMPOSSIBLE, "\uFFFD") : html;
}

/** Turns page handlers into replies, all in the same frame and with the same headers. */
export class PageRenderer {
  readonly #site: Site;
  readonly #basePath: string;

  constructor(site: Site) {
    this.#site = site;
    this.#basePath = basePathOf(site.baseUrl);
  }

  /** The route of a page, or of a form. */
  route({ handler, ...facts }: PageRoute): Route {
    return { ...facts, handle: (request) => this.respond(handler, request, facts) };
  }

  async respond(handler: PageHandler, http: HttpRequest, facts: Facts): Promise<Reply> {
    const sent = await this.#pageRequest(http, facts);
    if (facts.method === "POST") return this.#reply(sent, await handler(sent, http.formFields));
    const { request, cookies } = await this.#attach(sent);
    const result = await withFirstRun(request, await handler(request, http.formFields));
    return this.#reply(request, { ...result, cookies: [...(result.cookies ?? []), ...cookies] });
  }

  /** The page of an error. */
  async error(error: AppError, http: HttpRequest): Promise<Reply> {
    // A page for a caller over its limit, or on an overloaded service, must not cost a query.
    const mayRead = error.status !== 429 && error.status !== 503;
    const summary = mayRead ? await this.#site.modules.rankings.summary() : undefined;
    const request = this.#frameRequest(http, "secret", {
      summary,
      operator: undefined,
      forges: this.#site.modules.forges.known,
    });
    return this.#reply(request, await errorPage(error, request));
  }

  async #pageRequest(http: HttpRequest, facts: Facts): Promise<PageRequest> {
    const { modules, members } = this.#site;
    const visitor = {
      account: http.account,
      cookie: http.headers.cookie,
      isLocal: http.locality() === "local",
    };
    const [summary, operator, forges] = await Promise.all([
      modules.rankings.summary(),
      members.operators.find(visitor),
      modules.forges.current(),
    ]);
    const known = { summary, operator, forges, card: facts.card };
    return { ...this.#frameRequest(http, privacyOf(facts), known), modules, summary };
  }

  #frameRequest(
    http: HttpRequest,
    privacy: Privacy,
    {
      summary,
      operator,
      forges,
      card,
    }: Pick<FrameRequest, "summary" | "operator"> & {
      card?: PageCard | undefined;
      forges: readonly ProviderSettings[];
    },
  ): FrameRequest {
    const { modules, members, baseUrl, tracking, watchlistQuota, clock } = this.#site;
    const { account, headers, params, method } = http;
    // Operators decide what is tracked.
    const { access, perDay } =
      operator === undefined ? tracking : ({ access: "everyone", perDay: undefined } as const);
    return {
      site: this.#site,
      modules,
      summary,
      members,
      account,
      savedAmong: async (ids) =>
        account === undefined ? new Set() : modules.watchlists.contains({ accountId: account.id }, ids),
      notice: undefined,
      offer: undefined,
      url: new URL(addressOf(http), "http://localhost"),
      params,
      method,
      headers,
      cookie: headers.cookie ?? null,
      privacy,
      baseUrl,
      tracked: forges.map(({ name }) => name),
      walked: forges.flatMap(({ name, onDemand }) => (onDemand === true ? [] : [name])),
      adding: quotaOf(http.caller, watchlistQuota),
      tracking: { access, forges },
      operator,
      locality: http.locality(),
      card,
      isView: http.isView,
      source: http.source,
      requester: {
        hasAccount: account !== undefined,
        mayReadLists: operator !== undefined,
        adding: quotaOf(http.caller, perDay === undefined ? undefined : { tracked: perDay }),
      },
      now: clock.now(),
    };
  }

  /** Saves the repositories that were pending before signing in, or offers one that only the address names. */
  async #attach(request: PageRequest): Promise<{ request: PageRequest; cookies: readonly string[] }> {
    const { account, url } = request;
    const { modules } = this.#site;
    if (account === undefined) return { request, cookies: [] };
    const attached = request.isView ? await attachPending(modules, account.id, request) : undefined;
    const wanted = await offeredBy(url, modules);
    const isOffered = wanted !== undefined && (await request.savedAmong([wanted.id])).size === 0;
    return {
      request: { ...request, offer: isOffered ? wanted : undefined, notice: attached?.notice },
      cookies: attached === undefined ? [] : [attached.cookie],
    };
  }

  async #reply(request: FrameRequest, result: Result): Promise<Reply> {
    const cookies = result.cookies ?? [];
    const setCookie = cookies.length === 0 ? {} : { "Set-Cookie": cookies };
    if ("location" in result) {
      const { location, status } = result;
      const isShared = status === 301 && cookies.length === 0 && isVisitor(request);
      const control = isShared ? "public, max-age=300" : "no-store";
      return { status, headers: { Location: location, "Cache-Control": control, ...setCookie }, body: null };
    }
    const { status = 200 } = result;
    const document = (
      <Layout request={request} page={result} savedCount={await savedCount(request)}>
        {result.body}
      </Layout>
    );
    const context: RenderContext = {
      now: request.now,
      ...(this.#site.isPublished && { isStatic: true, isPublished: this.#site.isPublished }),
      // Pages of errors must not cost a query.
      ...(request.summary !== undefined && {
        findOwnerImage: await this.#site.modules.avatars.finder(),
      }),
    };
    const html = possible(this.#belowBase(`<!doctype html>${renderToString(document, context)}`));
    const headers = { ...headersOf(request, status, result), ...setCookie };
    return content("text/html; charset=utf-8", html, { status, headers });
  }

  /**
   * Links in pages are written below the base URL; where that has a path, it goes in front of them here. Texts cannot be
   * mistaken for attributes, as their quotes are escaped.
   */
  #belowBase(html: string): string {
    if (this.#basePath === "") return html;
    return html.replaceAll(/ (href|src|action|formaction)="\/(?!\/)/g, ` $1="${this.#basePath}/`);
  }
}

/** Repositories on the user's watchlist; 0 for visitors, and on error pages that must not cost a query. */
async function savedCount({ modules, account, summary }: FrameRequest): Promise<number> {
  return account === undefined || summary === undefined
    ? 0
    : modules.watchlists.size({ accountId: account.id });
}

function privacyOf({ access, cache }: Facts): Privacy {
  const byCache: Readonly<Record<CachePolicy["kind"], Privacy>> = {
    shared: "open",
    visitor: "open",
    private: access === "token" ? "link" : "private",
    none: "secret",
  };
  return byCache[cache.kind];
}

/** Whether the page is the same for everybody: somebody signed in, or an operator, sees more. */
function isVisitor({ account, operator }: FrameRequest): boolean {
  return account === undefined && operator === undefined;
}

function headersOf(
  request: FrameRequest,
  status: number,
  { formsTo = [], isFresh = false }: Pick<Page, "formsTo" | "isFresh">,
): Reply["headers"] {
  const { privacy } = request;
  const isKept = privacy !== "secret" && status < 400 && !isFresh;
  const isShared = privacy === "open" && isVisitor(request);
  return {
    "Content-Security-Policy": [POLICY, ...formsTo].join(" "),
    "Cross-Origin-Resource-Policy": "same-origin",
    Vary: "Accept-Encoding, Cookie",
    ...(isKept ? {} : { "Cache-Control": "no-store" }),
    ...(isKept && !isShared ? { "Cache-Control": "private, no-cache" } : {}),
    // No other site learns the address. Browsers send the Origin of a form only with some referrer.
    ...(privacy === "secret" || privacy === "link" || status >= 400
      ? { "Referrer-Policy": "same-origin" }
      : {}),
    ...(isShared ? {} : { "X-Robots-Tag": "noindex" }),
  };
}
