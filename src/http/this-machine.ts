import { canonicalHost, isLoopbackHost } from "../host-names.js";
import type { Message } from "./message.js";

/** Headers that proxies add. No browser sends them by itself. */
const OF_PROXIES =
  /^(?:forwarded|via|true-client-ip|cf-connecting-ip|x-(?:forwarded|real|client|original|envoy|cluster)-?.*)$/;

/**
 * Whether a request comes straight from a browser or program on this machine: over a loopback connection, under a loopback host,
 * and without a trace of a proxy. A proxy on this machine that leaves no trace looks the same, so this alone permits nothing.
 */
export function isFromThisMachine({ socket, headers, rawHeaders }: Message): boolean {
  const peer = (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d)/i, "");
  if (peer === "" || !isLoopbackHost(peer)) return false;
  const host = canonicalHost(headers.host ?? "");
  if (host === undefined || !isLoopbackHost(host)) return false;
  return !rawHeaders.some((name, i) => i % 2 === 0 && OF_PROXIES.test(name.toLowerCase()));
}
