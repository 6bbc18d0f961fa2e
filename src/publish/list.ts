/** The list of published repositories: a text with a repository, an owner or a README in each line. */
import { MAX_SERIES } from "../charts/charts.js";
import { UpstreamFailure } from "../forges/forges.js";
import {
  type Asked,
  addressReader,
  cleanText,
  fullNameKey,
  linksIn,
  parseAsked,
  type RepositoryAddress,
} from "../repositories/repositories.js";
import { listOwner, readReadme } from "../tracking/tracking.js";
import { InputFault } from "./files.js";
import { ownRepository } from "./own.js";
import type { Pass } from "./pass.js";
import { sentenceOf } from "./problems.js";

const MAX_LINES = 1_000;
/** Longer lines hold no address. */
const MAX_LINE = 500;
/** Repositories that are published. */
const MAX_PUBLISHED = 1_000;

/** Of a title or the name of a comparison. */
const MAX_WORDS = 80;

/** `me`: the owner of the token of this forge. */
type AskedHere = Asked | { kind: "me"; provider: string };

interface AskedLine {
  line: string;
  asked: AskedHere;
  /** The comment of the line, if it is short. */
  name: string | undefined;
}

/** A list: a text, or names that were given one by one. */
export type GivenList = { text: string } | { names: readonly string[] };

/** The requests of a list, and the problems of invalid lines. */
export interface ReadList {
  asked: readonly AskedLine[];
  title?: string;
  problems: readonly string[];
}

/**
 * Reads a list. Nothing is contacted. Throws InputFault if it names nothing, and for a wrong name among those that were given one by one.
 */
export function readList(pass: Pass, list: GivenList): ReadList {
  const lines = "text" in list ? list.text.split(/\r?\n/) : list.names;
  const problems: string[] = [];
  const asked: AskedLine[] = [];
  for (const [i, whole] of lines.entries()) {
    // A hash within an address belongs to it.
    const [, , comment = ""] = COMMENT.exec(whole) ?? [];
    const line = whole.replace(COMMENT, "").trim();
    if (line === "") continue;
    const place = "text" in list ? `line ${i + 1}` : (cleanText(line, MAX_LINE) ?? `name ${i + 1}`);
    if (asked.length === MAX_LINES) {
      problems.push(`${place}: a list has at most ${MAX_LINES} lines; the rest is left out`);
      break;
    }
    const one = line.length > MAX_LINE ? undefined : readLine(pass, line);
    if (one === undefined) problems.push(`${place}: is longer than ${MAX_LINE} characters`);
    else if (one.kind === "problem") problems.push(`${place}: ${one.problem}`);
    else if (one.kind === "name")
      problems.push(`${place}: must be owner/name, or @owner for all of an owner`);
    else asked.push({ line: place, asked: one, name: shortText(comment) });
  }
  if (asked.length === 0 && problems.length === 0) problems.push("the list names no repository");
  if (asked.length === 0 || ("names" in list && problems.length > 0))
    throw new InputFault(problems.join("\n"));
  const { title, problems: wrong } = readTitle(lines.join("\n"));
  return { asked, ...(title !== undefined && { title }), problems: [...problems, ...wrong] };
}

/** `@me` is the owner of the repository whose job this is, or of the token. */
function readLine(pass: Pass, line: string): AskedHere {
  if (line.toLowerCase() !== "@me") return parseAsked(line, pass.forges);
  const own = ownRepository(pass);
  if (own !== undefined) return { kind: "owner", provider: own.provider, owner: own.owner };
  const [provider] = pass.forges.flatMap(({ name, kind, tokens, tokenSource }) =>
    kind === "github" && (tokens.length > 0 || tokenSource !== undefined) ? [name] : [],
  );
  return provider === undefined
    ? { kind: "problem", problem: "names nobody: this is no job of a repository, and GitHub has no token" }
    : { kind: "me", provider };
}

const COMMENT = /(^|\s)#(.*)$/;

/** The text on one line; undefined if it is empty or too long. */
function shortText(text: string): string | undefined {
  const clean = cleanText(text, MAX_LINE) ?? "";
  return clean === "" || clean.length > MAX_WORDS ? undefined : clean;
}

/** The title of the site, `# title: Acme Works`. */
function readTitle(text: string): { title?: string; problems: string[] } {
  const titles = [...text.matchAll(/^[ \t]*#[ \t]*title:(.*)$/gim)].map(([, title = ""]) => title);
  if (titles.length > 1) return { problems: ["title: may be in the list only once"] };
  const title = shortText(titles[0] ?? "");
  if (title !== undefined) return { title, problems: [] };
  return { problems: titles.length === 0 ? [] : [`title: must have 1 to ${MAX_WORDS} characters`] };
}

/** `readme`: the line with the README that links to it; absent for one that the list itself names, or that its owner has. */
export type ListedAddress = RepositoryAddress & { readme?: string };

/** The requests of a list. */
export interface Listed {
  /** Each once, in its order. */
  addresses: ListedAddress[];
  /** The lines that name several repositories, which can be compared. */
  comparisons: { addresses: readonly RepositoryAddress[]; name: string | undefined }[];
  /** The title of the site. */
  title?: string;
  problems: string[];
}

/**
 * The repositories that a list names; if a part of it cannot be read, also those that the last run published. Owners and READMEs
 * take a request each.
 */
export async function resolveList(
  pass: Pass,
  { asked, title, problems: wrong }: ReadList,
  published: readonly RepositoryAddress[],
): Promise<Listed> {
  const problems = [...wrong];
  const found = new Map<string, ListedAddress>();
  const add = (address: ListedAddress) => {
    const key = `${address.provider} ${fullNameKey(address.fullName)}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, address);
    else if (address.readme === undefined) delete known.readme;
  };
  const comparisons = asked.flatMap(({ asked: one, name }) =>
    one.kind === "repositories" && one.addresses.length > 1 && one.addresses.length <= MAX_SERIES
      ? [{ addresses: one.addresses, name }]
      : [],
  );
  for (const { line, asked: one } of asked) {
    try {
      const named = await addressesOf(pass, one);
      if (named.length === 0) problems.push(`${line}: names no repository`);
      for (const address of named) add(one.kind === "readme" ? { ...address, readme: line } : { ...address });
    } catch (error) {
      if (!(error instanceof UpstreamFailure && "provider" in one)) throw error;
      problems.push(`${line}: ${sentenceOf(pass, one.provider, error)}`);
    }
  }
  const named = found.size;
  if (problems.length > 0) published.forEach(add);
  if (found.size > named)
    problems.push(`${found.size - named} published before stay: a line that cannot be read may mean them`);
  const addresses = [...found.values()];
  if (addresses.length > MAX_PUBLISHED)
    problems.push(
      `the list names ${addresses.length} repositories; the first ${MAX_PUBLISHED} are published`,
    );
  return {
    ...{ addresses: addresses.slice(0, MAX_PUBLISHED), comparisons, problems },
    ...(title !== undefined && { title }),
  };
}

async function addressesOf(pass: Pass, asked: AskedHere): Promise<readonly RepositoryAddress[]> {
  if (asked.kind === "repositories") return asked.addresses;
  if (asked.kind === "owner") return listOwner(pass.contextOf(asked.provider), asked.owner);
  if (asked.kind === "me") {
    const context = pass.contextOf(asked.provider);
    const { owner } = await context.provider.checkToken(context.signal);
    if (owner === null) throw new UpstreamFailure("refused", "the token belongs to no account");
    return listOwner(context, owner);
  }
  if (asked.kind !== "readme") return [];
  const text = await readReadme(pass.contextOf(asked.provider), asked.fullName);
  return linksIn(text, addressReader(pass.forges)).addresses;
}
