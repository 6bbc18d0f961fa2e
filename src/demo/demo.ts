/**
 * A synthetic catalogue: generated repositories of several providers with plausible histories, for demonstrations, tests and
 * benchmarks. The same seed gives the same catalogue. It is only written to a database marked as synthetic.
 */
import type { Catalog, Observation, Snapshot } from "../catalog/catalog.js";
import { DAY_MS, HOUR_MS } from "../clock.js";
import { Random } from "./random.js";
import { KINDS, LANGUAGES, LICENSES, PEOPLE, QUALITIES, THINGS, TOPICS } from "./vocabulary.js";

export interface DemoSize {
  repositories: number;
  /** Days of history, one snapshot a day. */
  days: number;
  seed: number;
}

export interface DemoOptions extends DemoSize {
  /** Time of the newest snapshots, in ms since 1970. */
  end: number;
}

/** Coprime to the number of THINGS, so that its multiples reach each of them once. */
const THING_STEP = 31;

/** Repositories recorded in one transaction. */
const BATCH = 1_000;

/** Fills a catalogue. Throws if it contains data that is not synthetic. */
export async function fillWithDemo(
  catalog: Catalog,
  options: DemoOptions,
  onProgress: (repositories: number) => void = () => {},
): Promise<void> {
  await catalog.markSynthetic();
  for (let from = 0; from < options.repositories; from += BATCH) {
    const count = Math.min(BATCH, options.repositories - from);
    await catalog.record(Array.from({ length: count }, (_, i) => syntheticRepository(from + i, options)));
    onProgress(from + count);
  }
}

/** The history of the `index`-th repository. Those with a small index are the popular ones. */
export function syntheticRepository(index: number, options: DemoOptions): Observation {
  const random = new Random(Math.imul(options.seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  const provider = random.weighted([
    ["GITHUB", 80],
    ["GITLAB", 12],
    ["CODEBERG", 8],
  ] as const);
  const { owner, name } = nameOf(random, provider, index);
  // Stars by rank follow a power law (Zipf), as on the forges; smaller forges have fewer.
  const size = provider === "GITHUB" ? 1 : 0.05;
  const start = Math.max(1, Math.round((size * 250_000) / (index + 1) ** 0.75));
  const end = options.end - random.between(0, 90) * 60_000;
  const isNew = random.chance(0.08);
  const isGone = random.chance(0.01);
  const firstDay = isNew ? random.between(0, Math.max(0, options.days - 3)) : 0;
  const lastDay = isGone ? random.between(firstDay, options.days - 1) : options.days - 1;
  const snapshots = history(random, {
    start: isNew ? random.between(0, 20) : start,
    firstDay,
    lastDay,
    days: options.days,
    end,
  });
  const last = snapshots.at(-1);
  const first = snapshots[0];
  const language = random.chance(0.94) ? random.weighted(LANGUAGES) : null;
  const topics = TOPICS.filter(() => random.chance(3 / TOPICS.length));
  const createdAt =
    isNew && first !== undefined
      ? first.capturedAt - 6 * HOUR_MS
      : options.end - random.between(400, 5_000) * DAY_MS;
  const isQuiet = random.chance(0.3);
  const previous = random.chance(0.01)
    ? [{ fullName: `${owner}-old/${name}`, until: first?.capturedAt ?? end }]
    : undefined;
  return {
    provider,
    providerId: String(1_000_000 + index),
    owner,
    name,
    at: last?.capturedAt ?? end,
    facts: {
      url: `https://${provider.toLowerCase()}.example/${owner}/${name}`,
      description: `A ${random.pick(QUALITIES)} ${random.pick(KINDS)} for ${topics[0] ?? random.pick(THINGS)}${language === null ? "" : ` in ${language}`}`,
      homepage: random.chance(0.2) ? `https://${name}.example` : null,
      language,
      license: random.chance(0.8) ? random.weighted(LICENSES) : null,
      topics,
      stars: last?.stars ?? 0,
      forks: last?.forks ?? null,
      openIssues: last?.openIssues ?? null,
      watchers: last?.watchers ?? null,
      fork: random.chance(0.04),
      archived: random.chance(0.03),
      availability: isGone ? "GONE" : "AVAILABLE",
      createdAt,
      pushedAt:
        (last?.capturedAt ?? end) -
        random.between(0, isQuiet ? 700 : 20) * DAY_MS -
        random.between(0, 1_400) * 60_000,
    },
    snapshots,
    ...(previous === undefined ? {} : { previousNames: previous }),
  };
}

function nameOf(random: Random, provider: string, index: number): { owner: string; name: string } {
  const people = random.pick(PEOPLE);
  const crowd = random.chance(0.5) ? "" : String(random.between(2, 999));
  const group = provider === "GITLAB" && random.chance(0.4) ? `/${random.pick(TOPICS)}` : "";
  const picked = random.pick(THINGS);
  // The first repositories are all different things; after that the index keeps names distinct.
  const thing = index < THINGS.length ? (THINGS[(index * THING_STEP) % THINGS.length] ?? picked) : picked;
  const plain = random.chance(0.4) ? thing : `${random.pick(QUALITIES)}-${thing}`;
  const name = index < THINGS.length ? plain : `${plain}-${index.toString(36)}`;
  return { owner: `${people}${crowd}${group}`, name };
}

interface Span {
  start: number;
  firstDay: number;
  lastDay: number;
  days: number;
  end: number;
}

/** One snapshot per day, with occasional missing days, fading bursts, and a purge. */
function history(random: Random, { start, firstDay, lastDay, days, end }: Span): Snapshot[] {
  const snapshots: Snapshot[] = [];
  const burstDay = random.chance(0.05) ? random.between(firstDay, lastDay) : -1;
  const burst = burstDay < 0 ? 0 : 20 + start * random.next() * 0.15;
  const purgeDay = random.chance(0.005) ? random.between(firstDay, lastDay) : -1;
  const pace = (start ** 0.8 / 400) * (0.2 + 1.6 * random.next());
  const hasForks = 0.05 + 0.25 * random.next();
  let stars = start;
  let openIssues = Math.round(start ** 0.6 * random.next());
  for (let day = firstDay; day <= lastDay; day++) {
    const sinceBurst = day - burstDay;
    const extra = burstDay >= 0 && sinceBurst >= 0 ? burst * 0.45 ** sinceBurst : 0;
    stars += random.poisson(pace + extra) - (random.chance(pace / 10) ? 1 : 0);
    if (day === purgeDay) stars -= Math.round(stars * 0.02);
    stars = Math.max(0, stars);
    openIssues = Math.max(0, openIssues + random.between(-1, 1));
    if (day !== lastDay && random.chance(0.01)) continue;
    snapshots.push({
      capturedAt: end - (days - 1 - day) * DAY_MS - (day === days - 1 ? 0 : random.between(0, 20) * 60_000),
      stars,
      forks: Math.round(stars * hasForks),
      openIssues,
      watchers: Math.round(stars ** 0.7),
      source: "OBSERVED",
    });
  }
  return snapshots;
}
