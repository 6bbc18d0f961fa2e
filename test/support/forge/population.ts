import { DAY_MS } from "../../../src/lib/clock.js";
import { factsOf, firstName } from "./facts.js";
import { chance, powerLaw } from "./numbers.js";
import { EVENT_RATES, type EventRates, type ScriptEvent, scriptOf } from "./script.js";
import { type Entry, nameAt } from "./state.js";

export interface CatalogueOptions {
  seed: number;
  /** Number at `start`; the script creates more. */
  repositories: number;
  /** Start of the script, in ms since 1970; the repositories are older. */
  start: number;
  /** Length of the script; default 30. Counters continue to grow after it. */
  days?: number;
  /** Zero switches an event off; defaults in EVENT_RATES. */
  rates?: Partial<EventRates>;
  /** Stars of the most popular repository; default 300,000. */
  topStars?: number;
  /** Owners may be nested groups, as on GitLab. */
  isNested?: boolean;
}

const PURPOSE = { age: 51, pace: 52, id: 53, birth: 54, reuse: 55 };
const OLDEST_MS = 12 * 365 * DAY_MS;

type Filled = Required<Omit<CatalogueOptions, "rates">> & Pick<CatalogueOptions, "rates">;

/** All repositories with their events, oldest first. */
export function populate(options: Filled): Entry[] {
  const { seed, repositories, start, days, topStars } = options;
  const rates = { ...EVENT_RATES, ...options.rates };
  const entries: Entry[] = [];
  const rankStep = stepThrough(repositories);
  for (let index = 0; index < repositories; index++) {
    const age = OLDEST_MS * (1 - (index + chance(seed, index, PURPOSE.age)) / repositories);
    const rank = (index * rankStep + (seed >>> 0)) % repositories;
    const stars = Math.floor(topStars / (rank + 1) ** 0.9);
    const pace = (stars ** 0.8 / 400) * powerLaw(chance(seed, index, PURPOSE.pace), 0.1, 1.3);
    const createdAt = wholeSeconds(start - DAY_MS - age);
    entries.push(
      entry(options, { index, rates, createdAt, starsAtStart: stars, starsPerDay: Math.min(pace, 5_000) }),
    );
  }
  const freed = freedNames(entries);
  const births = Math.round(rates.created * repositories * days);
  for (let birth = 0; birth < births; birth++) {
    const index = repositories + birth;
    const part = (birth + chance(seed, index, PURPOSE.birth)) / births;
    const createdAt = wholeSeconds(start + part * days * DAY_MS) + 1_000;
    const pace = Math.min(2_000, powerLaw(chance(seed, index, PURPOSE.pace), 0.05, 0.8));
    // Another repository sometimes takes a name that became free.
    const isTaken = chance(seed, index, PURPOSE.reuse) < 0.2 && (freed[0]?.at ?? Infinity) < createdAt;
    const name = isTaken ? freed.shift()?.name : undefined;
    entries.push(entry(options, { index, rates, createdAt, starsAtStart: 0, starsPerDay: pace, name }));
  }
  return entries;
}

/** What is particular to one repository. */
interface Drawn {
  index: number;
  rates: EventRates;
  createdAt: number;
  starsAtStart: number;
  starsPerDay: number;
  /** Default: a name of its own. */
  name?: string | undefined;
}

function entry(
  { seed, start, days, isNested }: Filled,
  { index, rates, createdAt, starsAtStart, starsPerDay, name }: Drawn,
): Entry {
  const id = 1_000 + index * 3 + Math.floor(3 * chance(seed, index, PURPOSE.id));
  const first = firstName(seed, index, isNested);
  const fullName = name ?? `${first.owner}/${first.name}`;
  const from = Math.max(start, createdAt + 1_000);
  const left = Math.max(0, (start - from) / DAY_MS + days);
  const events = scriptOf({ seed, index, id, name: fullName, start: from, days: left, rates });
  if (createdAt >= start) events.unshift({ at: createdAt, kind: "created", id, from: null, to: fullName });
  const growth = { seed, index, createdAt, startDay: Math.floor(start / DAY_MS), starsAtStart, starsPerDay };
  return { id, fullName, growth, isFork: factsOf(seed, index).isFork, events };
}

/** Names that become free permanently, in order of time. */
function freedNames(entries: readonly Entry[]): { at: number; name: string }[] {
  return entries
    .flatMap((entry) =>
      entry.events
        .filter((event) => isFreeing(event, entry.events))
        .map(({ at, from }) => ({ at, name: from ?? nameAt(entry, at) })),
    )
    .sort((a, b) => a.at - b.at);
}

/** Renamed or deleted; restored repositories get their name back and are excluded. */
function isFreeing({ kind }: ScriptEvent, events: readonly ScriptEvent[]): boolean {
  if (kind === "renamed" || kind === "transferred") return true;
  return kind === "deleted" && !events.some((event) => event.kind === "restored");
}

const wholeSeconds = (ms: number) => Math.floor(ms / 1_000) * 1_000;

/** A step that visits `count` indices without repetition, so that popularity does not follow age. */
function stepThrough(count: number): number {
  const divides = (a: number, b: number): boolean => (b === 0 ? a > 1 : divides(b, a % b));
  let step = Math.max(1, Math.floor(count * 0.618));
  while (divides(step, Math.max(1, count))) step++;
  return step;
}
