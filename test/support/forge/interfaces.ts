import type { ForgeKind } from "../../../src/config/known-forges.js";
import { forgejoError, forgejoKind, handleForgejo } from "./forgejo.js";
import { githubError, githubKind, githubResource, handleGithub } from "./github.js";
import { gitlabError, gitlabKind, handleGitlab } from "./gitlab.js";
import { gogsError, gogsKind, handleGogs } from "./gogs.js";
import type { Limiter, Quota, SecondaryLimit } from "./limits.js";
import type { ForgeRequest, ForgeResponse, Site } from "./responses.js";

/** The differences between the APIs on the shared server. */
export interface Interface {
  /** The route of a path. */
  kindOf(path: string): string;
  /** The limit that such a request counts against. */
  resourceOf(kind: string): string;
  response(site: Site, request: ForgeRequest, limiter: Limiter): ForgeResponse;
  /** The response to an unauthorized request; null: permitted. `tokens` null: any token is valid. */
  refuse(request: ForgeRequest, tokens: ReadonlySet<string> | null): ForgeResponse | null;
  /** The response when the quota is used up. */
  spent(request: ForgeRequest, status: number, quota: Quota | null, site: Site): ForgeResponse;
  /** The response to a burst. */
  tooMuch(limit: SecondaryLimit | null): ForgeResponse;
  /** Headers of every response. */
  headersOf(request: ForgeRequest, resource: string, quota: Quota | null): Record<string, string>;
  /** Whether headers say that no quota is left. */
  saysSpent(headers: Readonly<Record<string, string>>): boolean;
  /** An error in this forge's format. */
  error(url: string, status: number, message: string, headers?: Record<string, string>): ForgeResponse;
}

const secondsUntil = (quota: Quota | null, site: Site) =>
  String(Math.max(1, Math.ceil(((quota?.resetAt ?? 0) - site.clock.now()) / 1000)));
const isUnknown = (token: string | null, tokens: ReadonlySet<string> | null) =>
  token !== null && tokens !== null && !tokens.has(token);

const github: Interface = {
  kindOf: githubKind,
  resourceOf: githubResource,
  response: handleGithub,
  refuse({ headers, token, kind }, tokens) {
    if (!headers["user-agent"]) {
      const body =
        "Request forbidden by administrative rules. Please make sure your request has a User-Agent header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required). Check https://developer.github.com for other possible causes.\n";
      return { status: 403, headers: { "content-type": "text/html" }, body, repositories: 0 };
    }
    if (isUnknown(token, tokens)) return githubError(401, "Bad credentials");
    if (kind !== "graphql" || token !== null) return null;
    return githubError(401, "This endpoint requires you to be authenticated.");
  },
  spent({ kind, token }, status) {
    const who =
      token === null
        ? "127.0.0.1. (But here's the good news: Authenticated requests get a higher rate limit.)"
        : "user ID 1.";
    const message = `API rate limit exceeded for ${who}`;
    if (kind !== "graphql") return githubError(status, message);
    // GraphQL reports it with status 200.
    const headers = { "content-type": "application/json; charset=utf-8" };
    const body = JSON.stringify({ errors: [{ type: "RATE_LIMITED", message }] });
    return { status: 200, headers, body, repositories: 0 };
  },
  tooMuch: (limit) =>
    githubError(
      403,
      "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
      { "retry-after": String(limit?.retryAfterSeconds ?? 60) },
    ),
  headersOf: (request, resource, quota) => ({
    server: "GitHub.com",
    vary: "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With",
    "x-github-media-type": request.kind === "graphql" ? "github.v4; format=json" : "github.v3; format=json",
    ...(quota !== null && {
      "x-ratelimit-limit": String(quota.limit),
      "x-ratelimit-remaining": String(quota.remaining),
      "x-ratelimit-reset": String(Math.floor(quota.resetAt / 1000)),
      "x-ratelimit-used": String(quota.used),
      "x-ratelimit-resource": resource,
    }),
  }),
  saysSpent: (headers) => headers["x-ratelimit-remaining"] === "0",
  error: (_url, status, message, headers) => githubError(status, message, headers),
};

const gitlab: Interface = {
  kindOf: gitlabKind,
  resourceOf: () => "core",
  response: handleGitlab,
  refuse: ({ token }, tokens) => (isUnknown(token, tokens) ? gitlabError(401, "Unauthorized") : null),
  spent: (_request, status, quota, site) => ({
    status,
    headers: { "content-type": "text/plain", "retry-after": secondsUntil(quota, site) },
    body: "Retry later\n",
    repositories: 0,
  }),
  tooMuch: () => gitlabError(429, "Too Many Requests"),
  headersOf: (request, _resource, quota) => ({
    "cache-control": "max-age=0, private, must-revalidate",
    vary: "Origin, Accept-Encoding",
    ...(quota !== null && {
      "ratelimit-limit": String(quota.limit),
      "ratelimit-name":
        request.token === null ? "throttle_unauthenticated_api" : "throttle_authenticated_api",
      "ratelimit-observed": String(quota.used),
      "ratelimit-remaining": String(quota.remaining),
      "ratelimit-reset": String(Math.floor(quota.resetAt / 1000)),
    }),
  }),
  saysSpent: (headers) => headers["ratelimit-remaining"] === "0",
  error: (_url, status, message, headers) => gitlabError(status, message, headers),
};

const forgejo: Interface = {
  kindOf: forgejoKind,
  resourceOf: () => "core",
  response: handleForgejo,
  refuse: ({ token }, tokens) =>
    isUnknown(token, tokens) ? forgejoError("", 401, "user does not exist [uid: 0, name: ]") : null,
  spent: (_request, status, quota, site) => ({
    status,
    headers: { "content-type": "text/html", "retry-after": secondsUntil(quota, site) },
    body: "<html><body><h1>429 Too Many Requests</h1></body></html>\n",
    repositories: 0,
  }),
  tooMuch: () => forgejoError("", 429, "Too Many Requests"),
  headersOf: () => ({
    "cache-control": "max-age=0, private, must-revalidate, no-transform",
    "access-control-expose-headers": "X-Total-Count, Link",
    vary: "Origin",
  }),
  saysSpent: () => false,
  error: forgejoError,
};

const gogs: Interface = {
  ...forgejo,
  kindOf: gogsKind,
  response: handleGogs,
  refuse: ({ token }, tokens) => (isUnknown(token, tokens) ? gogsError(401) : null),
  tooMuch: () => gogsError(429),
  headersOf: () => ({}),
  error: (_url, status, _message, headers) => gogsError(status, headers),
};

export const INTERFACES: Readonly<Record<ForgeKind, Interface>> = { github, gitlab, forgejo, gogs };
