import { chance, pick } from "./numbers.js";

/** Descriptive fields of a repository, derived from its index, so that a hundred thousand need no memory. */
export interface Facts {
  description: string | null;
  homepage: string | null;
  language: string | null;
  /** SPDX identifier; `NOASSERTION` for an unrecognized license. */
  license: string | null;
  topics: string[];
  isFork: boolean;
}

const OWNERS = [
  "acorn-labs",
  "BrightLine",
  "cloudberry",
  "deepwell",
  "Evergreen-IO",
  "foxglove",
  "Juniper",
  "lodestar",
] as const;
const GROUPS = ["platform", "tools", "research", "apps"] as const;
const THINGS = [
  "atlas",
  "beacon",
  "cipher",
  "delta",
  "engine",
  "falcon",
  "garden",
  "harbor",
  "kernel",
  "ledger",
  "mirror",
  "orbit",
  "parser",
  "relay",
  "spindle",
  "tunnel",
] as const;
const ENDINGS = ["", ".js", "_core", "-go", ".nvim"] as const;
const LANGUAGES = [
  "JavaScript",
  "Python",
  "TypeScript",
  "Go",
  "Rust",
  "Java",
  "C++",
  "C",
  "C#",
  "Jupyter Notebook",
  "Vim Script",
] as const;
const LICENSES = ["MIT", "Apache-2.0", "GPL-3.0", "BSD-3-Clause", "NOASSERTION"] as const;
const TOPICS = [
  "api",
  "cli",
  "database",
  "self-hosted",
  "machine-learning",
  "c-plus-plus",
  "llm",
  "web",
  "security",
  "linux",
] as const;
const DESCRIPTIONS = [
  "A quick engine for the web",
  'Parses "everything", quickly & <b>safely</b>',
  "🚀 Ships rockets 🛰️ to orbit",
  "轻量级数据库引擎,支持事务",
  "مكتبة سريعة لتحليل النصوص",
  "  leading blanks, a comma; a semicolon\tand a tab",
  "Ünïcödé e\u0301 decomposed",
] as const;
const PURPOSE = {
  owner: 21,
  crowd: 22,
  group: 23,
  thing: 24,
  ending: 25,
  description: 26,
  language: 27,
  license: 28,
  topics: 29,
  fork: 30,
  homepage: 31,
};

/** The unique initial name of a repository. `isNested`: owners may be nested groups. */
export function firstName(seed: number, index: number, isNested: boolean): { owner: string; name: string } {
  const ask = (purpose: number) => chance(seed, index, purpose);
  const crowd = Math.floor(ask(PURPOSE.crowd) * 400);
  const depth = isNested ? Math.floor(ask(PURPOSE.group) * 4) : 0;
  const groups = GROUPS.slice(0, Math.min(depth, 3)).map((group) => `/${group}`);
  const owner = `${pick(OWNERS, ask(PURPOSE.owner))}${crowd === 0 ? "" : crowd}${groups.join("")}`;
  const name = `${pick(THINGS, ask(PURPOSE.thing))}-${index.toString(36)}${pick(ENDINGS, ask(PURPOSE.ending))}`;
  return { owner, name };
}

/** Another owner, for a transfer. */
export function otherOwner(seed: number, index: number): string {
  return `new-${pick(OWNERS, chance(seed, index, PURPOSE.owner + 100))}${Math.floor(chance(seed, index, PURPOSE.crowd + 100) * 50)}`;
}

export function factsOf(seed: number, index: number): Facts {
  const ask = (purpose: number) => chance(seed, index, purpose);
  const count = Math.floor(ask(PURPOSE.topics) * 5);
  const first = Math.floor(ask(PURPOSE.topics) * 1_000) % TOPICS.length;
  const homepage = ask(PURPOSE.homepage);
  return {
    description: ask(PURPOSE.description) < 0.1 ? null : pick(DESCRIPTIONS, ask(PURPOSE.description)),
    homepage: homepage < 0.7 ? null : homepage < 0.8 ? "" : `https://project-${index}.example`,
    language: ask(PURPOSE.language) < 0.08 ? null : pick(LANGUAGES, ask(PURPOSE.language)),
    license: ask(PURPOSE.license) < 0.2 ? null : pick(LICENSES, ask(PURPOSE.license)),
    topics: Array.from({ length: count }, (_, i) => TOPICS[(first + i) % TOPICS.length] ?? TOPICS[0]),
    isFork: ask(PURPOSE.fork) < 0.05,
  };
}
