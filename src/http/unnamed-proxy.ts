import { isLoopbackHost, isPrivateHost } from "../lib/host-names.js";
import { hasProxyHeader, peerOf } from "./hosts.js";
import type { Message } from "./request-head.js";

/** More browsers than one person uses at one machine. */
const MOST_BROWSERS = 5;

/** What shows that a proxy is in front of the service. `peer`: the address that its connections come from. */
export interface ProxySign {
  sign: string;
  peer: string;
}

/**
 * Notices a proxy that `SIDEREAL_TRUSTED_PROXIES` does not name: all its clients share one limit, and on this machine each of them looks
 * like somebody who sits there. Looks at the first request of each connection from this machine or a private network, until it finds one.
 */
export class UnnamedProxy {
  readonly #seen = new WeakSet<object>();
  readonly #browsers = new Set<string>();
  readonly #onSign: (sign: ProxySign) => void;
  #isNoticed: boolean;
  /** Whether a proxy on this machine was noticed: then nobody is known to sit at this machine. */
  isHere = false;

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
    const sign =
      peer === "" || !isPrivateHost(peer) ? undefined : this.#signOf(message, isLoopbackHost(peer));
    if (sign === undefined) return;
    this.#isNoticed = true;
    this.isHere = isLoopbackHost(peer);
    this.#onSign({ sign, peer });
  }

  #signOf({ rawHeaders, httpVersion, headers }: Message, isHere: boolean): string | undefined {
    if (hasProxyHeader(rawHeaders)) return "a request has a header that only proxies add";
    if (!isHere) return undefined;
    const agent = headers["user-agent"] ?? "";
    const isBrowser = agent.startsWith("Mozilla/");
    if (isBrowser && httpVersion === "1.0") return "a browser's request came over HTTP/1.0";
    if (headers["sec-fetch-site"] === "same-origin") {
      const page = URL.parse(headers.origin ?? headers.referer ?? "")?.host;
      if (page !== undefined && page !== headers.host?.toLowerCase())
        return "a page under another host requested its own address";
    }
    if (isBrowser && this.#browsers.size <= MOST_BROWSERS) this.#browsers.add(agent.slice(0, 200));
    return this.#browsers.size > MOST_BROWSERS
      ? "more browsers than one person uses come from this machine"
      : undefined;
  }
}
