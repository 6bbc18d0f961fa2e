/** Reads repositories from their forges in one pass, where no worker runs. */
import { UpstreamFailure } from "../forges/forges.js";
import { isoTime } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import type { Repository, RepositoryAddress } from "../repositories/repositories.js";
import { completeHistory, track, trackFailureOf } from "../tracking/tracking.js";
import type { Pass } from "./pass.js";

/** A repository that could not be read, and why, in one sentence. */
export class NotRead extends Error {
  constructor(address: RepositoryAddress, failure: UpstreamFailure) {
    super(`${repositoryKey(address)}: ${sentenceOf(failure)}`, { cause: failure });
  }
}

function sentenceOf({ kind, until, reason }: UpstreamFailure): string {
  if (kind !== "quota") return trackFailureOf(kind).message + (reason === null ? "" : ` (${reason})`);
  const when = until === null ? "" : ` before ${isoTime(until)}`;
  return `The forge permits no more requests${when}. With a token it permits more.`;
}

/** Records a repository by name, with its star history if its forge has one. Throws NotRead. */
export async function trackWithHistory(pass: Pass, address: RepositoryAddress): Promise<Repository> {
  const context = pass.contextOf(address.provider);
  try {
    const { repositoryId } = await track(context, address.fullName);
    await completeHistory(context, repositoryId);
    return await pass.modules.catalog.get(repositoryId);
  } catch (error) {
    throw error instanceof UpstreamFailure ? new NotRead(address, error) : error;
  }
}
