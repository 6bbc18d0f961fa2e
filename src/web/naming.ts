import { providerName, type Repository, splitFullName } from "../catalog/catalog.js";
import { providerOfHost } from "../forges.js";
import type { Modules } from "../modules.js";

/** Text longer than this names nothing. */
const MAX_LENGTH = 500;

/** A name that somebody has written. */
export interface WrittenName {
  /** Of which forge, where that is told. */
  provider: string | undefined;
  /** The host of an address. */
  host: string | undefined;
  /** What it may be called, the likeliest first: addresses may lead to something inside of a repository. */
  fullNames: readonly string[];
}

/** Reads `owner/name`, `provider:owner/name`, or an address of a forge; undefined for what is none of these. */
export function readName(text: string): WrittenName | undefined {
  const trimmed = text.trim();
  if (trimmed.length > MAX_LENGTH) return undefined;
  const written = asAddress(trimmed);
  if (written !== undefined) return readAddress(written);
  const colon = trimmed.indexOf(":");
  const provider = colon < 0 ? undefined : providerName(trimmed.slice(0, colon));
  if (colon >= 0 && provider === undefined) return undefined;
  const fullName = trimmed.slice(colon + 1);
  return splitFullName(fullName) === undefined
    ? undefined
    : { provider, host: undefined, fullNames: [fullName] };
}

/** An address as it is copied from a browser or from git, with a scheme; undefined for what is no address. */
function asAddress(text: string): string | undefined {
  const scp = /^git@([\w.-]+):(.+)$/i.exec(text);
  if (scp !== null) return `https://${scp[1]}/${scp[2]}`;
  if (/^(?:https?|ssh|git):\/\//i.test(text)) return text.replace(/^[a-z]+/i, "https");
  return /^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\/[^/]+\/[^/]/i.test(text) ? `https://${text}` : undefined;
}

function readAddress(address: string): WrittenName | undefined {
  if (!URL.canParse(address)) return undefined;
  const { host, pathname } = new URL(address);
  let path: string;
  try {
    path = decodeURIComponent(pathname).replaceAll(/^\/+|\/+$/g, "");
  } catch {
    return undefined;
  }
  // Groups may nest, so what lies inside of a repository cannot be told from its name by the form alone.
  const candidates = [path, path.split("/-/")[0] ?? "", path.split("/").slice(0, 2).join("/")];
  const fullNames = [...new Set(candidates.map((one) => one.replace(/\.git$/i, "")))];
  const possible = fullNames.filter((one) => splitFullName(one) !== undefined);
  return possible.length === 0
    ? undefined
    : { provider: providerOfHost(host), host: host.toLowerCase(), fullNames: possible };
}

/**
 * The repository that somebody means, by its present name or one it had before. Where no forge is told it is looked for in
 * all of them, those with most repositories first. Undefined where there is none.
 */
export async function findMeant(
  modules: Modules,
  { provider, host, fullNames }: WrittenName,
): Promise<Repository | undefined> {
  const { catalog, rankings } = modules;
  const providers =
    provider === undefined
      ? [...(await rankings.summary()).providers]
          .sort((a, b) => b.repositories - a.repositories)
          .map((one) => one.provider)
      : [provider];
  const asked = fullNames.flatMap((fullName) => providers.map((one) => catalog.findByName(one, fullName)));
  const found = (await Promise.all(asked)).flatMap((one) => (one === undefined ? [] : [one.repository]));
  // An address means the forge at that host, and no other that has a repository of the same name.
  const isMeant = ({ url }: Repository) =>
    provider !== undefined || host === undefined || hostOf(url) === host;
  return found.find(isMeant);
}

/** The repositories that the lines name, once each, and the lines that name none. Empty lines are passed over. */
export async function findByLines(
  modules: Modules,
  lines: readonly string[],
): Promise<{ ids: number[]; unknown: string[] }> {
  const ids = new Set<number>();
  const unknown: string[] = [];
  for (const line of lines.map((text) => text.trim()).filter((text) => text !== "")) {
    const written = readName(line);
    const found = written === undefined ? undefined : await findMeant(modules, written);
    if (found === undefined) unknown.push(line);
    else ids.add(found.id);
  }
  return { ids: [...ids], unknown };
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host.toLowerCase() : undefined;
}
