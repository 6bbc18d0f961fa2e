import { DAY_MS } from "../../../src/lib/clock.js";
import { otherOwner } from "./facts.js";
import { chance } from "./numbers.js";

/**
 * Kinds of events. `renamed` keeps the owner and `transferred` keeps the name; `hidden` makes private and `shown` public
 * again; `blocked` is for legal reasons; `restored` undoes a deletion; `burst` adds many stars and `purged` removes
 * stars in one moment.
 */
export const EVENT_KINDS = [
  "created",
  "renamed",
  "transferred",
  "archived",
  "hidden",
  "shown",
  "blocked",
  "deleted",
  "restored",
  "burst",
  "purged",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** An event of one repository. */
export interface ScriptEvent {
  /** When it takes effect, in ms since 1970. */
  at: number;
  kind: EventKind;
  /** The repository's id. */
  id: number;
  /** Full names for `renamed` and `transferred`, null otherwise. */
  from: string | null;
  /** The new full name for `created`, `renamed` and `transferred`; the number of stars for `burst` and `purged`. */
  to: string | number | null;
}

/** Mean number of events per repository and day. */
export type EventRates = Record<Exclude<EventKind, "shown" | "restored" | "purged">, number>;

export const EVENT_RATES: Readonly<EventRates> = {
  created: 5e-4,
  renamed: 2e-4,
  transferred: 1e-4,
  archived: 1e-4,
  hidden: 1e-4,
  blocked: 2e-5,
  deleted: 2e-4,
  burst: 1e-3,
};

const NONE = { from: null, to: null };

/**
 * The events of one repository from `start` for `days` days, in order of time. At most one per kind, and only a restoration
 * after a deletion. `name`: the initial full name.
 */
export function scriptOf(options: {
  seed: number;
  index: number;
  id: number;
  name: string;
  start: number;
  days: number;
  rates: EventRates;
}): ScriptEvent[] {
  const { seed, index, id, start, days, rates } = options;
  const planned: { at: number; kind: EventKind; to?: number }[] = [];
  const spanMs = days * DAY_MS;
  EVENT_KINDS.forEach((kind, number) => {
    if (kind === "created" || kind === "shown" || kind === "restored" || kind === "purged") return;
    const ask = (purpose: number) => chance(seed, index, 1_000 + number * 10 + purpose);
    if (ask(0) >= 1 - Math.exp(-rates[kind] * days)) return;
    const at = start + Math.floor(ask(1) * spanMs);
    const later = at + Math.floor(DAY_MS * (0.5 + 9 * ask(2)));
    const stars = 20 + Math.floor(3_000 * ask(4) ** 4);
    planned.push(kind === "burst" ? { at, kind, to: stars } : { at, kind });
    if (kind === "hidden" && ask(3) < 0.5) planned.push({ at: later, kind: "shown" });
    if (kind === "deleted" && ask(3) < 0.2) planned.push({ at: later, kind: "restored" });
    if (kind === "burst" && ask(3) < 0.3) {
      planned.push({ at: later, kind: "purged", to: Math.ceil(stars * (0.2 + 0.8 * ask(5))) });
    }
  });
  planned.sort((a, b) => a.at - b.at);
  const events: ScriptEvent[] = [];
  let fullName = options.name;
  let isDeleted = false;
  for (const { at, kind, to } of planned) {
    if (isDeleted && kind !== "restored") continue;
    isDeleted = kind === "deleted";
    const slash = fullName.lastIndexOf("/");
    if (kind === "renamed" || kind === "transferred") {
      const next =
        kind === "renamed"
          ? `${fullName.slice(0, slash)}/renamed-${id}`
          : `${otherOwner(seed, index)}${fullName.slice(slash)}`;
      events.push({ at, kind, id, from: fullName, to: next });
      fullName = next;
    } else events.push({ at, kind, id, ...NONE, ...(to === undefined ? {} : { to }) });
  }
  return events;
}
