import { hostname } from "node:os";
import { AppError } from "../lib/errors.js";
import { canonicalHost, isLoopbackHost, isPrivateHost } from "../lib/host-names.js";
import type { Logger } from "../lib/log.js";
import { remembering } from "../lib/remembering.js";
import type { Message } from "./request-head.js";

/** Characters of a refused host in the log, and of one that is remembered. */
const MAX_LENGTH = 100;

/**
 * The hosts that requests may name. Where they are checked, no site can make its own name point to this service and read it from
 * the browser of somebody who can reach it (DNS rebinding). This machine is always among them: no other site can have its names.
 */
export class AllowedHosts {
  readonly #isAllowed: ((host: string) => boolean) | undefined;
  readonly #log: Logger;
  #mayWarn = true;

  /** `allowed`: canonical; undefined: hosts are not checked. */
  constructor(allowed: readonly string[] | undefined, log: Logger) {
    const machine = canonicalHost(hostname()) ?? "localhost";
    const names = new Set(allowed).add(machine);
    const isAllowed = (host: string) => {
      const canonical = canonicalHost(host);
      return canonical !== undefined && (names.has(canonical) || isLoopbackHost(canonical));
    };
    this.#isAllowed = allowed && remembering(isAllowed, { most: 1_000, longest: MAX_LENGTH });
    this.#log = log;
  }

  /** Whether requests may name this host, as it is in the header. Without a header, as in HTTP/1.0, there is nothing to check. */
  accepts(host: string | undefined): boolean {
    return this.#isAllowed === undefined || host === undefined || this.#isAllowed(host);
  }

  /** The error for a host that is not accepted. The first one is logged. */
  refusal(host: string | undefined): AppError {
    if (this.#mayWarn) {
      this.#mayWarn = false;
      this.#log.warn(
        { host: host?.slice(0, MAX_LENGTH) },
        "a request named a host that is not allowed; if people use it, set SIDEREAL_BASE_URL to it or add it to SIDEREAL_ALLOWED_HOSTS",
      );
    }
    return new AppError(
      "MISDIRECTED_REQUEST",
      "This service does not respond under this host. Its operator can set SIDEREAL_BASE_URL to the address that people use, or add the host to SIDEREAL_ALLOWED_HOSTS.",
    );
  }
}

/** Headers that proxies and the networks of clouds add. No browser sends them by itself. */
const OF_PROXIES =
  /^(?:forwarded|via|cdn-loop|(?:true-client|cf-connecting|do-connecting|fastly-client|incap-client|ali-cdn-real)-ip|(?:cf|fly)-.+|x-(?:forwarded|real|client|original|envoy|cluster|azure|amzn|amz|arr|appengine|vercel|nf|cloud|akamai|sucuri)-.+)$/;

/** Whether a header shows that a proxy has passed the request on. */
export function hasProxyHeader(rawHeaders: readonly string[]): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (OF_PROXIES.test(rawHeaders[i]?.toLowerCase() ?? "")) return true;
  return false;
}

/** The address that a connection comes from; empty if it has none. */
export function peerOf({ socket }: Pick<Message, "socket">): string {
  return (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d)/i, "");
}

/**
 * How a request has come that names this machine as its host: `local` straight from here or a private network, as all that reach a
 * container do; `proxied` with the trace of a proxy. Everything else is `remote`. A proxy without a trace looks local, so that alone
 * permits nothing.
 */
export type Locality = "local" | "proxied" | "remote";

export function localityOf(message: Message): Locality {
  const peer = peerOf(message);
  const host = canonicalHost(message.headers.host ?? "");
  if (peer === "" || !isPrivateHost(peer) || host === undefined || !isLoopbackHost(host)) return "remote";
  return hasProxyHeader(message.rawHeaders) ? "proxied" : "local";
}
