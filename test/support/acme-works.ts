import { mkdirSync, writeFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { DAY_MS, isoTime } from "../../src/lib/clock.js";
import type { CommandWorld } from "./command.js";
import { ForgeCatalogue, startForge } from "./forge/forge.js";
import { QUIET } from "./forge/world.js";
import { startPublishing } from "./publishing.js";
import { NOW } from "./world.js";

/** Repositories of one owner on two forges with their whole lives: some years of star histories, two months of readings, and one new today. */

interface Work {
  name: string;
  description: string;
  language: string;
  /** Days ago. */
  since: number;
  stars: number;
  /** The course of its stars: from 0 to 1 in a life from 0 to 1. */
  course(age: number): number;
}

const bent = (power: number) => (age: number) => age ** power;
/** Slow, then fast between two ages, then slow. */
const surge = (begin: number, end: number, part: number) => (age: number) =>
  (1 - part) * age + part * Math.min(1, Math.max(0, (age - begin) / (end - begin)));

const WORKS: readonly Work[] = [
  {
    name: "acme/loom",
    description: "Weaves logs of many services into one timeline",
    language: "Rust",
    since: 1_050,
    stars: 32_367,
    course: surge(0.35, 0.62, 0.6),
  },
  {
    name: "acme/moss",
    description: "Component library that grows on plain HTML",
    language: "TypeScript",
    since: 1_350,
    stars: 22_318,
    course: surge(0.975, 1, 0.045),
  },
  {
    name: "acme/kite",
    description: "Terminal assistant for long-running jobs",
    language: "Go",
    since: 380,
    stars: 9_476,
    course: bent(0.55),
  },
  {
    name: "acme/tern",
    description: "Reads tide tables and buoys, draws the week",
    language: "Python",
    since: 310,
    stars: 4_110,
    course: bent(0.3),
  },
  {
    name: "acme/kobune",
    description: "ちいさなメールクライアント",
    language: "Zig",
    since: 1_700,
    stars: 1_779,
    course: bent(1.1),
  },
  {
    name: "acme/quill",
    description: "Footnotes for Markdown, created today",
    language: "CSS",
    since: 0.7,
    stars: 3,
    course: bent(1),
  },
];

/** The one that is on Codeberg. */
const HARBOURED = "acme/kobune";
/** Days of readings; before them there is the star history. */
const READ = 60;

/** The publishing of a list of all six, which ends at NOW. */
export async function startAcmeWorks(
  t: Pick<TestContext, "after">,
  world: CommandWorld,
  works: readonly Work[] = WORKS,
) {
  const published = await startPublishing(t, world, { repositories: works.length, begin: NOW });
  const { catalogue, clock, settings, at } = published;
  const harbour = new ForgeCatalogue({
    seed: 4,
    repositories: works.length,
    start: NOW,
    days: 90,
    rates: QUIET,
  });
  const codeberg = await startForge({ kind: "forgejo", clock, catalogue: harbour });
  t.after(() => codeberg.close());
  Object.assign(settings, {
    SIDEREAL_CODEBERG_URL: codeberg.url,
    SIDEREAL_CODEBERG_PRIVATE: "true",
    SIDEREAL_CODEBERG_TOKENS: "of-the-test",
  });
  const lines: Record<string, object[]> = { repositories: [], backfilled: [], observed: [] };
  for (const [i, work] of works.entries()) {
    const provider = work.name === HARBOURED ? "CODEBERG" : "GITHUB";
    const on = provider === "GITHUB" ? catalogue : harbour;
    const id = on.ids()[i] ?? 0;
    const createdAt = NOW - work.since * DAY_MS;
    const countAt = (time: number) =>
      Math.round(work.stars * work.course((time - createdAt) / (NOW - createdAt)));
    on.add({ id, at: NOW - 1_000, kind: "renamed", to: work.name });
    const { description, language, stars } = work;
    on.override(id, {
      description,
      language,
      stars,
      createdAt,
      forks: 10,
      watchers: 3,
      openIssues: 2,
      openPullRequests: 0,
      topics: [],
      visibility: "public",
    });
    const named = { provider, fullName: work.name, providerId: String(id) };
    lines.repositories?.push({ type: "repository", ...named, createdAt: isoTime(createdAt) });
    const times =
      work.since < 1
        ? [0.65, 0.45, 0.2]
        : Array.from({ length: Math.floor(work.since) }, (_, day) => work.since - day - 0.5);
    const counts = times.map(
      (ago, n) => [NOW - ago * DAY_MS, work.since < 1 ? n : countAt(NOW - ago * DAY_MS)] as const,
    );
    const early = counts.filter(([time]) => time < NOW - READ * DAY_MS);
    if (early.length > 0)
      lines.backfilled?.push({
        type: "history",
        ...named,
        fromStart: true,
        entries: early.map(([time, count]) => [isoTime(time), count]),
      });
    for (const [time, count] of counts.slice(early.length))
      lines.observed?.push({
        type: "snapshot",
        ...named,
        capturedAt: isoTime(time),
        stars: count,
        source: "OBSERVED",
      });
  }
  mkdirSync(at("state", "snapshots"), { recursive: true });
  const write = (file: string, name: string) =>
    writeFileSync(at("state", file), (lines[name] ?? []).map((line) => `${JSON.stringify(line)}\n`).join(""));
  write("repositories.ndjson", "repositories");
  write("snapshots/backfilled-2026.ndjson", "backfilled");
  write("snapshots/observed-2026-01.ndjson", "observed");
  const key = ({ name }: Work) => (name === HARBOURED ? `codeberg:${name}` : name);
  return { ...published, keys: works.map(key) };
}
