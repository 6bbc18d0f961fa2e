/** Reads what filters compare: the facts of repositories, how far their trends can be trusted, and common topics. */
import { sql } from "kysely";
import type { Database } from "../../../database/database.js";
import { WINDOW_HOURS, WINDOWS } from "../../../growth/growth.js";
import { sharedBytes, sharedShorts, sharedWords } from "./encode.js";
import {
  ARCHIVED,
  type Facts,
  FORK,
  type Groups,
  LISTED,
  type Names,
  type Topics,
  TRUST_BITS,
} from "./parts.js";

/** What the index is read from: no writes, and no transaction that lasts longer than one statement. */
export type Source = Pick<Database, "read" | "dialect">;

/** Rows that one statement reads. */
export const ROWS_PER_READ = 50_000;

/** Maximum number of names with a code. There are a few hundred real languages and licenses. */
const MAX_NAMES = 60_000;
/** Maximum number of topics; the most common ones are kept. */
const MAX_TOPICS = 20_000;

/** Numbers names in the order of their first appearance. */
class NameCoder {
  readonly #codes: Uint16Array;
  readonly #known = new Map<string, number>();
  #isComplete = true;

  constructor(slots: number) {
    this.#codes = sharedShorts(slots);
  }

  set(slot: number, name: string | null): void {
    if (name === null) return;
    let code = this.#known.get(name);
    if (code === undefined) {
      if (this.#known.size === MAX_NAMES) this.#isComplete = false;
      if (!this.#isComplete) return;
      code = this.#known.size + 1;
      this.#known.set(name, code);
    }
    this.#codes[slot] = code;
  }

  names(): Names {
    return { codes: this.#codes, names: [...this.#known.keys()], isComplete: this.#isComplete };
  }
}

/** Reads the facts that filters compare, by ranges of ids. */
export async function readFacts({ read, dialect }: Source, slots: number): Promise<Facts> {
  const flags = sharedBytes(slots);
  const providers = new NameCoder(slots);
  const languages = new NameCoder(slots);
  const licenses = new NameCoder(slots);
  const flagsOf = sql`case when availability = 'AVAILABLE' then ${sql.lit(LISTED)} else 0 end
    + case when archived = 1 then ${sql.lit(ARCHIVED)} else 0 end
    + case when fork = 1 then ${sql.lit(FORK)} else 0 end`;
  for (let from = 0; from < slots; from += ROWS_PER_READ) {
    const page = await sql<Record<"ids" | "flags" | "providers" | "languages" | "licenses", string>>`
      select ${dialect.jsonArray(sql`id`)} as ids, ${dialect.jsonArray(flagsOf)} as flags,
        ${dialect.jsonArray(sql`provider`)} as providers, ${dialect.jsonArray(sql`language`)} as languages,
        ${dialect.jsonArray(sql`license`)} as licenses
      from repositories where id >= ${from} and id < ${Math.min(slots, from + ROWS_PER_READ)}`.execute(read);
    const row = page.rows[0];
    if (row === undefined) continue;
    const bits = numbersOf(row.flags);
    const columns = [row.providers, row.languages, row.licenses].map(namesOf);
    for (const [i, id] of numbersOf(row.ids).entries()) {
      flags[id] = bits[i] ?? 0;
      providers.set(id, columns[0]?.[i] ?? null);
      languages.set(id, columns[1]?.[i] ?? null);
      licenses.set(id, columns[2]?.[i] ?? null);
    }
  }
  const isListed = (slot: number) => ((flags[slot] ?? 0) & LISTED) !== 0;
  const named = { providers: providers.names(), languages: languages.names(), licenses: licenses.names() };
  const group = ({ names, codes }: Names, leftOut?: number) =>
    groupSlots(names.length, slots, (slot) => {
      const name = isListed(slot) ? (codes[slot] ?? 0) - 1 : -1;
      return name === leftOut ? -1 : name;
    });
  const leftOut = mostCommon(named.providers);
  return {
    slots,
    flags,
    ...named,
    byProvider: { ...group(named.providers, leftOut), leftOut },
    byLanguage: group(named.languages),
    byLicense: group(named.licenses),
    archived: slotsWith(flags, LISTED | ARCHIVED),
    forks: slotsWith(flags, LISTED | FORK),
  };
}

/** The index of the name that most slots have. */
function mostCommon({ names, codes }: Names): number {
  const counts = new Uint32Array(names.length + 1);
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  let most = 0;
  for (const i of names.keys()) if ((counts[i + 1] ?? 0) > (counts[most + 1] ?? 0)) most = i;
  return most;
}

/** The slots with all bits of a mask. */
function slotsWith(flags: Uint8Array, mask: number): Uint32Array {
  const found = new WordList();
  for (let slot = 0; slot < flags.length; slot++) if (((flags[slot] ?? 0) & mask) === mask) found.push(slot);
  return found.share();
}

/** Groups slots; -1 is the group of those that are left out. */
function groupSlots(groups: number, slots: number, groupOf: (slot: number) => number): Groups {
  const offsets = sharedWords(groups + 1);
  for (let slot = 0; slot < slots; slot++) {
    const group = groupOf(slot);
    if (group >= 0) offsets[group + 1] = (offsets[group + 1] ?? 0) + 1;
  }
  for (let i = 1; i <= groups; i++) offsets[i] = (offsets[i] ?? 0) + (offsets[i - 1] ?? 0);
  const ends = offsets.slice();
  const grouped = sharedWords(offsets[groups] ?? 0);
  for (let slot = 0; slot < slots; slot++) {
    const group = groupOf(slot);
    if (group < 0) continue;
    const end = ends[group] ?? 0;
    grouped[end] = slot;
    ends[group] = end + 1;
  }
  return { offsets, slots: grouped };
}

function namesOf(text: string): (string | null)[] {
  return JSON.parse(text);
}

/** Reads how far the trends can be trusted, by ranges of ids. */
export async function readTrust({ read, dialect }: Source, slots: number): Promise<Uint8Array> {
  const trust = sharedBytes(slots);
  const bits = sql.join(
    WINDOWS.map((window) => {
      const { reliable, clean } = TRUST_BITS[window];
      return sql`when ${sql.lit(WINDOW_HOURS[window])} then case when reliable = 1 then ${sql.lit(reliable)} else 0 end
        + case when anomalous = 0 then ${sql.lit(clean)} else 0 end`;
    }),
    sql` `,
  );
  const step = Math.floor(ROWS_PER_READ / WINDOWS.length);
  for (let from = 0; from < slots; from += step) {
    const page = await sql<{ ids: string; bits: string }>`
      select ${dialect.jsonArray(sql`repository_id`)} as ids, ${dialect.jsonArray(sql`case window_hours ${bits} else 0 end`)} as bits
      from rollups where repository_id >= ${from} and repository_id < ${Math.min(slots, from + step)}`.execute(
      read,
    );
    const values = numbersOf(page.rows[0]?.bits);
    for (const [i, id] of numbersOf(page.rows[0]?.ids).entries())
      trust[id] = (trust[id] ?? 0) | (values[i] ?? 0);
  }
  return trust;
}

/** Reads the repositories of each topic that at least `least` of them have. */
export async function readTopics({ read, dialect }: Source, slots: number, least: number): Promise<Topics> {
  const common = await sql<{ topic: string }>`select topic from repository_topics group by topic
    having count(*) >= ${least} order by count(*) desc, topic limit ${MAX_TOPICS}`.execute(read);
  const names = common.rows.map(({ topic }) => topic);
  const offsets = new WordList();
  const members = new WordList();
  for (const name of names) {
    offsets.push(members.length);
    for (let after = -1, count = ROWS_PER_READ; count === ROWS_PER_READ; ) {
      const page = await sql<{ ids: string }>`select ${dialect.jsonArray(sql`id`)} as ids from (
        select repository_id as id from repository_topics where topic = ${name} and repository_id > ${after}
        order by repository_id limit ${ROWS_PER_READ}) as page`.execute(read);
      const ids = numbersOf(page.rows[0]?.ids);
      for (const id of ids) if (id < slots) members.push(id);
      count = ids.length;
      after = ids.at(-1) ?? after;
    }
  }
  offsets.push(members.length);
  return { names, offsets: offsets.share(), slots: members.share() };
}

/** The numbers of a JSON array that the database has written. */
export function numbersOf(text: string | undefined): number[] {
  return JSON.parse(text ?? "[]");
}

/** A growing list of whole numbers below 2^32. */
class WordList {
  #words = new Uint32Array(1_024);
  length = 0;

  push(value: number): void {
    if (this.length === this.#words.length) {
      const larger = new Uint32Array(Math.ceil(this.length * 1.5));
      larger.set(this.#words);
      this.#words = larger;
    }
    this.#words[this.length++] = value;
  }

  /** A copy in shared memory. */
  share(): Uint32Array {
    const copy = sharedWords(this.length);
    copy.set(this.#words.subarray(0, this.length));
    return copy;
  }
}
