import { address } from "./base.js";
import { type Choice, element, type Group } from "./combobox.js";

/**
 * What fields for repositories suggest: those that are tracked, with the image of their owner; then the one that the text is the
 * address of, which Enter takes; then languages and topics. The server reads the text, as it does without scripts.
 */

/** A suggested repository. */
interface SuggestedRepository {
  provider: string;
  fullName: string;
  language: string | null;
  stars: number | null;
  starsDelta7d: number | null;
  renamedFrom: string | null;
  ownerImage: string | null;
}

interface Suggestions {
  repositories: SuggestedRepository[];
  untracked: { provider: string; fullName: string } | null;
  languages: { name: string; repositoryCount: number }[];
  topics: { name: string; repositoryCount: number }[];
}

/** What choosing a repository does. */
export interface Purpose {
  /** Suggestions of each kind. */
  limit: number;
  /** For a tracked one; undefined: it is left out. Default: opens its page. */
  choose?: (key: string) => Pick<Choice, "href" | "run"> | undefined;
  /** Requests one that is not tracked, or looks for a name on the forges. Default: as the page for that does. */
  track?: (key: string) => void;
  hasFacets?: boolean;
}

const count = new Intl.NumberFormat("en-US", { notation: "compact" });
const gain = new Intl.NumberFormat("en-US", { notation: "compact", signDisplay: "exceptZero" });

const path = (parts: readonly string[]): string => parts.map(encodeURIComponent).join("/");
const keyOf = ({ provider, fullName }: { provider: string; fullName: string }) =>
  `${provider.toLowerCase()}:${fullName}`;

/** Sends a form that the page does not have. */
export function post(action: string, fields: Readonly<Record<string, string>>): void {
  const inputs = Object.entries(fields).map(([name, value]) =>
    element("input", { type: "hidden", name, value }),
  );
  const form = element("form", { method: "post", action: address(action) }, ...inputs);
  document.body.append(form);
  form.submit();
}

/** Requests suggestions: repositories, languages and topics. Rejects if it is aborted or fails. */
export async function suggest(text: string, limit: number, signal: AbortSignal): Promise<Suggestions> {
  const query = new URLSearchParams({ q: text.slice(0, 200), limit: String(limit) });
  const response = await fetch(address(`/api/search/suggest?${query}`), { signal });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const { data }: { data: Suggestions } = await response.json();
  return data;
}

/** The suggestions for a text. */
export async function findSuggestions(
  text: string,
  { limit, choose, track, hasFacets = false }: Purpose,
  signal: AbortSignal,
): Promise<Group[]> {
  // The server reads lists.
  if (/\s/.test(text) && text.includes("/")) {
    const all: Choice = { label: "All of these", run: () => post("/track", { repository: text }) };
    return [{ name: "Repositories", choices: [{ ...all, isTaken: true }] }];
  }
  const { repositories, untracked, languages, topics } = await suggest(text, limit, signal);
  const isAddress = text.includes("/");
  const tracked = repositories.flatMap((one, i): Choice[] => {
    const does = choose === undefined ? { href: address(`/repos/${pathOf(one)}`) } : choose(keyOf(one));
    return does === undefined ? [] : [{ ...choiceOf(one), ...does, isTaken: isAddress && i === 0 }];
  });
  const request = track ?? ((repository: string) => post("/track", { repository }));
  const others: Choice[] =
    untracked === null
      ? []
      : [
          {
            label: `Track ${untracked.fullName}`,
            run: () => request(keyOf(untracked)),
            isTaken: tracked.every(({ isTaken }) => isTaken !== true),
          },
        ];
  const facet = (section: string) => (one: { name: string; repositoryCount: number }) => ({
    label: one.name,
    detail: `${count.format(one.repositoryCount)} ${one.repositoryCount === 1 ? "repository" : "repositories"}`,
    href: address(`/${section}/${path([one.name])}`),
  });
  return [
    { name: text === "" ? "Popular" : "Tracked here", choices: tracked },
    { name: "Not tracked yet", choices: others },
    ...(hasFacets
      ? [
          { name: "Languages", choices: languages.map(facet("languages")) },
          { name: "Topics", choices: topics.map(facet("topics")) },
        ]
      : []),
  ];
}

const pathOf = ({ provider, fullName }: SuggestedRepository) =>
  path([provider.toLowerCase(), ...fullName.split("/")]);

/** "acme/old moved to acme/rocket", "★ 90K · Rust · +1.2K in 7 days" */
function choiceOf(one: SuggestedRepository): Choice {
  const { fullName, language, stars, starsDelta7d, renamedFrom, ownerImage } = one;
  const details = [
    stars === null ? null : `★ ${count.format(stars)}`,
    language,
    starsDelta7d === null ? null : `${gain.format(starsDelta7d)} in 7 days`,
  ];
  return {
    label: renamedFrom === null ? fullName : `${renamedFrom} moved to ${fullName}`,
    detail: details.filter((part) => part !== null).join(" · "),
    owner: { name: fullName, image: ownerImage === null ? null : address(ownerImage) },
  };
}
