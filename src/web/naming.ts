import { MAX_SERIES } from "../charts/charts.js";
import { defaultUrl, findForge } from "../config/config.js";
import { findMeant, readName, type WrittenName } from "../discovery/discovery.js";
import type { Surcharge } from "../http/http.js";
import type { Modules } from "../modules.js";
import { isBareName, type Repository } from "../repositories/repositories.js";

/** Names of repositories in forms: those that they mean, those that are refused, and similar ones. */

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

/** Names looked up per request; further ones are ignored. */
export const MAX_NAMES = 20;

/** The cost of a comparison: a unit for every two names beyond the first two. */
export const PER_REPOSITORY: Surcharge = {
  parameter: "repo",
  counts: "values",
  included: 2,
  step: 2,
  most: MAX_NAMES,
};

/** A name that leads to no repository of the comparison. */
export interface RefusedName {
  text: string;
  /** `bare`: a word without an owner. */
  reason: "bare" | "invalid" | "untracked" | "twice" | "too-many";
  /** Tracked repositories with a similar name. */
  similar: readonly Repository[];
  /** The address that the repository would have on its forge; undefined if that is not a public one. */
  forgePage: { provider: string; url: string } | undefined;
}

/** Whether the name may be corrected: it is not one of a compared repository. */
export const isUnknown = ({ reason }: Pick<RefusedName, "reason">): boolean =>
  reason === "bare" || reason === "invalid" || reason === "untracked";

export interface ComparedNames {
  /** Each once, at most six, in the order of their names. */
  repositories: readonly Repository[];
  refused: readonly RefusedName[];
  /** Whether there are more names than are looked up. */
  isCut: boolean;
}

/** Untracked names for which similar ones are looked up: each costs up to two searches. */
const MAX_SIMILAR = 2;

interface NameOptions {
  /** Whether to look for names that are similar to unknown ones; default true. */
  withSimilar?: boolean;
}

/** Finds the repositories with these names. */
export async function readComparedNames(
  modules: Modules,
  given: readonly string[],
  { withSimilar = true }: NameOptions = {},
): Promise<ComparedNames> {
  const texts = given.map((text) => text.trim()).filter((text) => text !== "");
  const read = texts.slice(0, MAX_NAMES).map((text) => ({ text, written: readName(text) }));
  const meant = await findMeant(
    modules,
    read.map(({ written }) => written),
  );
  const known = await modules.catalog.findMany(meant.flatMap((one) => one?.id ?? []));
  const byId = new Map(known.map((repository) => [repository.id, repository]));
  const chosen = new Map<number, Repository>();
  const refused: { text: string; written: WrittenName | undefined; reason: RefusedName["reason"] }[] = [];
  for (const [i, { text, written }] of read.entries()) {
    const repository = byId.get(meant[i]?.id ?? 0);
    const refuse = (reason: RefusedName["reason"]) => void refused.push({ text, written, reason });
    if (written === undefined) refuse(isBareName(text) ? "bare" : "invalid");
    else if (repository === undefined) refuse("untracked");
    else if (chosen.has(repository.id)) refuse("twice");
    else if (chosen.size === MAX_SERIES) refuse("too-many");
    else chosen.set(repository.id, repository);
  }
  const sought = refused.filter(isUnknown);
  const similar = await Promise.all(
    sought
      .slice(0, withSimilar ? MAX_SIMILAR : 0)
      .map(({ text, written }) => similarTo(modules, written?.fullNames[0] ?? text)),
  );
  return {
    repositories: [...chosen.values()],
    refused: refused.map((one) => ({
      text: one.text,
      reason: one.reason,
      similar: similar[sought.indexOf(one)]?.filter(({ id }) => !chosen.has(id)) ?? [],
      forgePage: one.reason === "untracked" ? forgePageOf(one.written) : undefined,
    })),
    isCut: texts.length > MAX_NAMES,
  };
}

/** Similar names per name. */
const SUGGESTED = 3;

/** Tracked repositories with similar names: by the full name, or else by the part after the owner. */
export async function similarTo({ search }: Modules, fullName: string): Promise<Repository[]> {
  const whole = await search.suggestRepositories(fullName.slice(-64), SUGGESTED);
  if (whole.length > 0) return whole;
  const name = fullName.split("/").findLast((part) => part !== "") ?? "";
  if (name === fullName || name === "") return [];
  return search.suggestRepositories(name.slice(0, 64), SUGGESTED);
}

/** The page of a name on a public forge: the one it names, or else GitHub. Never links to a host that only the name gives. */
function forgePageOf(written: WrittenName | undefined): RefusedName["forgePage"] {
  const [fullName] = written?.fullNames ?? [];
  if (written === undefined || fullName === undefined) return undefined;
  if (written.provider === undefined && written.host !== undefined) return undefined;
  const provider = written.provider ?? "GITHUB";
  if (findForge(provider) === undefined) return undefined;
  return { provider, url: defaultUrl(provider, fullName) };
}
