import { repositoryKey } from "../page-addresses.js";
import {
  type RepositoryAddress,
  readRepositoryAddress,
} from "../repository-addresses/repository-addresses.js";
import type { FrameRequest, PageRequest } from "./page-request.js";

/** A repository that is not tracked yet and may be requested. */
export interface TrackingOffer extends RepositoryAddress {
  /** Whether the visitor has to sign in first. */
  needsSignIn: boolean;
}

/** Offers on one page. */
const MAX_OFFERS = 6;

/** Whether this visitor may request repositories, if need be after signing in. */
export function mayRequest(request: Pick<FrameRequest, "tracking" | "account" | "members">): boolean {
  const { access, forges } = request.tracking;
  if (access === "off" || forges.length === 0) return false;
  if (!needsSignIn(request)) return true;
  const { mail, sites } = request.members.accounts.methods;
  return mail || sites.length > 0;
}

/** Whether this visitor has to sign in to request repositories. */
export function needsSignIn({ tracking, account }: Pick<FrameRequest, "tracking" | "account">): boolean {
  return tracking.access === "accounts" && account === undefined;
}

/**
 * The repositories that these texts name and that may be requested, each once and at most six. Leaves out texts that are no
 * addresses and repositories that are known. Costs one query per repository; none while requests are off.
 */
export async function offerTracking(
  request: PageRequest,
  texts: readonly string[],
): Promise<TrackingOffer[]> {
  if (!mayRequest(request)) return [];
  const { tracking, modules } = request;
  const addresses = new Map<string, RepositoryAddress>();
  for (const text of texts) {
    const address = readRepositoryAddress(text, tracking.forges);
    if (!("problem" in address)) addresses.set(repositoryKey(address).toLowerCase(), address);
  }
  const offers: TrackingOffer[] = [];
  for (const { provider, fullName } of [...addresses.values()].slice(0, MAX_OFFERS)) {
    const known = await modules.trackRequests.known({ provider, fullName });
    if (known === undefined) offers.push({ provider, fullName, needsSignIn: needsSignIn(request) });
  }
  return offers;
}
