import { historyWords } from "../charts/charts.js";
import { isTemporary, type UpstreamFailure } from "../forges/forges.js";
import { isoTime } from "../lib/clock.js";
import { repositoryKey } from "../lib/page-addresses.js";
import type { RepositoryAddress } from "../repositories/repositories.js";
import { refusalOf, trackFailureOf } from "../tracking/tracking.js";
import type { Pass } from "./pass.js";

/** Why a repository could not be read, in one sentence. */
export function problemOf(pass: Pass, address: RepositoryAddress, failure: UpstreamFailure): string {
  return `${repositoryKey(address)}: ${sentenceOf(pass, address.provider, failure)}`;
}

/** Why the star history of a known repository could not be read, and how much of it was. A used-up quota has its own words. */
export async function historyProblemOf(
  pass: Pass,
  { id, ...address }: RepositoryAddress & { id: number },
  failure: UpstreamFailure,
): Promise<string> {
  const history = await pass.modules.catalog.historyState(id);
  const { provider } = address;
  const sentences = isTemporary(failure.kind)
    ? [sentenceOf(pass, provider, failure), historyWords(history, provider)]
    : [historyWords({ ...history, state: "REFUSED", why: refusalOf(failure) }, provider)];
  const said = failure.reason === null || isTemporary(failure.kind) ? [] : [`(${failure.reason})`];
  return `${repositoryKey(address)}: ${[...sentences, ...said].join(" ").trim()}`;
}

/** Why a forge refused, in a sentence for the person who runs the command. */
export function sentenceOf(pass: Pass, provider: string, { kind, until, reason }: UpstreamFailure): string {
  const { tokens, tokenSource } = pass.contextOf(provider).provider.settings;
  const hasToken = tokens.length > 0 || tokenSource !== undefined;
  const setting = `SIDEREAL_${provider}_TOKENS`;
  const said = reason === null ? "" : ` (${reason})`;
  if (kind === "quota") {
    const when = until === null ? "" : `; it continues at ${isoTime(until)}`;
    return `The limit of the forge is used up${when}.${hasToken ? "" : ` With a token in ${setting} it permits more.`}`;
  }
  if (kind === "refused") {
    const advice = hasToken ? "check the token and its permissions" : `it may need a token in ${setting}`;
    return `The forge refused the request: ${advice}.${said}`;
  }
  if (kind === "private") return "The repository is private and stays out, as its pictures would be public.";
  if (kind === "clock") return "The clocks of the forge and of this machine differ by more than an hour.";
  return trackFailureOf(kind).message + said;
}
