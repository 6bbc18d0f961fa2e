import { isLoopbackHost, isPrivateHost } from "../lib/host-names.js";
import { hasProxyHeader, peerOf } from "./hosts.js";
import type { Message } from "./request-head.js";

/** What shows that a proxy is in front of the service. `peer`: the address that its connections come from. */
export interface ProxySign {
  sign: string;
  peer: string;
}

/**
 * Notices a proxy that `SIDEREAL_TRUSTED_PROXIES` does not name: all its clients share one limit. Looks at the first request of each
 * connection from this machine or a private network, until it finds one.
 */
export class UnnamedProxy {
  readonly #seen = new WeakSet<object>();
  readonly #onSign: (sign: ProxySign) => void;
  #isNoticed: boolean;

  /** `isOn`: false if the settings name proxies. */
  constructor(isOn: boolean, onSign: (sign: ProxySign) => void) {
    this.#isNoticed = !isOn;
    this.#onSign = onSign;
  }

  /** Looks at a request. Takes a microsecond or two once per connection. */
  look(message: Message): void {
    if (this.#isNoticed || this.#seen.has(message.socket)) return;
    this.#seen.add(message.socket);
    const peer = peerOf(message);
    const sign = peer === "" || !isPrivateHost(peer) ? undefined : signOf(message, isLoopbackHost(peer));
    if (sign === undefined) return;
    this.#isNoticed = true;
    this.#onSign({ sign, peer });
  }
}

function signOf({ rawHeaders, httpVersion, headers }: Message, isHere: boolean): string | undefined {
  if (hasProxyHeader(rawHeaders)) return "a request has a header that only proxies add";
  if (!isHere) return undefined;
  if (headers["user-agent"]?.startsWith("Mozilla/") && httpVersion === "1.0")
    return "a browser's request came over HTTP/1.0";
  const page = URL.parse(headers.origin ?? headers.referer ?? "")?.host;
  return headers["sec-fetch-site"] === "same-origin" &&
    page !== undefined &&
    page !== headers.host?.toLowerCase()
    ? "a page under another host requested its own address"
    : undefined;
}
