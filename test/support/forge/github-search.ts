import { DAY_MS } from "../../../src/lib/clock.js";
import type { ForgeRepository } from "./catalogue.js";
import type { Site } from "./responses.js";

/** A closed range of integers. */
interface Range {
  least: number;
  most: number;
}

/** A parsed `q`. Ranges of the same qualifier are alternatives. */
export interface SearchQuery {
  stars: Range[];
  created: Range[];
  pushed: Range[];
  forks: "none" | "too" | "only";
  isPublic: boolean;
  archived: boolean | null;
  /** In small letters. */
  user: string | null;
  /** Full names, of which any may match. */
  repositories: string[];
  others: ((repository: ForgeRepository) => boolean)[];
}

/** A search that GitHub refuses with 422. */
export class InvalidSearch extends Error {}

/** Reads a `q`; throws InvalidSearch. */
export function parseSearch(q: string): SearchQuery {
  const query: SearchQuery = {
    stars: [],
    created: [],
    pushed: [],
    forks: "none",
    isPublic: true,
    archived: null,
    user: null,
    repositories: [],
    others: [],
  };
  for (const [, name, quoted, plain, word] of q.matchAll(/(\w+):(?:"([^"]*)"|(\S+))|(\S+)/g)) {
    const value = quoted ?? plain ?? "";
    if (word !== undefined) query.others.push(contains(word.replaceAll('"', "")));
    else if (name === "stars") query.stars.push(range(value, wholeNumber));
    else if (name === "created") query.created.push(range(value, moment));
    else if (name === "pushed") query.pushed.push(range(value, moment));
    else if (name === "fork") query.forks = value === "only" ? "only" : value === "true" ? "too" : "none";
    else if (name === "is") query.isPublic = value !== "private";
    else if (name === "archived") query.archived = value === "true";
    else if (name === "language") query.others.push((r) => r.language?.toLowerCase() === value.toLowerCase());
    else if (name === "topic") query.others.push((r) => r.topics.includes(value));
    else if (name === "in") continue;
    else if (name === "repo") query.repositories.push(value.toLowerCase());
    else if (name === "user" || name === "org") {
      query.user = value.toLowerCase();
      query.others.push((r) => r.owner.toLowerCase() === value.toLowerCase());
    } else query.others.push(contains(value));
  }
  return query;
}

/** Indices of matching repositories in the catalogue, most stars first. */
export function search(site: Site, query: SearchQuery): number[] {
  const listing = site.listing();
  if (query.user !== null && site.catalogue.ownedBy(query.user, listing.at).length === 0)
    throw new InvalidSearch(
      "The listed users cannot be searched either because the users do not exist or you do not have permission to view the users.",
    );
  for (const name of query.repositories) {
    const found = site.catalogue.find(name, listing.at);
    if (found === undefined || found.isMoved || found.repository.visibility !== "public")
      throw new InvalidSearch(
        "The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.",
      );
  }
  const ranges = query.stars.length === 0 ? [{ least: 0, most: Number.MAX_SAFE_INTEGER }] : query.stars;
  const named = new Set(query.repositories);
  if (named.size > 0) query.others.push((r) => named.has(r.fullName.toLowerCase()));
  const needsRecord = query.others.length > 0 || query.archived !== null || query.pushed.length > 0;
  const isIn = (value: number, wanted: Range[]) =>
    wanted.length === 0 || wanted.some(({ least, most }) => value >= least && value <= most);
  const found: number[] = [];
  for (const { least, most } of ranges) {
    for (const place of listing.between(least, most)) {
      const isFork = listing.isFork(place);
      if (!query.isPublic || (query.forks === "none" && isFork) || (query.forks === "only" && !isFork))
        continue;
      if (!isIn(listing.createdAt(place), query.created)) continue;
      if (needsRecord) {
        const repository = site.catalogue.atPlace(place, listing.at);
        if (repository === undefined || !isIn(repository.pushedAt, query.pushed)) continue;
        if (query.archived !== null && repository.isArchived !== query.archived) continue;
        if (!query.others.every((matches) => matches(repository))) continue;
      }
      found.push(place);
    }
  }
  return ranges.length === 1
    ? found
    : [...new Set(found)].sort((a, b) => listing.stars(b) - listing.stars(a) || a - b);
}

function contains(word: string): (repository: ForgeRepository) => boolean {
  const wanted = word.toLowerCase();
  return ({ name, description }) => `${name} ${description ?? ""}`.toLowerCase().includes(wanted);
}

/** `a..b`, `a..*`, `*..b`, `>=a`, `>a`, `<=b`, `<b`, `a`. A date covers its whole day. */
function range(text: string, parse: (text: string) => Range): Range {
  const open = { least: -Infinity, most: Infinity };
  const [, from, to] = /^(.+?)\.\.(.+)$/.exec(text) ?? [];
  if (from !== undefined && to !== undefined) {
    return {
      least: from === "*" ? open.least : parse(from).least,
      most: to === "*" ? open.most : parse(to).most,
    };
  }
  const [, sign, value = ""] = /^(>=|<=|>|<)?(.*)$/.exec(text) ?? [];
  const { least, most } = parse(value);
  if (sign === ">=") return { ...open, least };
  if (sign === ">") return { ...open, least: most + 1 };
  if (sign === "<=") return { ...open, most };
  if (sign === "<") return { ...open, most: least - 1 };
  return { least, most };
}

function wholeNumber(text: string): Range {
  if (!/^\d+$/.test(text)) throw new InvalidSearch(`"${text}" is not a number.`);
  return { least: Number(text), most: Number(text) };
}

/** A date means its whole day, a date and time the whole second. */
function moment(text: string): Range {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.test(text);
  const least = isDate || isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(least)) throw new InvalidSearch(`"${text}" is not a recognized date/time format.`);
  return { least, most: least + (isDate ? DAY_MS : 1_000) - 1 };
}
