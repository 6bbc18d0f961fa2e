/** Measures the delay until the catalogue shows a change on a forge. */
import { sql } from "kysely";
import type { Database } from "../src/database/database.js";
import { WEEK_MS } from "../src/lib/clock.js";
import type { EventKind, Forge, ForgeRepository, ScriptEvent } from "../test/support/forge/forge.js";

/** Kinds of events visible in the catalogue; bursts and purges only change counts. */
const SEEN_KINDS: readonly EventKind[] = [
  "created",
  "renamed",
  "transferred",
  "archived",
  "hidden",
  "shown",
  "blocked",
  "deleted",
  "restored",
];

interface Row {
  provider_id: string;
  owner: string;
  name: string;
  archived: number | null;
  availability: string;
}

interface Pending {
  event: ScriptEvent;
  /** Time of a later event in the same respect, which hides this one. */
  overtakenAt: number;
}

/** Watches the events of one forge. */
export class EventWatch {
  /** Delays in ms, by kind. */
  readonly delays = new Map<EventKind, number[]>();
  /** Number of events undone or replaced before they were visible. */
  overtaken = 0;
  readonly #provider: string;
  readonly #coming: Pending[];
  #pending: Pending[] = [];

  constructor(provider: string, { catalogue }: Forge) {
    this.#provider = provider;
    const events = catalogue.events().filter(({ kind }) => SEEN_KINDS.includes(kind));
    const next = new Map<string, number>();
    this.#coming = events
      .toReversed()
      .map((event) => {
        const key = `${event.id} ${respectOf(event.kind)}`;
        const overtakenAt = next.get(key) ?? Number.POSITIVE_INFINITY;
        if (event.kind !== "created") next.set(key, event.at);
        return { event, overtakenAt };
      })
      .reverse()
      .filter(({ event: { id, kind, at } }) =>
        isVisible(kind, catalogue.get(id, at - 1), catalogue.get(id, at)),
      );
  }

  /** Records the events that are visible now. */
  async check({ read, dialect }: Database, now: number): Promise<void> {
    while ((this.#coming[0]?.event.at ?? Number.POSITIVE_INFINITY) <= now) {
      const first = this.#coming.shift();
      if (first !== undefined) this.#pending.push(first);
    }
    if (this.#pending.length === 0) return;
    const ids = [...new Set(this.#pending.map(({ event }) => String(event.id)))];
    const { rows } = await sql<Row>`select provider_id, owner, name, archived, availability from repositories
      where provider = ${this.#provider} and ${dialect.among(sql.ref("provider_id"), ids)}`.execute(read);
    const known = new Map(rows.map((row) => [row.provider_id, row]));
    this.#pending = this.#pending.filter(({ event, overtakenAt }) => {
      if (isShown(event, known.get(String(event.id)))) {
        const delays = this.delays.get(event.kind) ?? [];
        delays.push(now - event.at);
        this.delays.set(event.kind, delays);
        return false;
      }
      if (overtakenAt > now) return true;
      this.overtaken++;
      return false;
    });
  }

  /** Events older than a week that are not visible. */
  late(now: number): ScriptEvent[] {
    return this.#pending.filter(({ event }) => event.at < now - WEEK_MS).map(({ event }) => event);
  }
}

function respectOf(kind: EventKind): string {
  if (kind === "renamed" || kind === "transferred") return "name";
  return kind === "archived" || kind === "created" ? kind : "visibility";
}

/** Whether an event is visible from outside: the repository is neither hidden nor was created hidden. */
function isVisible(
  kind: EventKind,
  before: ForgeRepository | undefined,
  after: ForgeRepository | undefined,
): boolean {
  const [was, is] = [before?.visibility === "public", after?.visibility === "public"];
  if (kind === "created") return is;
  return respectOf(kind) === "visibility" ? was !== is : was && is;
}

function isShown({ kind, to }: ScriptEvent, row: Row | undefined): boolean {
  if (row === undefined) return false;
  const isAvailable = row.availability === "AVAILABLE";
  switch (kind) {
    case "created":
      return true;
    case "renamed":
    case "transferred":
      return `${row.owner}/${row.name}` === to;
    case "archived":
      return row.archived === 1;
    case "shown":
    case "restored":
      return isAvailable;
    default:
      return !isAvailable;
  }
}
