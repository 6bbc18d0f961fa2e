import type { Clock } from "../clock.js";
import { etagOf, failureOf, toldBy } from "./answers.js";
import type { UpstreamAnswer, UpstreamFetch } from "./fetch.js";
import { parseJson } from "./json.js";
import type { ProviderSettings } from "./providers.js";
import { Quota } from "./quota.js";

/** What the API of one instance is reached with. */
export interface ClientOptions {
  settings: ProviderSettings;
  fetch: UpstreamFetch;
  clock: Clock;
  /** Path of the API on the site, such as `/api/v1`. */
  base: string;
  /** The `Authorization` header that carries a token. */
  authorization: (token: string) => string;
}

/** A document of the API. */
export interface Document {
  body: unknown;
  headers: Headers;
  etag: string | null;
}

/** All requests count against one allowance; these forges have no other. */
export const RESOURCE = "core";

const MAX_REDIRECTS = 3;

/** Reads documents of a REST API: tokens and their quota, statuses, redirects within the API, JSON. */
export class Client {
  readonly quota: Quota;
  readonly #options: ClientOptions;
  readonly #root: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#root = options.settings.url + options.base;
    const { tokens, requestsPerHour } = options.settings;
    this.quota = new Quota({ tokens, requestsPerHour, clock: options.clock });
  }

  /**
   * The document at a path of the API; null where it is as it was with `etag`. Follows redirects within the API. Throws
   * UpstreamFailure.
   */
  async get(path: string, signal: AbortSignal, etag: string | null = null): Promise<Document | null> {
    let url = this.#root + path;
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#send(url, signal, etag);
      const target = redirects < MAX_REDIRECTS ? this.#redirect(url, answer) : null;
      if (target !== null) {
        url = target;
        continue;
      }
      const failure = failureOf(answer, `${this.#options.settings.name} ${path}`, this.#options.clock);
      if (failure !== null) throw failure;
      if (answer.status === 304) return null;
      return {
        body: parseJson(answer.text),
        headers: answer.headers,
        etag: etagOf(answer.headers),
      };
    }
  }

  /** With the next token for one that is not accepted, as long as there is another. */
  async #send(url: string, signal: AbortSignal, etag: string | null): Promise<UpstreamAnswer> {
    const { fetch, clock, authorization } = this.#options;
    for (;;) {
      const lease = this.quota.take(RESOURCE);
      const giveBack = (error: unknown) => {
        this.quota.learn(lease, {});
        throw error;
      };
      const answer = await fetch(url, {
        headers: {
          accept: "application/json",
          ...(lease.token !== null && { authorization: authorization(lease.token) }),
          ...(etag !== null && { "if-none-match": etag }),
        },
        signal,
      }).catch(giveBack);
      this.quota.learn(lease, toldBy(answer, clock));
      const mayTryAnother = answer.status === 401 && lease.token !== null;
      if (!mayTryAnother || this.quota.readyAt(RESOURCE) > clock.now()) return answer;
    }
  }

  /** Where an answer leads to, if that is in the API too. */
  #redirect(from: string, { status, headers }: UpstreamAnswer): string | null {
    if (![301, 302, 307, 308].includes(status)) return null;
    const target = URL.parse(headers.get("location") ?? "", from)?.href;
    return target?.startsWith(`${this.#root}/`) ? target : null;
  }
}
