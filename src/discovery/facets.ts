/** Languages and topics: how many listed repositories have each, with their stars, and the gains of those whose growth is known. */
import { perWindow, RISING_WINDOWS, WINDOWS, type Window, windowMs } from "../growth/growth.js";
import { DAY_MS } from "../lib/clock.js";
import { median } from "../repositories/repositories.js";
import { type Columns, Names, NO_GAIN } from "./columns.js";
import type { Derived, ReadModel } from "./model.js";
import { SlotSet } from "./slots.js";

export const FACET_KINDS = ["language", "topic"] as const;
export type FacetKind = (typeof FACET_KINDS)[number];
export const FACET_SORTS = ["repository-count", "stars", "stars-gained"] as const;
export type FacetSort = (typeof FACET_SORTS)[number];

/** A language or topic with the totals of its listed repositories. */
export interface Facet {
  name: string;
  repositories: number;
  /** Those read in the 30 days up to the newest reading of any. */
  recent: number;
  stars: number;
  /** In the requested window: what the rows of a list of them show. */
  starsGained: number;
  /** Repositories whose growth in the window is known: the others add nothing to `starsGained`. */
  measured: number;
}

/** The gains of the repositories of a language or topic in one window. */
export type FacetGain = Pick<Facet, "starsGained" | "measured">;

/** A language or topic with its gains in every window. */
export interface FacetTotals extends Omit<Facet, keyof FacetGain> {
  gained: Readonly<Record<Window, FacetGain>>;
}

export interface FacetRequest {
  kind: FacetKind;
  /** Absent: all providers together. */
  provider?: string;
  window: Window;
  sort: FacetSort;
  limit: number;
  offset: number;
}

export interface FacetPage {
  facets: Facet[];
  total: number;
  /** false: there are more than `total`, and no page reaches the others. */
  totalIsExact: boolean;
}

/** Only this many of the most frequent facets are listed, in every order. */
const LISTED = 10_000;

/** Fewer measured repositories say little about a language or topic: it follows those with as many when sorted by gain. */
export const RANKED_FROM = 5;

/** Below this part of its recent repositories, the sum of their gains would mislead. */
const LEAST_COVERAGE = 0.25;

/** Whether enough repositories of a language or topic are measured for the sum of their gains to be shown. */
export function isCovered({ measured }: Pick<FacetGain, "measured">, recent: number): boolean {
  return measured >= LEAST_COVERAGE * recent;
}

/** The counts of each code: repositories, recent ones, stars, and for each window the gain and the measured repositories. */
const PLAIN = 3;
const PER_WINDOW = 2;
const SUMMED = PLAIN + PER_WINDOW * WINDOWS.length;

/** Readings count as recent for as long as the longest window. */
const RECENT_MS = windowMs("30d");

/** Number of those that gained most. */
const GAINING = 100;

/** The most unusual one gained at least this many stars, and times its usual day. */
const LEAD_FROM = 500;
const LEAD_TIMES = 2;

/** All languages or topics, of one provider or of all. */
export class FacetTable {
  readonly #names: Names;
  /** By code and count. */
  readonly #sums: Float64Array;
  readonly total: number;
  /** The most frequent ones, by name if equally frequent. */
  readonly frequent: readonly FacetTotals[];
  /** The names of those in lower case. */
  readonly keys: readonly string[];
  /** Those of all providers that gained many stars, and most times their usual day. */
  readonly hottest: Partial<Record<Window, string>> = {};
  /** Those that gained most stars, by window, the greatest gain first. */
  readonly gaining: Readonly<Record<Window, readonly Facet[]>>;

  constructor(names: Names, sums: Float64Array) {
    this.#names = names;
    this.#sums = sums;
    const counts = Uint32Array.from(names.names, (_, code) => sums[code * SUMMED] ?? 0);
    counts[0] = 0;
    const sorted = counts.toSorted();
    this.total = sorted.reduce((total, count) => total + Number(count > 0), 0);
    // Most topics are rare, and there are very many.
    const least = Math.max(1, sorted.at(-LISTED) ?? 0);
    const listed: FacetTotals[] = [];
    for (let code = 1; code < counts.length; code++)
      if ((counts[code] ?? 0) >= least) listed.push(this.#totalsOf(code));
    this.frequent = listed.sort((a, b) => b.repositories - a.repositories || byName(a, b)).slice(0, LISTED);
    this.keys = this.frequent.map(({ name }) => name.toLowerCase());
    this.gaining = perWindow((window) =>
      this.frequent
        .filter(({ gained }) => gained[window].starsGained > 0)
        .sort(byGain(window))
        .slice(0, GAINING)
        .map((facet) => inWindow(facet, window)),
    );
  }

  #totalsOf(code: number): FacetTotals {
    const own = this.#sums.subarray(code * SUMMED, (code + 1) * SUMMED);
    const [repositories = 0, recent = 0, stars = 0, ...gains] = own;
    const gained = perWindow((window) => {
      const at = WINDOWS.indexOf(window) * PER_WINDOW;
      const [starsGained = 0, measured = 0] = gains.slice(at, at + PER_WINDOW);
      return { starsGained, measured };
    });
    return { name: this.#names.names[code] ?? "", repositories, recent, stars, gained };
  }

  /** The one with this name, ignoring case; undefined if no listed repository has it. */
  named(name: string): FacetTotals | undefined {
    const found = this.#totalsOf(this.#names.codeOf(name));
    return found.repositories > 0 ? found : undefined;
  }
}

/** The tables of a model, each computed when it is first wanted after a change. */
export class Facets {
  readonly #model: ReadModel;
  readonly #tables = new Map<string, Derived<FacetTable>>();

  constructor(model: ReadModel) {
    this.#model = model;
  }

  async of(kind: FacetKind, provider = ""): Promise<FacetTable> {
    const model = this.#model;
    // Nobody can make tables of providers that do not exist.
    if (provider !== "" && model.columns.names.provider.codeOf(provider) === 0) return NOTHING;
    const key = `${kind} ${provider}`;
    let table = this.#tables.get(key);
    if (table === undefined) {
      table = model.derive(() => tableOf(model, kind, provider));
      this.#tables.set(key, table);
    }
    return table.get();
  }

  async page({ kind, provider, window, sort, limit, offset }: FacetRequest): Promise<FacetPage> {
    const { frequent, total } = await this.of(kind, provider);
    const sorted = {
      "repository-count": () => frequent,
      stars: () => frequent.toSorted((a, b) => b.stars - a.stars || byName(a, b)),
      "stars-gained": () => frequent.toSorted(byGain(window)),
    }[sort]();
    return {
      facets: sorted.slice(offset, offset + limit).map((facet) => inWindow(facet, window)),
      total: Math.min(LISTED, total),
      totalIsExact: total <= LISTED,
    };
  }

  /** The days of a language or topic. Costs reading the gains of its repositories, and of a language the codes of all. */
  days(kind: FacetKind, name: string): FacetDays {
    return daysOf(this.#model, kind, name);
  }

  /** The language or topic with this name, ignoring case; undefined if no listed repository has it. */
  async find(kind: FacetKind, name: string): Promise<FacetTotals | undefined> {
    return (await this.of(kind)).named(name);
  }
}

const NOTHING = new FacetTable(new Names(), new Float64Array(SUMMED));

export function inWindow({ gained, ...facet }: FacetTotals, window: Window): Facet {
  return { ...facet, ...gained[window] };
}

const byName = (a: FacetTotals, b: FacetTotals) => (a.name < b.name ? -1 : 1);

/** By gain, the greatest first: those with few measured repositories after all others, and those whose gain is not shown last. */
function byGain(window: Window) {
  const group = ({ gained, recent }: FacetTotals) => {
    const { measured } = gained[window];
    return measured === 0 || !isCovered(gained[window], recent) ? 0 : measured < RANKED_FROM ? 1 : 2;
  };
  return (a: FacetTotals, b: FacetTotals): number =>
    group(b) - group(a) || b.gained[window].starsGained - a.gained[window].starsGained || byName(a, b);
}

/** The stars that the repositories of a language or topic gained in each of 30 days, of all that are known over them. */
export interface FacetDays {
  /** Oldest first, each repository up to its own newest count. */
  gains: readonly number[];
  /** How many repositories are summed. */
  known: number;
}

/**
 * How many times its usual day a language or topic gained in a window: the median of the days before. null: these are too few, or had no
 * gain, or those that are known over them made less than half of the gain.
 */
export function timesOfDays(
  { gains }: FacetDays,
  { window, starsGained }: { window: Window } & Pick<FacetGain, "starsGained">,
): number | null {
  const days = windowMs(window) / DAY_MS;
  const gained = gains.slice(-days).reduce((sum, gain) => sum + gain, 0);
  const usual = 2 * days >= gains.length || 2 * gained < starsGained ? 0 : median(gains.slice(0, -days));
  return usual > 0 ? gained / (days * usual) : null;
}

function* tableOf(model: ReadModel, kind: FacetKind, provider: string): Generator<void, FacetTable> {
  const { columns, topics } = model;
  let set = columns.listed;
  if (provider !== "") {
    const isWanted = (name: string) => name === provider;
    set = new SlotSet(columns.capacity).copy(columns.listed);
    set.keepCodes(columns.named.provider, columns.names.provider.table(isWanted));
  }
  const names = kind === "language" ? columns.names.language : topics.names;
  const sums = yield* sumUp(columns, set, {
    names,
    forEach:
      kind === "topic"
        ? (slot, add) => topics.forEach(slot, add)
        : (slot, add) => {
            const code = columns.named.language[slot] ?? 0;
            if (code > 0) add(code);
          },
  });
  const table = new FacetTable(names, sums);
  for (const window of provider === "" ? RISING_WINDOWS : []) {
    let most = LEAD_TIMES;
    for (const { name, recent, ...gain } of table.gaining[window]) {
      if (gain.starsGained < LEAD_FROM || gain.measured < RANKED_FROM || !isCovered(gain, recent)) continue;
      const times = timesOfDays(daysOf(model, kind, name), { ...gain, window }) ?? 0;
      if (times >= most) table.hottest[window] = name;
      most = Math.max(most, times);
      yield;
    }
  }
  return table;
}

function daysOf({ columns, topics }: ReadModel, kind: FacetKind, name: string): FacetDays {
  const slots: number[] = [];
  const visit = (slot: number) => {
    if (columns.listed.has(slot)) slots.push(slot);
  };
  if (kind === "topic") topics.forEachWith(topics.names.codeOf(name), visit);
  else {
    const code = columns.names.language.codeOf(name);
    for (let slot = 0; slot < columns.size; slot++) if (columns.named.language[slot] === code) visit(slot);
  }
  return columns.days.sum(slots);
}

interface Grouping {
  names: Names;
  /** Calls `add` with each code of a slot. */
  forEach: (slot: number, add: (code: number) => void) => void;
}

function* sumUp(
  { plain, growth }: Columns,
  set: SlotSet,
  { names, forEach }: Grouping,
): Generator<void, Float64Array> {
  const sums = new Float64Array(names.names.length * SUMMED);
  const gains = WINDOWS.map((window) => growth[window]["stars-delta"]);
  const newest = plain.updated.reduce((a, b) => Math.max(a, b), 0);
  const values = new Float64Array(PLAIN + WINDOWS.length);
  const add = (code: number) => {
    const first = code * SUMMED;
    for (let i = 0; i < PLAIN; i++) sums[first + i] = (sums[first + i] ?? 0) + (values[i] ?? 0);
    for (let w = 0; w < WINDOWS.length; w++) {
      const gained = values[PLAIN + w] ?? NO_GAIN;
      if (gained === NO_GAIN) continue;
      const at = first + PLAIN + PER_WINDOW * w;
      sums[at] = (sums[at] ?? 0) + gained;
      sums[at + 1] = (sums[at + 1] ?? 0) + 1;
    }
  };
  const slots = new Uint32Array(BLOCK + 32);
  for (let next = 0; next < set.bits.length; ) {
    const block = set.members(slots, next);
    next = block.next;
    for (let k = 0; k < block.count; k++) {
      const slot = slots[k] ?? 0;
      values[0] = 1;
      values[1] = Number((plain.updated[slot] ?? 0) > newest - RECENT_MS);
      values[2] = Math.max(0, (plain.stars[slot] ?? 0) - 1);
      for (let w = 0; w < gains.length; w++) values[PLAIN + w] = gains[w]?.[slot] ?? NO_GAIN;
      forEach(slot, add);
    }
    yield;
  }
  return sums;
}

const BLOCK = 4_096;
