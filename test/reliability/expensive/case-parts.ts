import type { CaseContext } from "./cases.js";
import type { CatalogueFacts } from "./facts.js";

/** Parts that several cases use. */

type Values = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A path with a query. */
export function address(path: string, values: Values = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const one of value === undefined ? [] : [value].flat()) query.append(name, String(one));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The page of a deep list in a round: no round reads rows that an earlier one has read. */
export const deepPage = (round: number): number => 100 - (round % 90);

/** `provider:owner/name` of the first repositories from some index on. */
export function references({ repositories }: CatalogueFacts, count: number, from = 0): string[] {
  return repositories.slice(from, from + count).map(({ provider, fullName }) => `${provider}:${fullName}`);
}

/** The first repository, or the one of a round. */
export function repositoryOf({ repositories }: CatalogueFacts, round = 0) {
  const found = repositories[round % repositories.length];
  if (found === undefined) throw new Error("the catalogue is empty");
  return found;
}

/** Its path: provider, owner and name. */
export function pathOf(facts: CatalogueFacts, round = 0): string {
  const { provider, fullName } = repositoryOf(facts, round);
  return [provider, ...fullName.split("/")].map(encodeURIComponent).join("/");
}

export const idsOf = ({ repositories }: CatalogueFacts): string[] => repositories.map(({ id }) => String(id));

/** Headers of a form of our own pages. */
export const formHeaders = (origin: string) => ({
  "content-type": "application/x-www-form-urlencoded",
  origin,
});

export const jsonHeaders = (origin?: string) => ({
  "content-type": "application/json",
  ...(origin === undefined ? {} : { origin }),
});

/** Deep in nothing: what a parser of JSON likes least within the limit of a body. */
export const NESTED_JSON = `${"[".repeat(8_000)}${"]".repeat(8_000)}`;

/** Lines that name nothing, in the form that is tried in most ways. */
export const unknownLines = (count: number): string =>
  Array.from({ length: count }, (_, i) => `https://git.example.org/nobody${i}/b${i}/c/-/d`).join("\n");

/** The path of a route with the parameters of the largest repository and of the list. */
export function pathFor(pattern: string, { facts, token }: Pick<CaseContext, "facts" | "token">): string {
  const { id, provider, fullName } = repositoryOf(facts);
  const [owner = "", ...name] = fullName.split("/");
  const values: Record<string, string> = {
    id: String(id),
    repositoryId: String(id),
    provider,
    owner,
    name: name.join("/"),
    fullName,
    token,
    ranking: "rising",
    site: "github",
    listId: "1",
    requestId: "1",
    file: "README.md",
  };
  if (pattern.startsWith("/languages/")) values.name = facts.languages[0] ?? "";
  if (pattern.startsWith("/topics/")) values.name = facts.topics[0] ?? "";
  return pattern.replaceAll(/\{(\w+)\*?\}/g, (_, parameter: string) => {
    const value = values[parameter];
    if (value === undefined)
      throw new Error(`no value is known for the parameter ${parameter} of ${pattern}`);
    return value.split("/").map(encodeURIComponent).join("/");
  });
}
