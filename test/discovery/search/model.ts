import { weightsOf } from "../../../src/discovery/search.js";
import { documentOf, parseQuery, type Texts } from "../../../src/discovery/words.js";

export interface Listed extends Texts {
  id: number;
  stars: number;
}

/** What a search of these repositories must find, best first, by trying every one of them. */
export function modelOf(repositories: readonly Listed[]): (text: string) => number[] {
  const popular = repositories
    .toSorted((a, b) => b.stars - a.stars || b.id - a.id)
    .map((repository) => {
      const { whole, names, terms } = documentOf(repository);
      const inName = new Set([whole, ...names].filter((word) => word !== ""));
      const { id, stars, owner, name } = repository;
      return {
        id,
        stars,
        fullName: `${owner}/${name}`.toLowerCase(),
        whole,
        inName,
        anywhere: new Set([...inName, ...terms].filter((word) => word !== "")),
      };
    });
  return (text) => {
    const query = parseQuery(text);
    if (query === undefined) return [];
    const rest = query.words.slice(0, -1);
    const last = query.words.at(-1) ?? "";
    const all = (words: readonly string[], within: ReadonlySet<string>) =>
      words.every((word) => within.has(word));
    const begins = (within: ReadonlySet<string>) => [...within].some((word) => word.startsWith(last));
    const weights = weightsOf(query);
    const matches = popular.flatMap(({ id, stars, fullName, whole, inName, anywhere }, position) => {
      const isOwner = all(query.owner, inName);
      const isTier = [
        (query.name !== "" && whole === query.name && isOwner) ||
          (rest.length > 0 && whole === last && all(rest, inName)),
        all(query.words, inName),
        query.name !== "" && whole.startsWith(query.name) && isOwner,
        all(rest, inName) && begins(inName),
        all(query.words, anywhere),
        all(rest, anywhere) && begins(last.length < 3 ? inName : anywhere),
      ];
      const tier = isTier.indexOf(true);
      if (tier < 0) return [];
      const rank = popular.filter((other) => other.stars > stars).length;
      const isNamed = tier === 0 && fullName === query.fullName;
      const key = isNamed ? -1 : Math.floor(rank / (weights[tier] ?? 0));
      return [{ id, key, tier, position }];
    });
    return matches
      .sort((a, b) => a.key - b.key || a.tier - b.tier || a.position - b.position)
      .map(({ id }) => id);
  };
}

export function expectedMatches(repositories: readonly Listed[], text: string): number[] {
  return modelOf(repositories)(text);
}
