import type { FunctionComponent as FC } from "preact";
import { renderToString } from "preact-render-to-string";
import type { z } from "zod";
import {
  addressOf,
  type CachePolicy,
  content,
  type HttpRequest,
  type Reply,
  type Route,
} from "../http/http.js";
import { basePathOf } from "../lib/base-url.js";
import { AppError } from "../lib/errors.js";
import { validationError } from "../lib/validation.js";
import { withFirstRun } from "./first-run.js";
import { Layout } from "./layout.js";
import type {
  Frame,
  FrameRequest,
  Page,
  PageHandler,
  PageRequest,
  PageRoute,
  PageSummary,
  Privacy,
  RenderContext,
  Result,
  Site,
} from "./page-request.js";
import { errorPage } from "./pages/errors.js";
import { attachPending, offeredBy, savedAmong } from "./saving.js";

type Facts = Pick<PageRoute, "method" | "access" | "cache" | "card" | "showsTracking">;

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

/** Fewer repositories are not ranked on pages. */
export const RANKED_FROM = 20;

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
    const { members } = this.#site;
    const { account, headers } = http;
    const [summary, operator] = await Promise.all([
      this.#summary(),
      // Most readers have neither.
      account === undefined && headers.cookie === undefined
        ? undefined
        : members.operators.find({ account, cookie: headers.cookie, isLocal: http.locality() === "local" }),
    ]);
    const request = { ...this.#requestOf(http), operator, summary };
    const frame = { privacy: privacyOf(facts), card: facts.card };
    if (facts.method === "POST") return this.#reply(request, frame, await handler(request, http.formFields));
    const { notice, offer, cookies } = await attach(request);
    const shown = await handler(request, http.formFields);
    const result = facts.showsTracking ? await withFirstRun(request, shown) : shown;
    const all = { ...result, cookies: [...(result.cookies ?? []), ...cookies] };
    return this.#reply(request, { ...frame, notice, offer }, all);
  }

  /** The page of an error. */
  async error(error: AppError, http: HttpRequest): Promise<Reply> {
    // A page for a caller over its limit, or on an overloaded service, must not cost a query.
    const mayRead = error.status !== 429 && error.status !== 503;
    const summary = mayRead ? await this.#summary() : undefined;
    const request = { ...this.#requestOf(http), operator: undefined, summary };
    return this.#reply(request, { privacy: "secret" }, await errorPage(error, request));
  }

  async #summary(): Promise<PageSummary> {
    const { rankings } = this.#site.modules;
    const [counters, hasTopics] = await Promise.all([rankings.counters(), rankings.hasTopics()]);
    const { catalogue, repositories } = counters;
    const isOwn = catalogue === "real" && repositories > 0 && repositories < RANKED_FROM;
    return { ...counters, hasTopics, isOwn };
  }

  #requestOf(http: HttpRequest): Omit<PageRequest, "operator" | "summary"> {
    const url = new URL(addressOf(http), "http://localhost");
    const { modules, members, clock } = this.#site;
    return { site: this.#site, modules, members, http, url, account: http.account, now: clock.now() };
  }

  async #reply(request: FrameRequest, frame: Frame, result: Result): Promise<Reply> {
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
      <Layout {...{ request, frame }} page={result} savedCount={await savedCount(request)}>
        {result.body}
      </Layout>
    );
    const context: RenderContext = {
      now: request.now,
      isOperator: request.operator !== undefined,
      ...(this.#site.files && { isStatic: true, isPublished: this.#site.files.has }),
      // Pages of errors must not cost a query.
      ...(request.summary !== undefined && {
        findOwnerImage: await this.#site.modules.avatars.finder(),
      }),
    };
    const html = possible(this.#belowBase(`<!doctype html>${renderToString(document, context)}`));
    const headers = { ...headersOf(isVisitor(request), frame, { ...result, status }), ...setCookie };
    return content("text/html; charset=utf-8", html, { status, headers });
  }

  /**
   * Links in pages are written below the base URL; if that has a path, it goes in front of them here. Texts cannot be
   * mistaken for attributes, as their quotes are escaped.
   */
  #belowBase(html: string): string {
    if (this.#basePath === "") return html;
    return html.replaceAll(/ (href|src|action|formaction)="\/(?!\/)/g, ` $1="${this.#basePath}/`);
  }
}

/** Saves the repositories that were pending before signing in, or offers one that only the address names. */
async function attach(
  request: PageRequest,
): Promise<Pick<Frame, "notice" | "offer"> & { cookies: readonly string[] }> {
  const { account, url, modules, http } = request;
  if (account === undefined) return { cookies: [] };
  const attached = http.isView ? await attachPending(request, account.id) : undefined;
  const wanted = await offeredBy(url, modules);
  const isOffered = wanted !== undefined && (await savedAmong(request, [wanted.id])).size === 0;
  return {
    notice: attached?.notice,
    offer: isOffered ? wanted : undefined,
    cookies: attached === undefined ? [] : [attached.cookie],
  };
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
  isVisitor: boolean,
  { privacy }: Frame,
  { status = 200, formsTo = [], isFresh = false }: Pick<Page, "status" | "formsTo" | "isFresh">,
): Reply["headers"] {
  const isKept = privacy !== "secret" && status < 400 && !isFresh;
  const isShared = privacy === "open" && isVisitor;
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

/** An invalid parameter of a page. */
export interface Problem {
  parameter: string;
  message: string;
}

/** The parameters of a page. */
export interface PageQuery<Query> {
  /** The page's address with known, non-empty parameters only, each value once. */
  url: URL;
  /** Undefined if a parameter is invalid. */
  query: Query | undefined;
  problems: readonly Problem[];
}

/** Reads the parameters of a page. Forms send empty fields too, so an empty value counts as absent; values are trimmed. */
export function readQuery<Schema extends z.ZodObject>(schema: Schema, url: URL): PageQuery<z.output<Schema>> {
  const given: Record<string, string[]> = {};
  for (const name of Object.keys(schema.shape)) {
    const values = url.searchParams.getAll(name).map((value) => value.trim());
    const own = [...new Set(values)].filter((value) => value !== "");
    if (own.length > 0) given[name] = own;
  }
  const pairs = Object.entries(given).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const tidy = new URL(url);
  tidy.search = new URLSearchParams(pairs).toString();
  const result = schema.safeParse(
    Object.fromEntries(
      Object.entries(given).map(([name, values]) => [name, values.length > 1 ? values : values[0]]),
    ),
  );
  if (result.success) return { url: tidy, query: result.data, problems: [] };
  return { url: tidy, query: undefined, problems: problemsOf(validationError(result.error, "query", given)) };
}

/**
 * Reads the parameters of a page that is shown whatever they are: invalid ones are reported, and dropped from the address
 * and the query. Every parameter of the schema must be optional.
 */
export function readUsableQuery<Schema extends z.ZodObject>(
  schema: Schema,
  url: URL,
): PageQuery<z.output<Schema>> & { query: z.output<Schema> } {
  const first = readQuery(schema, url);
  if (first.query !== undefined) return { ...first, query: first.query };
  const { problems } = first;
  for (const { parameter } of problems) first.url.searchParams.delete(parameter.replace(/\[\d+\]$/, ""));
  const rest = readQuery(schema, first.url);
  return { ...rest, query: rest.query ?? schema.parse({}), problems };
}

/** The invalid parameters that an error reports; rethrows any other error. */
function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof AppError && error.status === 400 && error.details !== undefined) return error.details;
  throw error;
}

/** The result of a read, or the parameters it rejects. */
export async function resultOrProblems<Found>(
  find: () => Promise<Found>,
): Promise<{ found?: Found; problems: readonly Problem[] }> {
  try {
    return { found: await find(), problems: [] };
  } catch (error) {
    return { problems: problemsOf(error) };
  }
}

interface ProblemsProps {
  problems: readonly Problem[];
  /** The parameters that the page has an input for, under the same id. */
  fields?: readonly string[];
  /** Whether the page ignores the invalid parameters. */
  isLeftOut?: boolean;
}

/** The invalid parameters of a page. */
export const Problems: FC<ProblemsProps> = ({ problems, fields = [], isLeftOut = false }) =>
  problems.length === 0 ? null : (
    <div class="note wrong" role="alert">
      <p>
        {isLeftOut ? (
          <strong>Part of this link was ignored:</strong>
        ) : (
          <>
            <strong>Some filters are not valid.</strong> Fix them and try again:
          </>
        )}
      </p>
      <ul>
        {problems.map(({ parameter, message }) => (
          <li>
            {fields.includes(parameter) ? (
              <a href={`#${parameter}`}>{parameter}</a>
            ) : (
              <code>{parameter}</code>
            )}{" "}
            {message}
          </li>
        ))}
      </ul>
    </div>
  );
