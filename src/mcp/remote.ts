import type { Ask, InnerReply } from "../http/http.js";
import { isPrivateHost } from "../lib/host-names.js";
import { ApiFailure } from "./tool.js";

/** Longest response that is read. The largest that tools request has some hundred KB. */
const MAX_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

export interface RemoteOptions {
  /** Address of the service, without a slash at its end; it may have a path. */
  url: string;
  apiKey: string | undefined;
}

/** Why a service cannot be used over the network; undefined: it can. */
export function remoteProblem({ url, apiKey }: RemoteOptions): string | undefined {
  const address = URL.parse(url);
  if (address === null || !/^https?:$/.test(address.protocol)) return "must be an http or https address";
  if (address.username + address.password + address.search + address.hash !== "")
    return "must be an address without credentials, query and fragment";
  if (apiKey !== undefined && address.protocol === "http:" && !isPrivateHost(address.hostname))
    return "must begin with https, as an API key is sent there";
  return undefined;
}

/** Sends requests to a service over the network. Failures of the network throw ApiFailure. */
export function remoteAsk({ url, apiKey }: RemoteOptions): Ask {
  const basePath = new URL(url).pathname.replace(/\/+$/, "");
  return async (request) => {
    const { method, json } = request;
    try {
      const response = await fetch(url + request.url, {
        method,
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          Accept: "application/json",
          "User-Agent": "sidereal-mcp",
          ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }),
          ...(json === undefined ? {} : { "Content-Type": "application/json" }),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      return await replyOf(response, { url, basePath });
    } catch (error) {
      if (error instanceof ApiFailure) throw error;
      throw new ApiFailure("UNAVAILABLE", `The service at ${url} did not respond: ${reasonOf(error)}.`);
    }
  };
}

async function replyOf(
  response: Response,
  { url, basePath }: { url: string; basePath: string },
): Promise<InnerReply> {
  const { status, headers } = response;
  const leadsTo = headers.get("location");
  const location = leadsTo === null ? null : URL.parse(leadsTo, `${url}/`);
  const isOurs = location?.origin === new URL(url).origin && location.pathname.startsWith(`${basePath}/`);
  const wait = Number.parseInt(headers.get("retry-after") ?? "", 10);
  return {
    status,
    location: location && isOurs ? location.pathname.slice(basePath.length) + location.search : undefined,
    retryAfterSeconds: Number.isNaN(wait) ? undefined : wait,
    body: await bodyOf(response),
  };
}

async function bodyOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw new ApiFailure("UNAVAILABLE", "The response of the service is too long.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Why a request failed, without what it contained. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return "it took too long";
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "the connection failed";
}
