/** Repository names as people and programs write them, and the repositories that they mean. */
import { PUBLIC_FORGES, providerOfHost } from "../config/config.js";
import {
  addressReader,
  type Catalog,
  type NamedRepository,
  providerName,
  splitAddress,
  splitFullName,
} from "../repositories/repositories.js";
import type { Rankings } from "./rankings.js";

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
  const ofPrefix = prefix === undefined ? providerOfHost(host ?? "") : providerName(prefix);
  if (prefix !== undefined && ofPrefix === undefined) return undefined;
  const known = readPublic(text);
  const page = host !== undefined && !("problem" in known) ? known : undefined;
  const provider = page?.provider ?? ofPrefix;
  const fullNames = [...(page === undefined ? [] : [page.fullName]), ...namesOnPage(segments)];
  const possible = [...new Set(fullNames)].filter((one) => splitFullName(one) !== undefined);
  if (possible.length === 0) return undefined;
  const isUsual = port === undefined || port === 443 || port === 80;
  return { provider, host: isUsual ? host : `${host}:${port}`, fullNames: possible };
}

const readPublic = addressReader(PUBLIC_FORGES.map((forge) => ({ ...forge, url: `https://${forge.host}` })));

/**
 * The names that the path of a page may begin with. Groups may nest, so the path alone does not show the end of the name, unless it
 * has GitLab's `/-/`.
 */
function namesOnPage(segments: readonly string[]): string[] {
  const dash = segments.indexOf("-");
  const candidates = [segments.slice(0, dash === -1 ? undefined : dash), segments.slice(0, 2)];
  return [...new Set(candidates.map((one) => one.join("/").replace(/\.git$/i, "")))];
}

/** The repository that a name means. */
interface MeantRepository {
  id: number;
  /** The previous name by which it was found. */
  renamedFrom: string | undefined;
}

/**
 * Finds the repositories with these names, current or previous, in the same order; undefined for one that is not tracked.
 * Without a forge all of them are searched, and the one with the most repositories wins. Costs three statements for any number of names.
 */
export async function findMeant(
  { catalog, rankings }: { catalog: Catalog; rankings: Rankings },
  names: readonly (WrittenName | undefined)[],
): Promise<(MeantRepository | undefined)[]> {
  const all = [...(await rankings.counters()).providers]
    .sort((a, b) => b.repositories - a.repositories)
    .map((one) => one.provider);
  const possible = names.map((name) =>
    (name?.fullNames ?? []).flatMap((fullName) =>
      (name?.provider === undefined ? all : [name.provider]).map((provider) => ({ provider, fullName })),
    ),
  );
  const found = (await catalog.findByNames(possible.flat())).values();
  return possible.map((candidates, i) => {
    let meant: MeantRepository | undefined;
    for (const { fullName } of candidates) {
      const one = found.next().value;
      if (meant !== undefined || one === undefined || !isAtHost(one, names[i])) continue;
      meant = { id: one.id, renamedFrom: one.isPreviousName ? fullName : undefined };
    }
    return meant;
  });
}

/** A URL names the forge at its host, not another one with a repository of the same name. */
function isAtHost({ url }: NamedRepository, name: WrittenName | undefined): boolean {
  return name?.provider !== undefined || name?.host === undefined || hostOf(url) === name.host;
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host.toLowerCase().replace(/^www\./, "") : undefined;
}
