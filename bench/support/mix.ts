/**
 * The fixed mix of 2,000 realistic requests, derived from a seed and from the generator of the store, so that it is the same for
 * every store of one size. Popular repositories, languages, topics and words are requested more often, as in real traffic.
 */

import { PLAIN_COLUMNS } from "../../src/discovery/columns.js";
import { windowsOf } from "../../src/discovery/query.js";
import { GROWTH_ORDERS } from "../../src/growth/definitions.js";
import { Random } from "../synthetic/random.js";
import { indexOfPopularity, type SyntheticOptions, syntheticRepository } from "../synthetic/synthetic.js";
import { LANGUAGES, LICENSES, TOPICS } from "../synthetic/vocabulary.js";
import { drawWord } from "../synthetic/words.js";

export const MIX_KINDS = ["list", "search", "suggest", "detail", "series", "page"] as const;
export type MixKind = (typeof MIX_KINDS)[number];

export interface MixRequest {
  kind: MixKind;
  /** Path with query. */
  path: string;
  /** Pages to turn by cursor before this request, at 100 rows each; `resolveMix` turns them. */
  turns?: number;
}

export const MIX_SIZE = 2_000;
const SEED = 12;

/** Requests of each kind among 2,000. */
const SHARES: readonly (readonly [MixKind, number])[] = [
  ["list", 30],
  ["search", 20],
  ["suggest", 18],
  ["detail", 16],
  ["series", 4],
  ["page", 12],
];

interface Named {
  id: number;
  provider: string;
  owner: string;
  name: string;
}

/** Draws what requests are about. */
class Subjects {
  readonly #random: Random;
  readonly #options: SyntheticOptions;

  constructor(random: Random, options: SyntheticOptions) {
    this.#random = random;
    this.#options = options;
  }

  /** A listed repository: half of the time one of the most popular, and one of any popularity otherwise. */
  repository(): Named {
    const { repositories } = this.#options;
    for (;;) {
      const popularity = this.#random.chance(0.5)
        ? this.#random.zipf(repositories, 0.9)
        : this.#random.between(0, repositories - 1);
      const index = indexOfPopularity(popularity, this.#options);
      const { provider, owner, name, facts } = syntheticRepository(index, this.#options);
      if (facts.availability === "AVAILABLE") return { id: index + 1, provider, owner, name };
    }
  }

  /** Three of four draws are one of the ten most frequent languages. */
  language(): string {
    return encodeURIComponent(
      this.#random.chance(0.75) ? this.#random.weighted(LANGUAGES) : this.#random.pick(LANGUAGES)[0],
    );
  }

  topic(): string {
    return encodeURIComponent(TOPICS[this.#random.zipf(TOPICS.length, 0.9)] ?? "");
  }

  license(): string {
    return this.#random.weighted(LICENSES) ?? "MIT";
  }
}

/** The parameters of one list: some filters, a sort, and a page. */
function listParameters(random: Random, subjects: Subjects): MixList {
  const day = (daysBefore: number) =>
    new Date(Date.UTC(2026, 3, 30) - daysBefore * 86_400_000).toISOString().slice(0, 10);
  const filters: readonly (readonly [() => string, number])[] = [
    [() => "", 30],
    [() => `language=${subjects.language()}`, 26],
    [() => `topic=${subjects.topic()}`, 14],
    [() => `language=${subjects.language()}&topic=${subjects.topic()}`, 6],
    [() => `minStars=${random.pick([10, 50, 100, 1_000, 10_000])}`, 6],
    [() => `maxStars=${random.pick([10, 50, 500])}`, 3],
    [() => `license=${subjects.license()}`, 3],
    [() => `createdAfter=${day(random.pick([1, 7, 30, 365]))}`, 4],
    [() => `pushedAfter=${day(random.pick([1, 7, 30]))}&language=${subjects.language()}`, 3],
    [() => `archived=${random.pick(["true", "false"])}`, 2],
    [() => "fork=true", 1],
    [() => "provider=codeberg", 1],
    [() => "reliableOnly=true&excludeAnomalous=true", 1],
  ];
  const sorts = [
    ["stars", 30],
    ["stars-gained", 22],
    ["trending", 18],
    ["rising", 7],
    ["new-hot", 5],
    ["forks", 6],
    ["pushed", 5],
    ["created", 5],
    ["forks-gained", 2],
  ] as const;
  const window = random.weighted([
    ["24h", 50],
    ["7d", 35],
    ["30d", 15],
  ] as const);
  const sort = random.weighted(sorts);
  const listed = windowsOf(sort).find((one) => one === window) ?? "24h";
  const parts = [random.weighted(filters)(), `sort=${sort}`, `window=${listed}`];
  if (random.chance(0.04)) parts.push("order=asc");
  const place = random.next();
  if (place < 0.12) parts.push(`page=${1 + random.zipf(100, 1.2)}`);
  const query = parts.filter((part) => part !== "").join("&");
  return place > 0.88 ? { query, turns: 1 + random.zipf(40, 1.2) } : { query };
}

/** One list of the mix: its parameters, and pages to turn by cursor before it. */
export interface MixList {
  query: string;
  turns?: number;
}

/** The lists that the mix would have if it had only lists: always the same ones. */
export function listMixOf(options: SyntheticOptions): MixList[] {
  const random = new Random(SEED);
  const subjects = new Subjects(random, options);
  return Array.from({ length: MIX_SIZE }, () => listParameters(random, subjects));
}

/** Lists with any combination of filters, sort, direction and window, all equally probable: always the same ones. */
export function randomListsOf(options: SyntheticOptions, count: number): MixList[] {
  const random = new Random(SEED);
  const subjects = new Subjects(random, options);
  const day = () =>
    new Date(Date.UTC(2026, 3, 30) - random.between(0, 3_000) * 86_400_000).toISOString().slice(0, 10);
  const stars = () => Math.round(10 ** (5 * random.next()));
  /** One bound, or both in order: an empty range is refused. */
  const range = <Value extends string | number>(least: string, most: string, draw: () => Value) => {
    const [a, b] = [draw(), draw()];
    const [low, high] = a < b ? [`${least}=${a}`, `${most}=${b}`] : [`${least}=${b}`, `${most}=${a}`];
    return a === b ? low : random.pick([low, high, `${low}&${high}`]);
  };
  const filters: readonly (() => string)[] = [
    () => `language=${subjects.language()}`,
    () => `topic=${subjects.topic()}`,
    () => `topic=${subjects.topic()}&topic=${subjects.topic()}`,
    () => `license=${subjects.license()}`,
    () => `provider=${random.pick(["github", "gitlab", "codeberg"])}`,
    () => range("minStars", "maxStars", stars),
    () => range("createdAfter", "createdBefore", day),
    () => `pushedAfter=${day()}`,
    () => `archived=${random.pick(["true", "false", "any"])}`,
    () => `fork=${random.pick(["true", "false", "any"])}`,
    () => "reliableOnly=true",
    () => "excludeAnomalous=true",
  ];
  return Array.from({ length: count }, () => {
    const chosen = new Map(filters.map((filter) => [filter().split("=")[0], filter]));
    const share = random.next() / 2;
    const parts = [...chosen.values()].filter(() => random.chance(share)).map((filter) => filter());
    const sort = random.pick(SORTED);
    const order = random.pick(["asc", "desc"]);
    const query = [
      ...parts,
      `sort=${sort}`,
      `order=${order}`,
      `window=${random.pick(["24h", "7d", "30d"])}`,
    ].join("&");
    return random.chance(0.2) ? { query, turns: random.between(1, 3) } : { query };
  });
}

const SORTED = [...PLAIN_COLUMNS, ...GROWTH_ORDERS];

/** What people search: names and words, the beginnings of both, and mistyped ones. */
function searchText(random: Random, subjects: Subjects): string {
  const { owner, name } = subjects.repository();
  const typo = (text: string) => {
    const at = random.between(1, Math.max(1, text.length - 2));
    return text.slice(0, at) + text.slice(at + 1, at + 2) + text.slice(at, at + 1) + text.slice(at + 2);
  };
  const words = () => Array.from({ length: random.between(1, 3) }, () => drawWord(random)).join(" ");
  return random.weighted([
    [name, 25],
    [`${owner}/${name}`, 6],
    [`${owner}/${name.slice(0, Math.max(1, Math.floor(name.length / 2)))}`, 4],
    [owner, 6],
    [name.slice(0, Math.max(2, Math.floor(name.length * 0.6))), 12],
    [name.replaceAll(/[-_.]+/g, " "), 10],
    [typo(name), 7],
    [words(), 24],
    [random.pick(["c++", "c#", "node.js", "vue.js", ".net", "机器学习", "框架", "naïve"]), 6],
  ]);
}

function search(random: Random, subjects: Subjects): string {
  const sort = random.chance(0.15) ? `&sort=${random.pick(["stars", "stars-gained", "pushed"])}` : "";
  const filter = random.chance(0.12) ? `&language=${subjects.language()}` : "";
  return `/api/repos?q=${encodeURIComponent(searchText(random, subjects))}${sort}${filter}`;
}

/** The name of a repository in an address, slashes of its owner escaped. */
const addressOf = ({ provider, owner, name }: Named): string =>
  [provider.toLowerCase(), owner, name].map(encodeURIComponent).join("/");

function page(random: Random, subjects: Subjects): string {
  const named = subjects.repository();
  const segments = [named.provider.toLowerCase(), ...named.owner.split("/"), named.name];
  return random.weighted<() => string>([
    [() => "/", 18],
    [() => `/explore?${listParameters(random, subjects).query}`, 30],
    [() => `/explore?q=${encodeURIComponent(searchText(random, subjects))}`, 12],
    [() => `/repos/${segments.map(encodeURIComponent).join("/")}`, 30],
    [() => `/languages/${subjects.language()}`, 4],
    [() => `/topics/${subjects.topic()}`, 4],
    [() => "/languages", 2],
  ])();
}

/** Suggestions requested while somebody types a name: after each letter but a few that were typed too quickly. */
function* typed(random: Random, subjects: Subjects): Generator<string> {
  const { owner, name } = subjects.repository();
  const text = random.chance(0.2) ? `${owner}/${name}` : random.chance(0.2) ? drawWord(random) : name;
  const length = Math.min(text.length, random.between(3, 14));
  for (let end = 1; end <= length; end++)
    if (end === length || random.chance(0.75))
      yield `/api/search/suggest?q=${encodeURIComponent(text.slice(0, end))}`;
}

/** The mix for a store of this size: always the same 2,000 requests in the same order. */
export function mixOf(options: SyntheticOptions): MixRequest[] {
  const random = new Random(SEED);
  const subjects = new Subjects(random, options);
  const requests: MixRequest[] = [];
  let typing = typed(random, subjects);
  const nextTyped = (): string => {
    for (;;) {
      const { value, done } = typing.next();
      if (!done) return value;
      typing = typed(random, subjects);
    }
  };
  const make: Record<MixKind, () => Omit<MixRequest, "kind">> = {
    list: () => {
      if (random.chance(0.1)) return { path: "/api/home" };
      const { query, ...rest } = listParameters(random, subjects);
      return { path: `/api/repos?${query}`, ...rest };
    },
    search: () => ({ path: search(random, subjects) }),
    suggest: () => ({ path: nextTyped() }),
    detail: () => ({ path: `/api/repos/${addressOf(subjects.repository())}` }),
    series: () => ({
      path: `/api/repos/${subjects.repository().id}/metrics?window=${random.pick(["30d", "90d", "all"])}`,
    }),
    page: () => ({ path: page(random, subjects) }),
  };
  while (requests.length < MIX_SIZE) {
    const kind = random.weighted(SHARES);
    requests.push({ kind, ...make[kind]() });
  }
  return requests;
}

/** The requests with their cursors, which only a server can make: turns the pages of deep lists at the server. */
export async function resolveMix(url: string, mix: readonly MixRequest[]): Promise<MixRequest[]> {
  const resolved: MixRequest[] = [];
  for (const { kind, path, turns = 0 } of mix) {
    let cursor: string | null = null;
    for (let turn = 0; turn < turns; turn++) {
      const from: string = cursor === null ? "" : `&cursor=${cursor}`;
      const response = await fetch(`${url}${path}&limit=100${from}`);
      const { meta }: { meta?: { nextCursor: string | null } } = JSON.parse(await response.text());
      if (meta === undefined) throw new Error(`${path} returned ${response.status}`);
      if (meta.nextCursor === null) break;
      cursor = meta.nextCursor;
    }
    resolved.push({ kind, path: cursor === null ? path : `${path}&cursor=${cursor}` });
  }
  return resolved;
}
