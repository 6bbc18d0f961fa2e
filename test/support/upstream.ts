import assert from "node:assert/strict";
import type { ForgeKind, ProviderSettings } from "../../src/config/known-forges.js";
import type { Provider, UpstreamRepository } from "../../src/forges/contract.js";
import type { UpstreamFetch, UpstreamRequest, UpstreamResponse } from "../../src/forges/transport.js";

/** A scripted response; default status 200 without headers. A body that is not a string is sent as JSON. */
export interface Scripted {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** The parts of a sent request that tests check. */
export interface Sent {
  /** Path and query. */
  path: string;
  headers: Readonly<Record<string, string>>;
}

/** A fake forge without a network that responds with `answer` and records requests. */
export function scripted(
  answer: (path: string, request: UpstreamRequest) => Scripted | Promise<Scripted>,
): UpstreamFetch & { sent: Sent[] } {
  const sent: Sent[] = [];
  const fetch = async (url: string, request: UpstreamRequest): Promise<UpstreamResponse> => {
    const { pathname, search } = new URL(url);
    sent.push({ path: pathname + search, headers: request.headers ?? {} });
    const { status = 200, headers = {}, body = "" } = await answer(pathname + search, request);
    return {
      status,
      headers: new Headers(headers),
      text: typeof body === "string" ? body : JSON.stringify(body),
    };
  };
  return Object.assign(fetch, { sent });
}

/** Settings of an instance at https://forge.example. */
export function settingsOf(kind: ForgeKind, changes: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    name: "WORK",
    kind,
    url: "https://forge.example",
    tokens: [],
    requestsPerHour: null,
    minStars: 0,
    mayBePrivate: false,
    ...changes,
  };
}

/** The pages of a walk from its begin to its end, each of which leads to the next by a cursor of bounded length. */
export async function* walkOf(provider: Provider): AsyncGenerator<readonly UpstreamRepository[], void> {
  let cursor: string | null = null;
  do {
    const { repositories, next }: Awaited<ReturnType<Provider["discover"]>> = await provider.discover(
      cursor,
      new AbortController().signal,
    );
    assert.ok((next ?? "").length <= 4_000);
    yield repositories;
    cursor = next;
  } while (cursor !== null);
}

/** Ids of all repositories of a walk. */
export async function idsOfWalk(provider: Provider): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of walkOf(provider)) ids.push(...page.map(({ providerId }) => providerId));
  return ids;
}
