import { MAX_SERIES } from "../charts/charts.js";
import { findMeant, readName, type WrittenName } from "../discovery/discovery.js";
import type { Surcharge } from "../http/http.js";
import { repositoryKey } from "../lib/page-addresses.js";
import type { Modules } from "../modules.js";
import { isBareName, namesIn, type Repository } from "../repositories/repositories.js";

/** Names of repositories in forms: those that they mean, those that are refused, and similar ones. */

/** The repositories that a text names, each once, and the names of none; at most 20 of those without an owner are looked up. */
export async function findNamed(
  modules: Modules,
  text: string,
): Promise<{ ids: number[]; unknown: string[]; taken: Taken[] }> {
  const names = namesIn(text);
  const meant = await findMeant(modules, names.map(readName));
  const bare = names.filter((name, i) => meant[i] === undefined && isBareName(name)).slice(0, MAX_NAMES);
  const hits = await Promise.all(bare.map((name) => clearHit(modules, name)));
  const taken = hits.filter((hit) => hit !== undefined);
  const ids = new Set<number>();
  const unknown: string[] = [];
  for (const [i, name] of names.entries()) {
    const id = meant[i]?.id ?? taken.find((hit) => hit.text === name)?.repository.id;
    if (id === undefined) unknown.push(name);
    else ids.add(id);
  }
  return { ids: [...ids], unknown, taken };
}

/** A repository that a name without an owner was taken for, and others that it may mean. */
export interface Taken {
  text: string;
  repository: Repository;
  others: readonly Repository[];
}

/** How many times the stars of the second one make the first one clear. */
const CLEAR = 5;

/** What a name without an owner clearly means: the only repository with that name, or one with far more stars than the second. */
export async function clearHit({ search }: Modules, text: string): Promise<Taken | undefined> {
  if (!isBareName(text)) return undefined;
  const found = await search.suggestRepositories(text, 2 * SUGGESTED);
  const isNamed = ({ name }: Repository) => name.toLowerCase() === text.toLowerCase();
  const [first, second] = found.filter(isNamed).sort((a, b) => (b.stars ?? 0) - (a.stars ?? 0));
  if (first === undefined || CLEAR * (second?.stars ?? 0) > (first.stars ?? 0)) return undefined;
  return { text, repository: first, others: found.filter((one) => one !== first).slice(0, SUGGESTED) };
}

/** The names of a text, those without an owner as the repositories that they clearly mean. */
export async function spelledOut(modules: Modules, text: string): Promise<{ text: string; taken: Taken[] }> {
  const names = namesIn(text);
  if (!names.some(isBareName)) return { text, taken: [] };
  const hits = await Promise.all(names.slice(0, MAX_NAMES).map((name) => clearHit(modules, name)));
  const spelled = names.map((name, i) => hits[i]?.repository ?? name);
  const words = spelled.map((one) => (typeof one === "string" ? one : repositoryKey(one)));
  return { text: words.join(" "), taken: hits.filter((hit) => hit !== undefined) };
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
}

/** Whether the name may be corrected: it is not one of a compared repository. */
export const isUnknown = ({ reason }: Pick<RefusedName, "reason">): boolean =>
  reason === "bare" || reason === "invalid" || reason === "untracked";

export interface ComparedNames {
  /** Those of the names without an owner that clearly mean one. */
  taken: readonly Taken[];
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
  const spelled = await Promise.all(given.slice(0, MAX_NAMES).map((text) => spelledOut(modules, text)));
  const texts = [...spelled.flatMap(({ text }) => namesIn(text)), ...given.slice(MAX_NAMES)];
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
    taken: spelled.flatMap(({ taken }) => taken),
    repositories: [...chosen.values()],
    refused: refused.map((one) => ({
      text: one.text,
      reason: one.reason,
      similar: similar[sought.indexOf(one)]?.filter(({ id }) => !chosen.has(id)) ?? [],
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
