import type { Clock } from "../clock.js";
import type { ProviderSettings } from "../forges.js";
import { type Lease, Quota } from "./quota.js";
import { etagOf, failureOf, parseJson, readQuota } from "./responses.js";
import type { UpstreamFetch, UpstreamRequest, UpstreamResponse } from "./transport.js";

/** How the API of a kind of forge is reached. */
export interface ForgeApi {
  /** Address of the API without a trailing slash. */
  root: string;
  /** The `Authorization` header for a token. */
  authorization: (token: string) => string;
  /** Sent with every request. */
  headers: Readonly<Record<string, string>>;
  /** Paths below `root` that redirects may lead to; default: all. */
  redirects?: RegExp;
}

/** Dependencies of a provider, besides its settings. */
export interface Connection {
  fetch: UpstreamFetch;
  clock: Clock;
}

/** A document of a REST API. */
export interface Document {
  status: number;
  body: unknown;
  headers: Headers;
  etag: string | null;
}

export interface GetOptions {
  signal: AbortSignal;
  /** The limit the request counts against; default `core`. */
  resource?: string;
  etag?: string | null;
}

const MAX_REDIRECTS = 3;

/** Sends requests to one forge: chooses the token, keeps its quota, follows redirects within the API, reads JSON. */
export class ForgeClient {
  readonly quota: Quota;
  readonly clock: Clock;
  readonly hasTokens: boolean;
  readonly #name: string;
  readonly #api: ForgeApi;
  readonly #fetch: UpstreamFetch;

  constructor(api: ForgeApi, settings: ProviderSettings, { fetch, clock }: Connection) {
    const { name, tokens, requestsPerHour } = settings;
    this.quota = new Quota({ tokens, requestsPerHour, clock });
    this.clock = clock;
    this.hasTokens = tokens.length > 0;
    this.#name = name;
    this.#api = api;
    this.#fetch = fetch;
  }

  /** The document at a path below the API's root; null if it still has this `etag`. Throws UpstreamFailure. */
  async get(path: string, { signal, resource = "core", etag = null }: GetOptions): Promise<Document | null> {
    const request: UpstreamRequest = { headers: etag === null ? {} : { "if-none-match": etag }, signal };
    let url = this.#api.root + path;
    for (let redirects = 0; ; redirects++) {
      const { response } = await this.send(url, request, { resource, cost: 1 });
      const target = redirects < MAX_REDIRECTS ? this.#redirectOf(url, response) : null;
      if (target !== null) {
        url = target;
        continue;
      }
      const { status, headers, text } = response;
      const failure = this.failureOf(url, response);
      if (failure !== null) throw failure;
      return status === 304 ? null : { status, headers, body: parseJson(text), etag: etagOf(headers) };
    }
  }

  /**
   * Sends a request with a token that has quota left for it, and again with the next one if the token is rejected. Returns the
   * response, whatever its status, and the lease it was sent under. Throws UpstreamFailure.
   */
  async send(
    url: string,
    request: UpstreamRequest,
    { resource, cost }: { resource: string; cost: number },
  ): Promise<{ response: UpstreamResponse; lease: Lease }> {
    for (;;) {
      const lease = this.quota.take(resource, cost);
      const authorization =
        lease.token === null ? {} : { authorization: this.#api.authorization(lease.token) };
      const headers = { ...this.#api.headers, ...request.headers, ...authorization };
      const response = await this.#fetch(url, { ...request, headers }).catch((error: unknown) => {
        this.quota.learn(lease, {});
        throw error;
      });
      this.quota.learn(lease, readQuota(response, resource, this.clock));
      const mayTryAnother = response.status === 401 && lease.token !== null;
      if (!mayTryAnother || this.quota.readyAt(resource) > this.clock.now()) return { response, lease };
    }
  }

  /** The failure that a response indicates, with the provider and the path in its message; null for 2xx and 304. */
  failureOf(url: string, response: UpstreamResponse): ReturnType<typeof failureOf> {
    return failureOf(response, `${this.#name} ${new URL(url).pathname}`, this.clock);
  }

  /** The target of a redirect that stays within the API: nothing else may receive the token. */
  #redirectOf(from: string, { status, headers }: UpstreamResponse): string | null {
    if (![301, 302, 307, 308].includes(status)) return null;
    const { root, redirects } = this.#api;
    const target = URL.parse(headers.get("location") ?? "", from)?.href;
    if (!target?.startsWith(`${root}/`)) return null;
    return redirects?.test(target.slice(root.length)) === false ? null : target;
  }
}
