import type { UpstreamFailure } from "../forges/forges.js";
import { isoDay, isoTime } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import type { RepositoryAddress } from "../repositories/repositories.js";
import { trackFailureOf } from "../tracking/tracking.js";
import type { Pass } from "./pass.js";

/** Why a repository could not be read, in one sentence. */
export function problemOf(pass: Pass, address: RepositoryAddress, failure: UpstreamFailure): string {
  return `${repositoryKey(address)}: ${sentenceOf(pass, address.provider, failure)}`;
}

/** Why the star history of a known repository could not be read, and how much of it was. */
export async function historyProblemOf(
  pass: Pass,
  { id, ...address }: RepositoryAddress & { id: number },
  failure: UpstreamFailure,
): Promise<string> {
  const { catalog } = pass.modules;
  const state = await catalog.historyState(id);
  const { firstSnapshotAt } = await catalog.snapshotRange(id);
  const sentences = [historySentenceOf(pass, address.provider, failure)];
  if (state === "UNREAD") sentences.push("Its star history is not read yet.");
  if (state === "PART" && firstSnapshotAt !== null)
    sentences.push(`Its star history is read back to ${isoDay(firstSnapshotAt)}.`);
  return `${repositoryKey(address)}: ${sentences.join(" ")}`;
}

function historySentenceOf(pass: Pass, provider: string, failure: UpstreamFailure): string {
  const { kind, until, reason } = failure;
  if (kind === "quota" || kind === "clock") return sentenceOf(pass, provider, failure);
  const said = reason === null ? "" : ` (${reason})`;
  if (kind === "unreachable") return `The forge did not return its star history.${said}`;
  if (kind !== "malformed") return `The forge gives no star history of it.${said}`;
  return until === null
    ? "The forge sent a star history of it that cannot be used."
    : "The forge has not prepared its star history yet. Try again later.";
}

/** Why a forge refused, in a sentence for the person who runs the command. */
export function sentenceOf(pass: Pass, provider: string, { kind, until, reason }: UpstreamFailure): string {
  const { tokens, tokenSource } = pass.contextOf(provider).provider.settings;
  const hasToken = tokens.length > 0 || tokenSource !== undefined;
  const setting = `SIDEREAL_${provider}_TOKENS`;
  const said = reason === null ? "" : ` (${reason})`;
  if (kind === "quota") {
    const when = until === null ? "" : ` before ${isoTime(until)}`;
    return `The forge permits no more requests${when}.${hasToken ? "" : ` With a token in ${setting} it permits more.`}`;
  }
  if (kind === "refused") {
    const advice = hasToken ? "check the token and its permissions" : `it may need a token in ${setting}`;
    return `The forge refused the request: ${advice}.${said}`;
  }
  if (kind === "clock") return "The clocks of the forge and of this machine differ by more than an hour.";
  return trackFailureOf(kind).message + said;
}
