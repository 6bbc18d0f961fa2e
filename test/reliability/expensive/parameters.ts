import { SORTS } from "../../../src/discovery/query.js";
import type { CatalogueFacts } from "./facts.js";

/** The values that a parameter is tried with, each a list since parameters may repeat; an empty list leaves it out. */
export type Choices = readonly (readonly string[])[];

const one = (...values: readonly string[]): Choices => [[], ...values.map((value) => [value])];

/** Search texts: prefixes that match most, many words, words nobody uses, typing errors, one long word. */
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
export const SEARCH_TEXTS: readonly string[] = [
  "a",
  "s",
  "a b",
  "e a",
  "a b c",
  [...LETTERS].join(" "),
  `${[...LETTERS].join(" ")} ${[...LETTERS].map((letter) => `${letter}a`).join(" ")}`.slice(0, 200),
  "the of for and to a in with is",
  "kubernetse opratr",
  "librayr framewrok tolo srever cleint",
  "zzzzqq xxyyzz wwvvuu",
  "a/b",
  "ab".repeat(100),
  "--- *** ///",
];

/**
 * What each declared query parameter is tried with. A parameter without choices fails the harness: a new one may be the most
 * expensive.
 */
export function queryChoices(facts: CatalogueFacts): Readonly<Record<string, Choices>> {
  const { repositories, languages, topics } = facts;
  const named = repositories.map(({ provider, fullName }) => `${provider}:${fullName}`);
  const ids = repositories.map(({ id }) => String(id));
  const names = repositories.map(({ fullName }) => fullName);
  return {
    q: one(...SEARCH_TEXTS),
    asked: one("react", "a/b"),
    adding: one("x".repeat(100)),
    verbatim: one("true", "false"),
    provider: one("github", "gitlab"),
    language: [[], languages.slice(0, 1), languages, languages.slice(-1)],
    topic: [[], topics.slice(0, 1), topics, topics.slice(-1)],
    license: one("MIT", "Apache-2.0", "none"),
    minStars: one("0", "1", "100"),
    maxStars: one("1", "100", "1000000000000"),
    createdAfter: one("1990-01-01", "2020-01-01"),
    createdBefore: one("2100-01-01", "2020-01-01"),
    pushedAfter: one("1990-01-01", "2026-01-01"),
    updatedAfter: one("1990-01-01", "2026-01-01"),
    since: one("start"),
    include: one("record"),
    archived: one("true", "false", "any"),
    fork: one("true", "false", "any"),
    sort: one(...SORTS, "added", "repository-count"),
    reliableOnly: one("true", "false"),
    excludeAnomalous: one("true", "false"),
    order: one("asc", "desc"),
    window: one("24h", "7d", "30d", "90d", "1y", "all"),
    limit: one("1", "20", "100"),
    page: one("1", "2", "50", "100"),
    cursor: one("x"),
    format: one("json", "csv"),
    step: one("1h", "6h", "1w"),
    repository: one("a/b", "x".repeat(2_000)),
    repo: [[], named.slice(0, 1), named.slice(0, 6), named.slice(0, 20), named.slice(0, 100)],
    metric: one("stars", "forks", "openIssues"),
    range: one("30d", "90d", "1y", "all"),
    theme: one("auto", "dark"),
    shape: one("post", "square"),
    style: one("sketch"),
    background: one("clear"),
    title: one("x".repeat(80)),
    zoom: one("1", "3"),
    width: one("320", "1200"),
    height: one("220", "800"),
    scale: one("linear", "log"),
    align: one("date", "age", "first-snapshot", "first-count", "index"),
    first: one("1", "1000000000"),
    base: one("1970-01-01", "2026-04-01"),
    view: one("total", "per-day"),
    from: one("1970-01-01", "2026-04-01"),
    to: one("2026-04-10", "9999-12-31"),
    kind: one("rank", "stars", "gain", "trending"),
    badge: one("rank"),
    list: one("/", `/topics/${"x".repeat(1_900)}`),
    label: one("x".repeat(40)),
    size: one("small", "wide"),
    ranking: one("trending", "stars"),
    scope: one("overall", "provider", "language"),
    save: one(String(repositories[0]?.id ?? 1)),
    next: one("/watchlist", "/".repeat(500)),
    again: one("1"),
    logged: one("1"),
    key: one("x".repeat(500)),
    added: one("1"),
    removed: one("1"),
    deleted: one("1"),
    forge: one("GITHUB", "x".repeat(100)),
    target: one("github:a", "x".repeat(100)),
    text: one("a", "x".repeat(100)),
    done: one("banned"),
    name: one("laptop"),
    token: one(`sidl_${"a".repeat(36)}`),
    id: [[], ids.slice(0, 1), ids.slice(0, 100)],
    fullName: [[], names.slice(0, 1), names.slice(0, 100)],
    explain: one("true", "false"),
    code: one("x"),
    state: one("x"),
    error: one("access_denied"),
    iss: one("https://example.org"),
  };
}
