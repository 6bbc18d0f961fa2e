/** One request to a forge. `url` is whole. */
export interface UpstreamRequest {
  method?: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
}

/** An answer that has come whole, whatever its status. Redirects are answers too: they are not followed. */
export interface UpstreamAnswer {
  status: number;
  headers: Headers;
  /** The decoded body; at most as long as answers may be. */
  text: string;
}

/**
 * Sends a request to the host of one instance and to no other. Throws UpstreamFailure: `unreachable` where no answer came
 * or the address may not be connected to, `malformed` where it was cut off, too long or not to be decoded.
 */
export type UpstreamFetch = (url: string, request: UpstreamRequest) => Promise<UpstreamAnswer>;
