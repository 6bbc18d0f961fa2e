/** What people type into the field for repositories: names, addresses, several of them, an owner, or a word. */
import { linksIn } from "./links.js";
import { isReadme, ownerIn } from "./paths.js";
import {
  type AddressedForge,
  type AddressProblem,
  placeReader,
  type RepositoryAddress,
  repositoryAt,
} from "./repository-addresses.js";
import { unwrapped } from "./split.js";

/** What a text asks for. Whether it exists is not known: only a forge can say. */
export type Asked =
  /** Each once. `others`: the number of links that name no repository of a configured forge. */
  | { kind: "repositories"; addresses: RepositoryAddress[]; others: number }
  | { kind: "owner"; provider: string; owner: string }
  /** The README of a repository: the repository itself, or those that the README links to. */
  | ({ kind: "readme" } & RepositoryAddress)
  /** A word that may name an owner or a repository. */
  | { kind: "name"; name: string }
  | ({ kind: "problem" } & AddressProblem);

/** Words that are tried as addresses one by one; a longer text is searched for links. */
const MAX_WORDS = 300;
const NAME = /^(?!\.{1,2}$)[\w.-]{1,100}$/;

/** Parses a text of any length, in time in proportion to it. Pure: no host in it is contacted. */
export function parseAsked(text: string, forges: readonly AddressedForge[]): Asked {
  const words = unwrapped(text)
    .split(/[\s,;]+/, MAX_WORDS + 1)
    .filter((word) => word !== "");
  const [word] = words;
  if (word === undefined)
    return { kind: "problem", problem: "must name a repository, such as owner/name, or an owner" };
  const read = placeReader(forges);
  if (words.length === 1) return parseWord(word, read);
  const readRepository = (address: string) => {
    const place = read(address);
    return "problem" in place ? place : repositoryAt(place);
  };
  const isList = words.length <= MAX_WORDS && words.every((one) => !("problem" in readRepository(one)));
  const { addresses, others } = linksIn(isList ? words.join("\n") : text, readRepository);
  if (addresses.length > 0) return { kind: "repositories", addresses, others };
  return {
    kind: "problem",
    problem: "must name repositories of a configured forge: names, or links to them",
  };
}

/** Whether a text is a single word without an owner, such as "hono". */
export const isBareName = (text: string): boolean => NAME.test(text);

function parseWord(word: string, read: ReturnType<typeof placeReader>): Asked {
  const isOwner = /^@|^[^:/]+\/$/.test(word);
  const place = read(word.replace(/^@/, ""));
  if ("problem" in place) return { kind: "problem", ...place };
  const { forge, segments, namesForge } = place;
  const owner = ownerIn(forge.kind, segments);
  if (owner !== undefined && (isOwner || namesForge)) return { kind: "owner", provider: forge.name, owner };
  const [name] = segments;
  if (segments.length === 1 && name !== undefined && !namesForge && isBareName(name))
    return { kind: "name", name };
  const address = repositoryAt(place);
  if ("problem" in address) return { kind: "problem", ...address };
  if (isReadme(segments) || /#readme$/i.test(word)) return { kind: "readme", ...address };
  return { kind: "repositories", addresses: [address], others: 0 };
}
