/** The client of one forge: how requests to its API are sent, whichever kind of forge it is, and queries for many repositories halved. */

import { type ProviderSettings, paceOf, type TokenSource } from "../config/config.js";
import type { Clock } from "../lib/clock.js";
import type { EnteredToken, Refreshed, RepositoryRef, TokenNotice, TokenQuota } from "./contract.js";
import { asFailed, concernsForge, UpstreamFailure } from "./failures.js";
import { parseJson } from "./fields.js";
import { Gate } from "./gate.js";
import { type Lease, type NamedToken, nameTokens, Quota, type Use } from "./quota.js";
import {
  etagOf,
  failureOf,
  isRefusal,
  isTokenRefused,
  readQuota,
  safeWords,
  withoutSecrets,
  wordsOfBody,
} from "./responses.js";
import { tokensOfCommand, tokensOfFile } from "./token-files.js";
import { TokenKeeper, type TokenLoader } from "./token-keeper.js";
import type { UpstreamFetch, UpstreamRequest, UpstreamResponse } from "./transport.js";

export interface ForgeApi {
  /** Address of the API without a trailing slash. */
  root: string;
  authorization: (token: string) => string;
  headers: Readonly<Record<string, string>>;
  /** Paths below `root` that redirects may lead to; default: all. */
  redirects?: RegExp;
  appTokens?: (source: AppSource, client: AppClient) => TokenLoader;
}

export type AppSource = Extract<TokenSource, { kind: "app" }>;

/** Sends the requests that obtain the tokens of an App; they use no other token. */
export interface AppClient {
  /** Sends a request to a path below the API's root. Throws UpstreamFailure. */
  send(path: string, request: UpstreamRequest): Promise<UpstreamResponse>;
  /** The failure that a response indicates; null for 2xx. */
  failureOf(path: string, response: UpstreamResponse): UpstreamFailure | null;
  readonly clock: Clock;
}

export interface Connection {
  fetch: UpstreamFetch;
  clock: Clock;
}

export interface Document {
  status: number;
  body: unknown;
  headers: Headers;
  etag: string | null;
}

interface GetOptions {
  signal: AbortSignal;
  /** The limit the request counts against; default `core`. */
  resource?: string;
  part?: string | null;
  etag?: string | null;
  /** Error statuses to return as documents; default: none, so each throws. */
  expected?: readonly number[];
  /** Full name of the repository that the document is about, whose owner may refuse tokens although everybody may read it. */
  about?: string;
}

const MAX_REDIRECTS = 3;
/** Shorter texts may be in a response by chance. */
const MIN_TOKEN_LENGTH = 16;
const MAX_SITE = 200;
/** Earlier tokens that are still removed from the forge's words. */
const KEPT_SECRETS = 200;

/**
 * Sends requests to one forge: waits for a turn, chooses the token and keeps its quota, follows redirects within the API, and reads
 * JSON. Rejects responses that repeat the token.
 */
export class ForgeClient {
  readonly tokens: Quota;
  readonly clock: Clock;
  readonly #name: string;
  readonly #api: ForgeApi;
  readonly #fetch: UpstreamFetch;
  /** The quota of requests without a token, for repositories whose owner refuses tokens. */
  readonly #anonymous: Quota;
  readonly #gate: Gate;
  readonly #keeper: TokenKeeper | null;
  #own: readonly NamedToken[];
  #entered: readonly EnteredToken[] = [];
  #secrets: readonly string[];

  constructor(api: ForgeApi, settings: ProviderSettings, { fetch, clock }: Connection) {
    const { name, tokens, requestsPerHour } = settings;
    const renewAt = () => this.#keeper?.renewedAt() ?? Number.POSITIVE_INFINITY;
    this.tokens = new Quota({ tokens, clock, renewAt });
    this.#anonymous = new Quota({ tokens: [], clock });
    this.clock = clock;
    this.#own = nameTokens(tokens);
    this.#secrets = tokens;
    this.#gate = new Gate({
      pace: paceOf(settings),
      requestsPerHour,
      hasTokens: () => this.hasTokens,
      clock,
    });
    this.#name = name;
    this.#api = api;
    this.#fetch = fetch;
    const loader = this.#loaderOf(settings.tokenSource);
    const onTokens = (named: readonly NamedToken[]) => {
      this.#own = named;
      this.#replaceTokens();
    };
    this.#keeper = loader && new TokenKeeper(loader, { tokens, clock, onTokens });
  }

  /** Whether requests have a token: there is one, and not all owners refuse it. */
  get hasTokens(): boolean {
    if (!this.tokens.hasAccess) return false;
    return this.#keeper !== null || this.#entered.length > 0 || this.#own.some(({ token }) => token !== null);
  }

  /** That of the tokens; of requests without one while all owners refuse them. */
  get quota(): Quota {
    return this.tokens.hasAccess ? this.tokens : this.#anonymous;
  }

  /** Replaces the tokens that operators entered, and tries rejected ones again: a forge may have just accepted one. */
  useEntered(tokens: readonly EnteredToken[]): void {
    this.#entered = tokens;
    this.#replaceTokens();
    this.tokens.retryRejected();
  }

  /** The document at a path below the API's root. Has status 304 and no body if it still has this `etag`. Throws UpstreamFailure. */
  async get(path: string, options: GetOptions): Promise<Document> {
    const { signal, resource = "core", part = null, etag = null, expected = [], about } = options;
    const request: UpstreamRequest = { headers: etag === null ? {} : { "if-none-match": etag }, signal };
    let url = this.#api.root + path;
    for (let redirects = 0; ; redirects++) {
      const use = { resource, part };
      const { response: first, lease } = await this.send(url, request, use, about !== undefined);
      const isRefused = about !== undefined && lease.token !== null && isRefusal(first);
      const open = isRefused ? await this.#sendWithoutToken(url, request, use) : null;
      if (open !== null && isRefused) this.tokens.wasRefused(lease, ownerOf(about).toLowerCase());
      if (about !== undefined && (first.status < 300 || first.status === 304)) this.tokens.hasRead(lease);
      const response = open ?? first;
      const target = redirects < MAX_REDIRECTS ? this.#redirectOf(url, response) : null;
      if (target !== null) {
        url = target;
        continue;
      }
      const { status, headers, text } = response;
      const failure = this.failureOf(url, response);
      if (failure !== null && isRefused) throw this.#refusalOf(about, failure);
      if (failure !== null && !expected.includes(status)) throw failure;
      // The body of an expected error may be a page of a proxy.
      const body = failure === null && status !== 304 ? this.parse(url, text) : undefined;
      return { status, headers, body, etag: etagOf(headers) };
    }
  }

  /**
   * Waits for a turn, then sends a request with a token that has quota left for it, and again with the next token if that one is
   * rejected. Returns the response, whatever its status, and the lease it was sent under. Throws UpstreamFailure.
   * `mayTry`: whether it may be the one that tries a token again that all owners refused.
   */
  async send(
    url: string,
    request: UpstreamRequest,
    use: Use,
    mayTry = false,
  ): Promise<{ response: UpstreamResponse; lease: Lease }> {
    const quota = () => (mayTry && this.tokens.isReady(use) ? this.tokens : this.quota);
    for (;;) {
      await this.#whenReady(request.signal, use);
      quota().check(use);
      await this.#gate.pass(use.part ?? null, request.signal);
      const lease = quota().take(use);
      const response = await this.#sendOnce(url, request, lease);
      const isRejected = isTokenRefused(response);
      if (isRejected && (await this.#hasReplaced(lease, request.signal))) continue;
      const message = response.status < 400 ? null : wordsOfBody(response.text, this.#secrets);
      this.tokens.learn(lease, { ...readQuota(response, use.resource, this.clock), message });
      if (isRejected && lease.token !== null && this.quota.isReady(use)) continue;
      this.#checkEcho(response, lease);
      return { response, lease };
    }
  }

  /** Whether a request may be sent without a token. */
  get mayOmitToken(): boolean {
    return this.#anonymous.isReady({ resource: "core" });
  }

  /** The response to the same request without a token; null if the forge permits none now, or refuses it too. */
  async #sendWithoutToken(url: string, request: UpstreamRequest, use: Use): Promise<UpstreamResponse | null> {
    await this.#gate.pass(use.part ?? null, request.signal);
    if (!this.#anonymous.isReady(use)) return null;
    const lease = this.#anonymous.take(use);
    const response = await this.#sendOnce(url, request, lease);
    this.#anonymous.learn(lease, readQuota(response, use.resource, this.clock));
    return response.status < 400 ? response : null;
  }

  #refusalOf(fullName: string, { reason }: UpstreamFailure): UpstreamFailure {
    const owner = withoutSecrets(ownerOf(fullName), this.#secrets);
    const message = `${this.#name}: ${owner} refuses the token, and the repository was not read without one`;
    return new UpstreamFailure("refused", message, { reason });
  }

  /** While the source of the settings' tokens fails, only entered tokens are used. */
  async #whenReady(signal: AbortSignal, use: Use): Promise<void> {
    try {
      await this.#keeper?.ready(signal, this.quota.isReady(use));
    } catch (error) {
      const mayGoOn = this.#entered.length > 0 && this.quota.isReady(use);
      if (!mayGoOn || !(error instanceof UpstreamFailure)) throw error;
    }
  }

  async #hasReplaced(lease: Lease, signal: AbortSignal): Promise<boolean> {
    if (lease.token === null || this.#keeper === null) return false;
    if (this.#entered.some(({ token }) => token === lease.token)) return false;
    if (!(await this.#keeper.hasReplaced(lease.token, signal))) return false;
    this.quota.learn(lease, {});
    return true;
  }

  #replaceTokens(): void {
    const own = this.#own.filter(({ token }) => token !== null);
    const known = new Set(own.map(({ token }) => token));
    const named = [...own, ...this.#entered.filter(({ token }) => !known.has(token))];
    this.tokens.replace(named.length === 0 ? nameTokens([]) : named);
    const tokens = named.flatMap(({ token }) => token ?? []);
    this.#secrets = [...new Set([...tokens, ...this.#secrets])].slice(0, KEPT_SECRETS);
  }

  #loaderOf(source: TokenSource | undefined): TokenLoader | null {
    if (source === undefined) return null;
    if (source.kind === "file") return tokensOfFile(source.path);
    if (source.kind === "command") return tokensOfCommand(source);
    const { root, headers, appTokens } = this.#api;
    const client: AppClient = {
      clock: this.clock,
      failureOf: (path, response) => this.failureOf(root + path, response),
      send: (path, request) => {
        // All other requests may be waiting for this one.
        this.#gate.count();
        return this.#fetch(root + path, { ...request, headers: { ...headers, ...request.headers } });
      },
    };
    return appTokens?.(source, client) ?? null;
  }

  async #sendOnce(url: string, request: UpstreamRequest, lease: Lease): Promise<UpstreamResponse> {
    const authorization = lease.token === null ? {} : { authorization: this.#api.authorization(lease.token) };
    const headers = { ...this.#api.headers, ...request.headers, ...authorization };
    return this.#fetch(url, { ...request, headers }).catch((error: unknown) => {
      this.quota.learn(lease, {});
      throw error;
    });
  }

  /** Throws `malformed` for a usable response with our token in it, since its content would be stored and shown. */
  #checkEcho({ status, headers, text }: UpstreamResponse, { token }: Lease): void {
    if (status >= 400 || token === null || token.length < MIN_TOKEN_LENGTH) return;
    if (![text, ...headers.values()].some((part) => part.includes(token))) return;
    throw new UpstreamFailure("malformed", `${this.#name}: the response contains our token`);
  }

  /** Earliest time for a request, in ms since 1970; the current time when one is possible now. */
  readyAt(use: Use): number {
    const paceWaitMs = Math.max(0, this.#gate.readyAt(use.part ?? null) - this.clock.monotonic());
    const ownReadyAt = this.#entered.length > 0 ? 0 : (this.#keeper?.readyAt ?? 0);
    const tokenWaitMs = Math.max(0, ownReadyAt - this.clock.monotonic());
    const waitMs = Math.max(paceWaitMs, tokenWaitMs);
    return Math.max(this.quota.readyAt(use), Math.ceil(this.clock.now() + waitMs));
  }

  quotas(): TokenQuota[] {
    const problem = this.#keeper?.problem() ?? null;
    return [...this.tokens.list(), ...this.#anonymous.list(), ...(problem === null ? [] : [problem])];
  }

  notices(): TokenNotice[] {
    return [...this.tokens.takeNotices(), ...(this.#keeper?.takeNotices() ?? [])];
  }

  /** The failure that a response indicates, with the provider and the path in its message; null for 2xx and 304. */
  failureOf(url: string, response: UpstreamResponse): UpstreamFailure | null {
    const what = withoutSecrets(`${this.#name} ${new URL(url).pathname}`, this.#secrets);
    const whereTo = this.#whereTo(url, response.headers);
    return failureOf(response, { what, whereTo, secrets: this.#secrets }, this.clock);
  }

  /** Words for a redirect to another site; empty without one. */
  #whereTo(url: string, headers: Headers): string {
    const target = URL.parse(headers.get("location") ?? "", url);
    if (target === null || target.origin === new URL(url).origin || !/^https?:$/.test(target.protocol))
      return "";
    const site = withoutSecrets(target.origin, this.#secrets).slice(0, MAX_SITE);
    return ` to ${site}; if the forge has moved there, set SIDEREAL_${this.#name}_URL`;
  }

  /** The JSON in a response from an address. Throws UpstreamFailure `malformed`, which names the address without its query. */
  parse(url: string, text: string): unknown {
    try {
      return parseJson(text);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      const { origin, pathname } = new URL(url);
      const what = withoutSecrets(origin + pathname, this.#secrets);
      throw new UpstreamFailure(error.kind, `${what}: ${error.message}`, { cause: error });
    }
  }

  /** A text of the forge in a form that is safe for the log; null when nothing is left of it. */
  wordsOf(text: string): string | null {
    return safeWords(text, this.#secrets);
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

const ownerOf = (fullName: string): string => fullName.slice(0, fullName.lastIndexOf("/"));

export type Results = Map<RepositoryRef, Refreshed>;

/** Queries of a batch that may fail: enough to find two repositories among a hundred. */
const MAX_FAILED = 16;

interface Answer {
  results: Results;
  open: readonly RepositoryRef[];
}

interface Halving {
  /** `open`: those that the forge gave up on. Throws UpstreamFailure for a failure that no smaller query would mend. */
  query: (part: readonly RepositoryRef[]) => Promise<Answer>;
  /** Reads one that cannot be queried for even alone, in another way. */
  readOne: (repository: RepositoryRef) => Promise<Refreshed>;
}

/**
 * A result for each repository. Those that the forge gives up on are queried again in halves, down to one, and that one is read by
 * itself, so that it holds up no others. After MAX_FAILED queries, and once the forge fails as a whole, the rest fails too. Throws
 * UpstreamFailure if nothing is known about any of them.
 */
export async function queryInHalves(
  repositories: readonly RepositoryRef[],
  { query, readOne }: Halving,
): Promise<Results> {
  const results: Results = new Map();
  const parts = [repositories];
  let failed = 0;
  let isKnown = false;
  let failure: UpstreamFailure | null = null;
  const ask = (part: readonly RepositoryRef[]) =>
    query(part).catch((error: unknown): UpstreamFailure => asFailed(error).failure);
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (failed === MAX_FAILED)
      failure ??= new UpstreamFailure("unreachable", "GraphQL: gave up on the query");
    const found: UpstreamFailure | Answer = failure ?? (await ask(part));
    if (found instanceof UpstreamFailure) {
      failure = found;
      for (const repository of part) results.set(repository, { kind: "failed", failure });
      continue;
    }
    for (const [repository, result] of found.results) results.set(repository, result);
    isKnown ||= found.results.size > 0;
    const [first, ...others]: readonly RepositoryRef[] = found.open;
    if (first === undefined) continue;
    failed++;
    if (others.length === 0) {
      const result: Refreshed = await readOne(first).catch(asFailed);
      isKnown ||= result.kind !== "failed";
      if (result.kind === "failed" && concernsForge(result.failure.kind)) failure = result.failure;
      results.set(first, result);
      continue;
    }
    const middle = Math.ceil(found.open.length / 2);
    parts.push(found.open.slice(middle), found.open.slice(0, middle));
  }
  if (failure !== null && !isKnown) throw failure;
  return results;
}
