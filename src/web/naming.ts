import { type NamedRepository, providerName, splitFullName } from "../catalog/catalog.js";
import { providerOfHost } from "../forges.js";
import type { Modules } from "../modules.js";
import { cleanText } from "../record-rules.js";
import { splitAddress } from "../repository-addresses/repository-addresses.js";

/** A repository name as a person wrote it. */
export interface WrittenName {
  /** The forge, if the name includes it. */
  provider: string | undefined;
  /** The host of a URL. */
  host: string | undefined;
  /** Possible full names, the most likely first: a URL may point to something inside a repository. */
  fullNames: readonly string[];
}

/** Parses `owner/name`, `provider:owner/name` or the URL of a repository; undefined for anything else. */
export function readName(text: string): WrittenName | undefined {
  const parts = splitAddress(text, (host) => providerOfHost(host) !== undefined);
  if ("problem" in parts) return undefined;
  const { prefix, host, port, segments } = parts;
  const provider = prefix === undefined ? providerOfHost(host ?? "") : providerName(prefix);
  if (prefix !== undefined && provider === undefined) return undefined;
  const fullNames = host === undefined ? [segments.join("/")] : namesOnPage(segments);
  const possible = fullNames.filter((one) => splitFullName(one) !== undefined);
  if (possible.length === 0) return undefined;
  const isUsual = port === undefined || port === 443 || port === 80;
  return { provider, host: isUsual ? host : `${host}:${port}`, fullNames: possible };
}

/** A text inside of a sentence, so that its direction does not change the order of the sentence (UAX #9, 2.4). */
export function isolated(text: string): string {
  return `\u2068${cleanText(text, text.length) ?? ""}\u2069`;
}

/**
 * The names that the path of a page may begin with. Groups may nest, so the path alone does not show where the name ends, unless it
 * has GitLab's `/-/`.
 */
function namesOnPage(segments: readonly string[]): string[] {
  const dash = segments.indexOf("-");
  const candidates = [segments.slice(0, dash === -1 ? undefined : dash), segments.slice(0, 2)];
  return [...new Set(candidates.map((one) => one.join("/").replace(/\.git$/i, "")))];
}

/**
 * Finds the repositories with these names, current or previous, in the same order; undefined for one that is not tracked.
 * Without a forge all of them are searched, and the one with the most repositories wins. Costs three statements for any number of names.
 */
export async function findMeant(
  { catalog, rankings }: Modules,
  names: readonly (WrittenName | undefined)[],
): Promise<(NamedRepository | undefined)[]> {
  const all = [...(await rankings.summary()).providers]
    .sort((a, b) => b.repositories - a.repositories)
    .map((one) => one.provider);
  const providersOf = ({ provider }: WrittenName) => (provider === undefined ? all : [provider]);
  const found = await catalog.findByNames(
    names.flatMap((name) =>
      (name?.fullNames ?? []).flatMap((fullName) =>
        name === undefined ? [] : providersOf(name).map((provider) => ({ provider, fullName })),
      ),
    ),
  );
  let next = 0;
  return names.map((name) => {
    if (name === undefined) return undefined;
    const { provider, host, fullNames } = name;
    // A URL names the forge at its host, not another one with a repository of the same name.
    const isMeant = ({ url }: NamedRepository) =>
      provider !== undefined || host === undefined || hostOf(url) === host;
    const first = next;
    next += fullNames.length * providersOf(name).length;
    return found.slice(first, next).find((one) => one !== undefined && isMeant(one));
  });
}

/** The repositories named in the lines, each once, and the lines that name none. Skips empty lines. */
export async function findByLines(
  modules: Modules,
  lines: readonly string[],
): Promise<{ ids: number[]; unknown: string[] }> {
  const filled = lines.map((text) => text.trim()).filter((text) => text !== "");
  const meant = await findMeant(modules, filled.map(readName));
  const ids = new Set<number>();
  const unknown: string[] = [];
  for (const [i, line] of filled.entries()) {
    const found = meant[i];
    if (found === undefined) unknown.push(line);
    else ids.add(found.id);
  }
  return { ids: [...ids], unknown };
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host.toLowerCase().replace(/^www\./, "") : undefined;
}
