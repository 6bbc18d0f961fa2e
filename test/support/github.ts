import type { ProviderSettings } from "../../src/config/known-forges.js";
import type { Provider, RepositoryRef } from "../../src/forges/contract.js";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { createGithub } from "../../src/forges/github/github.js";
import type { UpstreamFetch } from "../../src/forges/transport.js";
import { SkippingClock } from "./manual-clock.js";
import { type Scripted, settingsOf } from "./upstream.js";

export type { Scripted };

/** Initial time of every test. */
export const NOW = Date.UTC(2026, 3, 30, 12);

/** A repository in a search index. */
export interface Searchable {
  id: number;
  stars: number;
  /** Seconds since 1970. */
  created: number;
}

export interface Found {
  total: number;
  rows: Searchable[];
}

const ROWS = 100;
const REACHABLE_ROWS = 1000;

/** GitHub's repository search: qualifiers, order, 100 rows per page and 1,000 in total. */
export function search(repositories: Iterable<Searchable>, query: string, page: number): Found {
  const words = query.split(" ");
  if (!words.includes("fork:true") || !words.includes("is:public"))
    throw new Error(`not all are meant: ${query}`);
  const isStars = within(
    words.find((word) => word.startsWith("stars:")),
    Number,
  );
  const isCreated = within(
    words.find((word) => word.startsWith("created:")),
    (text) => {
      if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) throw new Error(`no time: ${text}`);
      return Date.parse(text) / 1000;
    },
  );
  const found = [...repositories]
    .filter(({ stars, created }) => isStars(stars) && isCreated(created))
    .sort((a, b) => b.stars - a.stars || a.id - b.id);
  const to = Math.min(page * ROWS, REACHABLE_ROWS);
  return { total: found.length, rows: found.slice((page - 1) * ROWS, to) };
}

function within(word: string | undefined, read: (text: string) => number): (value: number) => boolean {
  if (word === undefined) return () => true;
  const text = word.slice(word.indexOf(":") + 1);
  const [low = "", high = ""] = text.split("..");
  if (text.startsWith(">=")) return (value) => value >= read(text.slice(2));
  if (text.startsWith("<=")) return (value) => value <= read(text.slice(2));
  const [from, to] = [read(low), read(high)];
  if (!(from <= to)) throw new Error(`no range: ${word}`);
  return (value) => value >= from && value <= to;
}

/** A sent request. */
export interface Sent {
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** The GraphQL query, and the ids it is about. */
  query: string;
  ids: string[];
}

/** A fake GitHub without a network that responds with `answer`; `sent` has all requests. */
export function scriptedFetch(
  answer: (sent: Sent) => Scripted | UpstreamFailure,
): UpstreamFetch & { sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch: UpstreamFetch = async (url, request) => {
    const body = request.body === undefined ? undefined : JSON.parse(request.body);
    const one: Sent = {
      url: new URL(url),
      headers: request.headers ?? {},
      query: body?.query ?? "",
      ids: body?.variables?.ids ?? [],
    };
    sent.push(one);
    const answered = answer(one);
    if (answered instanceof UpstreamFailure) throw answered;
    const { status = 200, headers = {}, body: text = "" } = answered;
    return {
      status,
      headers: new Headers(headers),
      text: typeof text === "string" ? text : JSON.stringify(text),
    };
  };
  return Object.assign(fetch, { sent });
}

/** The GitHub provider on a scripted fetch. */
export function github(
  fetch: UpstreamFetch,
  { clock = new SkippingClock(NOW), ...changes }: Partial<ProviderSettings> & { clock?: SkippingClock } = {},
): Provider {
  const own = { name: "GITHUB", url: "https://github.com", minStars: 10 };
  return createGithub(settingsOf("github", { ...own, ...changes }), { fetch, clock });
}

/** A repository of the REST API. */
export function restRow(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 7,
    node_id: "R_7",
    full_name: "octo/seven",
    name: "seven",
    owner: { login: "octo", avatar_url: "https://avatars.githubusercontent.com/u/8?v=4" },
    private: false,
    html_url: "https://github.com/octo/seven",
    description: "Seven",
    homepage: "https://seven.example/",
    language: "Zig",
    license: { key: "mit", spdx_id: "MIT" },
    topics: ["numbers"],
    stargazers_count: 70,
    forks_count: 7,
    open_issues_count: 12,
    subscribers_count: 3,
    fork: false,
    archived: false,
    created_at: "2020-01-02T03:04:05Z",
    pushed_at: "2026-04-29T00:00:00Z",
    ...changes,
  };
}

/** The same repository as a GraphQL node. */
export function node(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    __typename: "Repository",
    id: "R_7",
    databaseId: 7,
    nameWithOwner: "octo/seven",
    url: "https://github.com/octo/seven",
    description: "Seven",
    homepageUrl: "https://seven.example/",
    primaryLanguage: { name: "Zig" },
    licenseInfo: { spdxId: "MIT" },
    repositoryTopics: { nodes: [{ topic: { name: "numbers" } }] },
    stargazerCount: 70,
    forkCount: 7,
    issues: { totalCount: 9 },
    pullRequests: { totalCount: 3 },
    watchers: { totalCount: 3 },
    isPrivate: false,
    isFork: false,
    isArchived: false,
    isDisabled: false,
    createdAt: "2020-01-02T03:04:05Z",
    pushedAt: "2026-04-29T00:00:00Z",
    owner: { __typename: "User", avatarUrl: "https://avatars.githubusercontent.com/u/8?s=80&u=1f&v=4" },
    ...changes,
  };
}

/** The reference of `restRow`. */
export function ref(changes: Partial<RepositoryRef> = {}): RepositoryRef {
  return { providerId: "7", nodeId: "R_7", fullName: "octo/seven", etag: null, ...changes };
}

/** The failure that a call throws. */
export async function failureOf(call: Promise<unknown>): Promise<UpstreamFailure> {
  const outcome = await call.then(
    () => "no failure",
    (error: unknown) => error,
  );
  if (outcome instanceof UpstreamFailure) return outcome;
  throw new Error("not an upstream failure", { cause: outcome });
}
