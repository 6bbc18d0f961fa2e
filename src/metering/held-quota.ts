import { type Caller, NETWORK_FACTOR } from "./rates.js";

/** A quota, and who it counts for. */
export interface HeldQuota<Quota> {
  /** The account of a key or session, else the address, and the IPv6 network of 48 bits around it, which may use `factor` times as much. */
  holders: { name: string; factor: number }[];
  quota: Quota;
}

/** A quota of a caller that is counted in the store; undefined where none is set. */
export function quotaOf<Quota>(
  { kind, name, network, account = name }: Caller,
  quota: Quota | undefined,
): HeldQuota<Quota> | undefined {
  if (quota === undefined) return undefined;
  const own = { name: kind === "anonymous" ? name : `account ${account}`, factor: 1 };
  const holders = network === undefined ? [own] : [own, { name: network, factor: NETWORK_FACTOR }];
  return { holders, quota };
}
