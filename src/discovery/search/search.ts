/**
 * Search: which repositories match a text, best first, and suggestions while somebody types. What a match is and how well it
 * matches is defined in `relevance.ts`, words in `words.ts`. No input is syntax.
 */
import type { Catalog, Repository } from "../../repositories/repositories.js";
import type { FacetKind } from "../facets.js";
import { findRenamed } from "../lists/unmatched.js";
import type { LiveModel } from "../memory/live-model.js";
import { firstOf } from "../memory/order.js";
import type { Evaluation } from "../memory/read-model.js";
import { bestOf, findMatches, type Matches, type SearchScope } from "./relevance.js";
import type { Vocabulary } from "./typos.js";
import { parseQuery } from "./words.js";

export { parseQuery } from "./words.js";

/** A language or topic, and how many listed repositories have it. */
export interface SuggestedFacet {
  name: string;
  repositories: number;
}

export interface Suggestions {
  repositories: Repository[];
  languages: SuggestedFacet[];
  topics: SuggestedFacet[];
}

/** A search with fewer matches is checked for typing errors; while somebody types, few matches are no sign of one. */
const FEW = { all: 5, names: 1 } as const;
/** A correction needs this many times the matches of the text as it is. */
const FAR_MORE = 10;
/** Maximum number of words of a query that are corrected. */
const CORRECTED_WORDS = 3;

export interface SearchOptions {
  scope: SearchScope;
  /** Corrects typing errors; undefined: not to be done. */
  vocabulary: Vocabulary | undefined;
}

/** What matches a text; `corrected`: the text without its typing errors, if that is what was searched for. */
export function searchIn(
  evaluation: Evaluation,
  text: string,
  { scope, vocabulary }: SearchOptions,
): { matches: Matches; corrected: string | null } | undefined {
  const query = parseQuery(text);
  if (query === undefined) return undefined;
  const matches = findMatches(evaluation, query, scope);
  const found = { matches, corrected: null };
  if (vocabulary === undefined || matches.hasExact || matches.total >= FEW[scope]) return found;
  let corrected = query.text;
  for (const word of query.words.filter((one) => !vocabulary.has(one)).slice(0, CORRECTED_WORDS))
    corrected = corrected.replace(word, () => vocabulary.nearest(word) ?? word);
  const other = corrected === query.text ? undefined : parseQuery(corrected);
  if (other === undefined) return found;
  const better = findMatches(evaluation, other, scope);
  return better.total > matches.total * FAR_MORE ? { matches: better, corrected } : found;
}

export class Search {
  readonly #live: LiveModel;
  readonly #catalog: Catalog;

  constructor(live: LiveModel, catalog: Catalog) {
    this.#live = live;
    this.#catalog = catalog;
  }

  /** The ids of the repositories that match a text best. */
  async find(text: string, limit: number): Promise<number[]> {
    return this.#find(text, limit, "all");
  }

  /** At most `limit` suggestions of each kind; the most popular ones for an empty text. */
  async suggest(text: string, limit: number): Promise<Suggestions> {
    const [repositories, facets] = await Promise.all([
      this.suggestRepositories(text, limit),
      this.suggestFacets(text, limit),
    ]);
    return { repositories, ...facets };
  }

  /** At most `limit` languages and topics whose names begin with the text. */
  async suggestFacets(text: string, limit: number): Promise<Omit<Suggestions, "repositories">> {
    const { facets } = await this.#live.current();
    const prefix = text.trim().toLowerCase();
    const suggested = async (kind: FacetKind, begin: string) => {
      const { frequent, keys } = await facets.of(kind);
      const found: SuggestedFacet[] = [];
      for (let i = 0; i < keys.length && found.length < limit; i++) {
        const facet = keys[i]?.startsWith(begin) ? frequent[i] : undefined;
        if (facet !== undefined) found.push({ name: facet.name, repositories: facet.repositories });
      }
      return found;
    };
    return {
      languages: await suggested("language", prefix),
      topics: await suggested("topic", prefix.replaceAll(/\s+/g, "-")),
    };
  }

  /** At most `limit` repositories whose names fit; the most popular ones for an empty text. */
  async suggestRepositories(text: string, limit: number): Promise<Repository[]> {
    return this.#catalog.findMany(await this.suggestIds(text, limit));
  }

  /** The ids of `suggestRepositories`: that of a repository by its earlier full name first. */
  async suggestIds(text: string, limit: number): Promise<number[]> {
    const search = { scope: { kind: "search", text }, filters: {} } as const;
    const renamed = await findRenamed(this.#catalog, search, await this.#live.current());
    const found = await this.#find(text, limit, "names");
    return renamed === undefined ? found : [...new Set([renamed.to.id, ...found])].slice(0, limit);
  }

  async #find(text: string, limit: number, scope: SearchScope): Promise<number[]> {
    const { model, vocabulary } = await this.#live.current();
    const options = { limit, scope, vocabulary: await vocabulary.get() };
    return model.evaluate((evaluation) => idsOf(evaluation, text, options));
  }
}

function idsOf(
  evaluation: Evaluation,
  text: string,
  { limit, ...options }: SearchOptions & { limit: number },
): number[] {
  const { model } = evaluation;
  const { id, listed } = model.columns;
  if (text.trim() === "" && options.scope === "names") {
    const slots = firstOf(listed, model.order({ column: "stars" }), { direction: "desc", count: limit });
    return slots.map((slot) => id[slot] ?? 0);
  }
  const found = searchIn(evaluation, text, options);
  return found === undefined ? [] : bestOf(model, found.matches, limit).map((slot) => id[slot] ?? 0);
}
