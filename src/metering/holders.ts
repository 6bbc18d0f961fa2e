import { type Caller, NETWORK_FACTOR } from "./rates.js";

/**
 * Who a quota that is stored counts for: the account of a key or session, else the address, and the IPv6 network of 48 bits around
 * it, which may use `factor` times as much.
 */
export function quotaHolders({ kind, name, network, account = name }: Caller): {
  name: string;
  factor: number;
}[] {
  const own = { name: kind === "anonymous" ? name : `account ${account}`, factor: 1 };
  return network === undefined ? [own] : [own, { name: network, factor: NETWORK_FACTOR }];
}
