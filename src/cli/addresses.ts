import type { ProviderSettings } from "../config/config.js";
import { didYouMean } from "../lib/nearest-name.js";
import {
  type AddressProblem,
  addressReader,
  type RepositoryAddress,
  splitAddress,
} from "../repositories/repositories.js";
import type { Host } from "./host.js";

/** The forges of the settings, and those with a token that was entered on a page. Opens the database. */
export async function trackedForges(host: Host): Promise<readonly ProviderSettings[]> {
  const { database, forges } = await host.openModules();
  return forges.read().finally(() => database.close());
}

/**
 * Parses the addresses of an argument list, or returns a message about the first invalid one. Opens the database only if the forges of
 * the settings are not enough: a text that names no forge means GitHub wherever that is tracked.
 */
export async function readAddresses(
  texts: readonly string[],
  host: Host,
): Promise<RepositoryAddress[] | string> {
  const { providers } = host.config;
  const read = providers.some(({ name }) => name === "GITHUB") ? parseAddresses(texts, providers) : undefined;
  return typeof read !== "object" ? parseAddresses(texts, await trackedForges(host)) : read;
}

/** The same, of these forges. */
export function parseAddresses(
  texts: readonly string[],
  providers: readonly ProviderSettings[],
): RepositoryAddress[] | string {
  const read = addressReader(providers);
  const addresses: RepositoryAddress[] = [];
  for (const text of texts) {
    const address = read(text);
    if ("problem" in address) return `${withoutSecrets(text)}: ${sentenceOf(text, address)}`;
    addresses.push(address);
  }
  return addresses;
}

/** The problem, the allowed values, and the nearest of these. */
function sentenceOf(text: string, { problem, allowed = [] }: AddressProblem): string {
  const list = allowed.join(", ");
  const parts = splitAddress(text, () => false);
  const named = "problem" in parts ? undefined : (parts.host ?? parts.prefix);
  const hint = named === undefined ? "" : didYouMean(named, allowed);
  return problem.includes(list) ? problem + hint : `${problem}: ${list}${hint}`;
}

/** An address without the user and the password that a clone URL may contain. */
export function withoutSecrets(text: string): string {
  const start = text.indexOf("://") + 3;
  const end = text.lastIndexOf("@");
  return start > 2 && end >= start ? text.slice(0, start) + text.slice(end + 1) : text;
}
