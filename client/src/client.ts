/**
 * A client of the Sidereal API, typed by its OpenAPI document. It needs `fetch` and other web standards only, so it runs in Node.js,
 * browsers, Deno and Bun. It owns addresses, credentials, time limits, retries, errors and pages; the meaning of a path is in the
 * documentation of the API.
 */
import { addressOf, type Parameters } from "./address.js";
import { SiderealError } from "./error.js";
import { linesOf, parsed } from "./lines.js";
import type { ClientOptions, CommonOptions } from "./options.js";
import type { Repository } from "./schema.js";
import { send } from "./send.js";
import type {
  Argument,
  JsonOf,
  JsonPathWith,
  Method,
  OperationAt,
  OptionsOf,
  Page,
  PagedPath,
  PageOf,
  PathWith,
  RowOf,
  StreamPath,
} from "./types.js";

export {
  type ClientErrorCode,
  type ErrorCode,
  type ErrorDetail,
  type ServiceErrorCode,
  SiderealError,
} from "./error.js";
export type { ClientOptions, Clock, CommonOptions, ResponseStore, Retry, StoredResponse } from "./options.js";
export type * from "./schema.js";
export type {
  JsonPathWith,
  Method,
  PagedPath,
  PageOf,
  PathWith,
  RowOf,
  StreamPath,
} from "./types.js";

/** Options as the code handles them; the types of the methods say which of them a path has. */
interface AnyOptions extends CommonOptions {
  path?: Parameters | undefined;
  query?: Parameters | undefined;
  body?: unknown;
}

/** The most rows that the API returns at a time. */
const ROWS_PER_PAGE = 100;

/** A client of one service. Its methods throw SiderealError, or the reason of an aborted signal. */
export class Sidereal {
  readonly #options: ClientOptions;
  readonly #base: URL;

  /** Throws TypeError if `baseUrl` is no absolute address. */
  constructor(options: ClientOptions) {
    this.#options = options;
    this.#base = new URL(options.baseUrl);
  }

  /** Returns the JSON of a GET. */
  get<P extends JsonPathWith<"get">>(
    path: P,
    ...[options]: Argument<OptionsOf<OperationAt<"get", P>, "format">>
  ): Promise<JsonOf<OperationAt<"get", P>>> {
    return this.#json("get", path, options);
  }

  /** Returns the JSON of a POST. Like PATCH and DELETE, it is sent again only after a rate limit refused it. */
  post<P extends JsonPathWith<"post">>(
    path: P,
    ...[options]: Argument<OptionsOf<OperationAt<"post", P>>>
  ): Promise<JsonOf<OperationAt<"post", P>>> {
    return this.#json("post", path, options);
  }

  /** Returns the JSON of a PATCH. */
  patch<P extends JsonPathWith<"patch">>(
    path: P,
    ...[options]: Argument<OptionsOf<OperationAt<"patch", P>>>
  ): Promise<JsonOf<OperationAt<"patch", P>>> {
    return this.#json("patch", path, options);
  }

  /** Returns the JSON of a DELETE, usually undefined. */
  delete<P extends JsonPathWith<"delete">>(
    path: P,
    ...[options]: Argument<OptionsOf<OperationAt<"delete", P>>>
  ): Promise<JsonOf<OperationAt<"delete", P>>> {
    return this.#json("delete", path, options);
  }

  /**
   * Returns the response itself, for its headers, or for content other than JSON: `format=csv`, feeds, pictures. Throws for a status of 400
   * or more. The time limit ends with the headers; the signal also ends the body.
   */
  request<M extends Method, P extends PathWith<M>>(
    method: M,
    path: P,
    ...[options]: Argument<OptionsOf<OperationAt<M, P>>>
  ): Promise<Response> {
    return this.#open(method, path, options);
  }

  /** The pages of a list, from the first one or from the `page` or `cursor` of the query; 100 rows each unless it has a `limit`. */
  pages<P extends PagedPath>(
    path: P,
    ...[options]: Argument<OptionsOf<OperationAt<"get", P>, "format">>
  ): AsyncGenerator<PageOf<P>, void, undefined> {
    return this.#pages(path, options);
  }

  /** The rows of all pages. To stop, leave the loop. */
  async *rows<P extends PagedPath>(
    path: P,
    ...[options]: Argument<OptionsOf<OperationAt<"get", P>, "format">>
  ): AsyncGenerator<RowOf<P>, void, undefined> {
    for await (const { data } of this.#pages<Page<RowOf<P>>>(path, options)) yield* data;
  }

  /**
   * The rows of a whole list that the service sends as one response; needs a key. Throws NETWORK if it is cut short. The time limit
   * covers the first bytes alone, and a stream that has begun is not sent again.
   */
  async *stream<P extends StreamPath>(
    path: P,
    ...[options]: Argument<OptionsOf<OperationAt<"get", P>>>
  ): AsyncGenerator<Repository, void, undefined> {
    const { body } = await this.#open("get", path, options);
    if (body !== null) yield* linesOf(body, options?.signal);
  }

  async *#pages<P extends Page>(path: string, options: AnyOptions = {}): AsyncGenerator<P, void, undefined> {
    let query: Parameters = { limit: ROWS_PER_PAGE, ...options.query };
    for (;;) {
      const body = await this.#json<P>("get", path, { ...options, query });
      yield body;
      const { hasMore, nextCursor, page } = body.meta;
      if (!hasMore) return;
      if (nextCursor !== null && nextCursor === query.cursor)
        throw new SiderealError("UNEXPECTED_RESPONSE", "The next page is the same page.", { status: 200 });
      // Lists without cursors have numbered pages.
      const next = nextCursor === null ? { page: (page ?? 0) + 1 } : { page: undefined, cursor: nextCursor };
      query = { ...query, ...next };
    }
  }

  async #open(method: Method, path: string, options: AnyOptions = {}): Promise<Response> {
    const address = addressOf(this.#base, path, options);
    return send(this.#options, { ...options, method, address }, async (response) => response);
  }

  async #json<T>(method: Method, path: string, options: AnyOptions = {}): Promise<T> {
    const address = addressOf(this.#base, path, options);
    const store = method === "get" ? this.#options.store : undefined;
    const stored = store?.get(address);
    const headers = { ...(stored && { "If-None-Match": stored.etag }), ...options.headers };
    const { etag, text } = await send(
      this.#options,
      { ...options, headers, method, address },
      async (response) =>
        response.status === 304 && stored !== undefined
          ? stored
          : { etag: response.headers.get("ETag"), text: await response.text() },
    );
    if (text === "" && method !== "get") return undefined as T;
    const body = parsed<T>(text);
    if (etag !== null) store?.set(address, { etag, text });
    return body;
  }
}
