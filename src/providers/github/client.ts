import { Octokit } from "@octokit/core";
import type { Clock } from "../../clock.js";
import { etagOf } from "../answers.js";
import { UpstreamFailure } from "../failures.js";
import type { UpstreamAnswer, UpstreamFetch } from "../fetch.js";
import { parseJson } from "../json.js";
import type { ProviderSettings } from "../providers.js";
import { type Lease, Quota, type Told } from "../quota.js";
import { aboutNone, githubFailure, githubTold } from "./limits.js";

const API_VERSION = "2022-11-28";
const MAX_REDIRECTS = 2;

/** The allowances that GitHub counts apart. */
export type Resource = "core" | "search" | "graphql";

/** A document of the REST API. */
export interface Document {
  status: number;
  headers: Headers;
  body: unknown;
  etag: string | null;
}

/** An answer to a GraphQL query, and whose allowance it was taken from. */
export interface GraphqlAnswer {
  body: unknown;
  lease: Lease;
}

interface Request {
  url: string;
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/**
 * Asks one GitHub, each time with a token that may be used now.
 *
 * Octokit makes the requests but does not send them: its own way of sending parses answers of any depth, hands on what is
 * no JSON as if it were an answer, writes to the console, and gives every failure of sending the status 500.
 */
export class GithubClient {
  readonly quota: Quota;
  readonly clock: Clock;
  readonly hasTokens: boolean;
  readonly #baseUrl: string;
  readonly #graphqlUrl: string;
  readonly #fetch: UpstreamFetch;
  readonly #endpoint = new Octokit().request.endpoint;

  constructor(settings: ProviderSettings, { fetch, clock }: { fetch: UpstreamFetch; clock: Clock }) {
    const isPublic = settings.url === "https://github.com";
    this.#baseUrl = isPublic ? "https://api.github.com" : `${settings.url}/api/v3`;
    this.#graphqlUrl = isPublic ? "https://api.github.com/graphql" : `${settings.url}/api/graphql`;
    const { tokens, requestsPerHour } = settings;
    this.quota = new Quota({ tokens, requestsPerHour, clock });
    this.clock = clock;
    this.hasTokens = tokens.length > 0;
    this.#fetch = fetch;
  }

  /**
   * The document at a route such as `/repos/{owner}/{repo}`; parameters that it does not name go into the query. null where
   * it is as it was with `etag`. A repository that has moved is followed to its number. Throws UpstreamFailure.
   */
  async get(
    route: string,
    parameters: Readonly<Record<string, string | number>>,
    options: { resource: Resource; signal: AbortSignal; etag?: string | null },
  ): Promise<Document | null> {
    const { url, headers } = this.#endpoint(`GET ${route}`, { ...parameters, baseUrl: this.#baseUrl });
    const conditional = options.etag ? { "if-none-match": options.etag } : {};
    const request: Request = {
      url,
      method: "GET",
      headers: { accept: String(headers.accept), ...conditional },
    };
    for (let redirects = 0; ; redirects++) {
      const { answer } = await this.#send(request, options.resource, 1, options.signal);
      const failure = githubFailure(answer, this.#name(url), this.clock);
      if (failure !== null) throw failure;
      if (answer.status === 304) return null;
      if (answer.status < 300) {
        const etag = etagOf(answer.headers);
        return { status: answer.status, headers: answer.headers, body: parseJson(answer.text), etag };
      }
      const target = redirects < MAX_REDIRECTS ? this.#moved(request.url, answer) : null;
      if (target === null) throw new UpstreamFailure("renamed", `${this.#name(url)}: moved out of reach`);
      request.url = target;
    }
  }

  /**
   * The answer to a GraphQL query that costs so many points; null where GitHub gave up on it (502, 504), which it does when
   * there is too much in it. Throws like `get`; what is wrong inside of an answer is for the caller to see.
   */
  async graphql(
    query: string,
    variables: Readonly<Record<string, unknown>>,
    options: { cost: number; signal: AbortSignal },
  ): Promise<GraphqlAnswer | null> {
    const made = this.#endpoint(`POST ${this.#graphqlUrl}`, { query, variables });
    const headers = {
      accept: String(made.headers.accept),
      "content-type": "application/json; charset=utf-8",
    };
    const request: Request = { url: made.url, method: "POST", headers, body: JSON.stringify(made.body) };
    const { answer, lease } = await this.#send(request, "graphql", options.cost, options.signal);
    if (answer.status === 502 || answer.status === 504) return null;
    const failure = githubFailure(answer, this.#name(made.url), this.clock);
    if (failure !== null) throw aboutNone(failure);
    return { body: parseJson(answer.text), lease };
  }

  /** With the next token where one is not accepted, as long as there is another. */
  async #send(
    { url, ...request }: Request,
    resource: Resource,
    cost: number,
    signal: AbortSignal,
  ): Promise<{ answer: UpstreamAnswer; lease: Lease }> {
    for (;;) {
      const lease = this.quota.take(resource, cost);
      const authorization = lease.token === null ? {} : { authorization: `Bearer ${lease.token}` };
      const headers = { ...request.headers, "x-github-api-version": API_VERSION, ...authorization };
      let told: Told = {};
      try {
        const answer = await this.#fetch(url, { ...request, headers, signal });
        told = githubTold(answer, resource, this.clock);
        if (answer.status !== 401 || !this.hasTokens) return { answer, lease };
        this.quota.learn(lease, told);
        if (this.quota.readyAt(resource) > this.clock.now()) return { answer, lease };
      } finally {
        this.quota.learn(lease, told);
      }
    }
  }

  /** Where an answer leads to, if that is a repository by its number in the same API: nothing else may get the token. */
  #moved(from: string, { headers }: UpstreamAnswer): string | null {
    const target = URL.parse(headers.get("location") ?? "", from);
    const base = `${this.#baseUrl}/repositories/`;
    if (target === null || target.username !== "" || target.password !== "" || !target.href.startsWith(base))
      return null;
    return /^\d+(\/stargazers\/history)?$/.test(target.pathname.slice(new URL(base).pathname.length))
      ? target.href
      : null;
  }

  /** What was asked for, for messages. */
  #name(url: string): string {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  }
}
