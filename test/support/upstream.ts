import type { ForgeKind, ProviderSettings } from "../../src/forges.js";
import type { UpstreamFetch, UpstreamRequest, UpstreamResponse } from "../../src/providers/transport.js";

/** An answer as a test writes it; 200 without headers unless it says otherwise. What is no text is sent as JSON. */
export interface Scripted {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A request that was sent, as far as tests look at it. */
export interface Sent {
  /** Path and query below the host. */
  path: string;
  headers: Readonly<Record<string, string>>;
}

/** A forge that answers what `answer` says, without a network; keeps what was sent. */
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
