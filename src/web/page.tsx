import type { Hono } from "hono";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Account } from "../accounts/accounts.js";
import type { Repository } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import { AppError } from "../errors.js";
import type { Members, Modules } from "../modules.js";
import type { CurrentSummary } from "../rankings/rankings.js";
import { errorSheet } from "./errors.js";
import { Layout } from "./layout.js";
import { attachPending, offeredBy } from "./pending.js";
import { isLook } from "./seen.js";

/** What a page is answered from. */
export interface Site {
  modules: Modules;
  members: Members;
  /** Public address, without a slash at the end. */
  baseUrl: string;
  /** Names of the providers that are configured to be tracked. */
  tracked: readonly string[];
  clock: Clock;
}

/** What kind of catalogue this is, and when its newest snapshot was taken. */
export type Origin = Pick<CurrentSummary, "catalogue" | "asOf" | "ageDays" | "repositories">;

/** A request for a page. */
export interface Visit {
  modules: Modules;
  /** Origin and age of the data; undefined on error pages that must not cost a query. */
  origin: Origin | undefined;
  members: Members;
  /** Who is signed in. */
  account: Account | undefined;
  /** What is on their watchlist; empty for visitors. */
  saved: ReadonlySet<number>;
  /** What has happened on the way to this page, to be told on it. */
  notice: string | undefined;
  /** What they wanted to save before signing in, in another browser. */
  offer: Repository | undefined;
  /** The address as it was asked for: its path and query are of the visitor, its host means nothing. */
  url: URL;
  baseUrl: string;
  /** Names of the providers that are configured to be tracked. */
  tracked: readonly string[];
  now: number;
  request: Request;
}

/** A page: what its document shows, and what is told about it. */
export interface Sheet {
  /** Without the name of the service, which is put behind it. */
  title: string;
  body: JSX.Element;
  status?: 200 | AppError["status"];
  /** A sentence for search engines and previews. */
  description?: string;
  /** Browser modules besides those of every page. */
  scripts?: readonly string[];
  /** The same in other forms: feeds, tables. */
  alternates?: readonly { type: string; href: string; title: string }[];
  /** Path of the address that search engines should keep, with its query; absent: the page's own path. */
  canonical?: string;
  /** Path of a picture for previews. */
  image?: string;
  /**
   * `private`: for this visitor alone. `link`: for whoever knows its address. `secret`: it shows a secret, or its address is
   * one that works once; nobody keeps it. All three are in no index.
   */
  privacy?: "private" | "link" | "secret";
  cookies?: readonly string[];
  /** Origins besides our own that its forms may lead to in the end. */
  formsTo?: readonly string[];
}

/** Where to go instead. */
export interface Redirect {
  location: string;
  /** 303 after a form, 301 for what has moved for good. */
  status: 301 | 302 | 303;
  cookies?: readonly string[];
}

type Answer = Sheet | Redirect;
export type PageHandler = (visit: Visit) => Promise<Answer> | Answer;

/** Scripts and styles of our own, pictures too, and nothing from elsewhere. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

/** Forms are longer than any we have. */
const MAX_FORM_BYTES = 64 * 1024;

/** Registers pages, so that every one is framed, told about and refused alike. */
export class Pages {
  readonly #app: Hono;
  readonly #site: Site;

  constructor(app: Hono, site: Site) {
    this.#app = app;
    this.#site = site;
  }

  /** A page that is read. */
  get(path: string, handler: PageHandler): void {
    this.#app.get(path, async (context) => {
      const { visit, cookies } = await this.#attach(await this.#visit(context.req.raw));
      const answer = await handler(visit);
      return this.#answer(visit, { ...answer, cookies: [...(answer.cookies ?? []), ...cookies] });
    });
    // Names of any number of parts take the slash too.
    if (path !== "/" && !path.endsWith("}"))
      this.#app.get(`${path}/`, (context) => withoutSlash(new URL(context.req.url)));
  }

  /** What a form is sent to. Only our own pages may send one. */
  post(path: string, handler: (visit: Visit, form: URLSearchParams) => Promise<Answer> | Answer): void {
    this.#app.post(path, async (context) => {
      const visit = await this.#visit(context.req.raw);
      return this.#answer(visit, await handler(visit, await readForm(visit)));
    });
  }

  /** The page that tells an error. */
  async error(error: AppError, request: Request): Promise<Response> {
    // Who asks too often, or while there is too much to do, must not cost a look at who is signed in.
    const visit = await this.#visit(request, error.status !== 429 && error.status !== 503);
    const response = this.#answer(visit, await errorSheet(error, visit));
    for (const [name, value] of Object.entries(error.headers)) response.headers.set(name, value);
    return response;
  }

  async #visit(request: Request, isKnown = true): Promise<Visit> {
    const { modules, members } = this.#site;
    const cookie = isKnown ? request.headers.get("cookie") : null;
    const account = cookie === null ? undefined : await members.accounts.find(cookie);
    const url = new URL(request.url);
    const saved = account === undefined ? new Set<number>() : await savedBy(modules, account);
    return {
      modules,
      origin: isKnown ? await modules.rankings.summary() : undefined,
      members,
      account,
      saved,
      notice: undefined,
      offer: undefined,
      url,
      baseUrl: this.#site.baseUrl,
      tracked: this.#site.tracked,
      now: this.#site.clock.now(),
      request,
    };
  }

  /** Saves what the visitor wanted to save before signing in, or offers it where that is only known by the address. */
  async #attach(visit: Visit): Promise<{ visit: Visit; cookies: readonly string[] }> {
    const { account, modules, request, baseUrl, url } = visit;
    if (account === undefined) return { visit, cookies: [] };
    const cookie = request.headers.get("cookie");
    const attached = isLook(request) ? await attachPending(modules, account.id, cookie, baseUrl) : undefined;
    const saved = attached === undefined ? visit.saved : await savedBy(modules, account);
    const wanted = await offeredBy(url, modules);
    const offer = wanted === undefined || saved.has(wanted.id) ? undefined : wanted;
    return {
      visit: { ...visit, saved, offer, notice: attached?.notice },
      cookies: attached === undefined ? [] : [attached.cookie],
    };
  }

  #answer(visit: Visit, answer: Answer): Response {
    const headers = new Headers();
    for (const cookie of answer.cookies ?? []) headers.append("Set-Cookie", cookie);
    if ("location" in answer) {
      headers.set("Location", answer.location);
      const isShared = answer.status === 301 && !headers.has("Set-Cookie") && visit.account === undefined;
      headers.set("Cache-Control", isShared ? "public, max-age=300" : "no-store");
      return new Response(null, { status: answer.status, headers });
    }
    const { status = 200, privacy } = answer;
    headers.set("Content-Type", "text/html; charset=utf-8");
    headers.set("Content-Security-Policy", [POLICY, ...(answer.formsTo ?? [])].join(" "));
    headers.set("Cross-Origin-Resource-Policy", "same-origin");
    headers.set("Vary", "Accept-Encoding, Cookie");
    if (privacy === "secret" || status >= 400) headers.set("Cache-Control", "no-store");
    else if (privacy !== undefined || visit.account !== undefined)
      headers.set("Cache-Control", "private, no-cache");
    // No other site learns the address. Without any referrer, browsers would not even tell us that a form is ours.
    const isSecret = privacy === "secret" || privacy === "link" || status >= 400;
    if (isSecret) headers.set("Referrer-Policy", "same-origin");
    if (privacy !== undefined) headers.set("X-Robots-Tag", "noindex");
    const document = (
      <Layout visit={visit} sheet={answer}>
        {answer.body}
      </Layout>
    );
    return new Response(`<!doctype html>${document}`, { status, headers });
  }
}

/** The way from an address with a slash at its end to the page. It may be a secret one, so only the browser keeps it. */
function withoutSlash({ pathname, search }: URL): Response {
  const headers = {
    Location: pathname.replace(/\/+$/, "") + search,
    "Cache-Control": "private, max-age=300",
    "Referrer-Policy": "same-origin",
  };
  return new Response(null, { status: 301, headers });
}

/** The fields of a form that one of our pages has sent. Throws FORBIDDEN for any other sender. */
async function readForm({ members, request, baseUrl }: Visit): Promise<URLSearchParams> {
  if (
    !members.accounts.isOwnOrigin({
      "sec-fetch-site": request.headers.get("sec-fetch-site") ?? undefined,
      origin: request.headers.get("origin") ?? undefined,
      cookie: request.headers.get("cookie") ?? undefined,
    })
  )
    throw new AppError("FORBIDDEN", `This form was not sent by a page of ${baseUrl}, where this service is.`);
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  const isForm =
    request.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded") ?? false;
  if (!isForm) throw new AppError("UNSUPPORTED_MEDIA_TYPE", "Only forms can be sent here.");
  if (!(length <= MAX_FORM_BYTES)) throw new AppError("PAYLOAD_TOO_LARGE", "The form is too long.");
  return new URLSearchParams(await request.text());
}

async function savedBy({ watchlists }: Modules, { id }: Account): Promise<ReadonlySet<number>> {
  const { items } = await watchlists.get({ accountId: id });
  return new Set(items.map(({ repositoryId }) => repositoryId));
}
