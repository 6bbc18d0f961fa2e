import { address } from "./base.js";
import type { Choice, Group } from "./combobox.js";

/** A suggested repository. */
export interface SuggestedRepository {
  provider: string;
  fullName: string;
  language: string | null;
  stars: number | null;
  starsDelta7d: number | null;
}

interface Suggestions {
  repositories: SuggestedRepository[];
  languages: { name: string; repositoryCount: number }[];
  topics: { name: string; repositoryCount: number }[];
}

const count = new Intl.NumberFormat("en-US", { notation: "compact" });
const gain = new Intl.NumberFormat("en-US", { notation: "compact", signDisplay: "exceptZero" });

/** Requests suggestions: repositories, languages and topics. Rejects if it is aborted or fails. */
export async function suggest(text: string, limit: number, signal: AbortSignal): Promise<Suggestions> {
  const query = new URLSearchParams({ q: text.slice(0, 200), limit: String(limit) });
  const response = await fetch(address(`/api/search/suggest?${query}`), { signal });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { data }: { data: Suggestions } = await response.json();
  return data;
}

/** Suggestions of each kind. */
const MAX_SUGGESTIONS = 6;

/** The suggestions for a text, as groups of links; none for an empty text. */
export async function findSuggestions(text: string, signal: AbortSignal): Promise<Group[]> {
  return text === "" ? [] : groupsOf(await suggest(text, MAX_SUGGESTIONS, signal));
}

const path = (parts: readonly string[]): string => parts.map(encodeURIComponent).join("/");

/** The path of the page of a repository. */
export function repositoryPath({ provider, fullName }: SuggestedRepository): string {
  return `/repos/${path([provider.toLowerCase(), ...fullName.split("/")])}`;
}

/** "Rust · +1.2K in 7 days · ★ 90K" */
export function repositoryDetail({ language, stars, starsDelta7d }: SuggestedRepository): string {
  return [
    language,
    starsDelta7d === null ? null : `${gain.format(starsDelta7d)} in 7 days`,
    stars === null ? null : `★ ${count.format(stars)}`,
  ]
    .filter((part) => part !== null)
    .join(" · ");
}

/** Suggestions as groups of links. */
export function groupsOf({ repositories, languages, topics }: Suggestions): Group[] {
  const facet = (section: string) => (one: { name: string; repositoryCount: number }) => ({
    label: one.name,
    detail: `${count.format(one.repositoryCount)} ${one.repositoryCount === 1 ? "repository" : "repositories"}`,
    href: address(`/${section}/${path([one.name])}`),
  });
  const repository = (one: SuggestedRepository): Choice => ({
    label: one.fullName,
    detail: repositoryDetail(one),
    href: address(repositoryPath(one)),
  });
  return [
    { name: "Repositories", choices: repositories.map(repository) },
    { name: "Languages", choices: languages.map(facet("languages")) },
    { name: "Topics", choices: topics.map(facet("topics")) },
  ];
}
