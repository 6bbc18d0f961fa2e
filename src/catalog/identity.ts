import { sql } from "kysely";
import type { BulkColumns, Dialect, RepositoryTable, Tx } from "../database/database.js";
import { defaultUrl } from "../forges.js";
import type { Observation } from "./observation.js";
import { nameKey } from "./repository.js";

/** A repository while a batch is being recorded: its row, and what has to be written when the batch ends. */
export interface Draft {
  row: RepositoryTable;
  isNew: boolean;
  changed: boolean;
  topicsChanged: boolean;
  /** Something that search looks at has changed. */
  wordsChanged: boolean;
  /** Something that growth and scores look at has changed, other than snapshots. */
  growthChanged: boolean;
  previousNames: Map<string, { fullName: string; until: number }>;
}

const place = (provider: string, key: string): string => `${provider} ${key}`;

/**
 * Finds out which repository each observation of a batch speaks of. In this order: the provider's id; the one that was
 * asked about, if nothing tells otherwise; without an id, a previous name that was in use at the time, when the present holder of the name was not yet known; the present name;
 * else it is a new repository. So an old archive, taken over again after names have changed hands, says the same.
 */
export class Identities {
  readonly #byName = new Map<string, Draft>();
  readonly #byProviderId = new Map<string, Draft>();
  /** The repositories that had a name before, in the order in which they lost it. */
  readonly #byPreviousName = new Map<string, { draft: Draft; until: number }[]>();
  readonly #byId = new Map<number, Draft>();
  readonly drafts: Draft[] = [];

  /** Reads every row the batch could mean. */
  static async load(tx: Tx, dialect: Dialect, batch: readonly Observation[]): Promise<Identities> {
    const identities = new Identities();
    const names = new Map<string, Set<string>>();
    const ids = new Map<string, Set<string>>();
    const add = (map: Map<string, Set<string>>, provider: string, value: string) => {
      const known = map.get(provider);
      if (known === undefined) map.set(provider, new Set([value]));
      else known.add(value);
    };
    const told = new Map<string, number[]>();
    for (const { provider, providerId, owner, name, repositoryId } of batch) {
      add(names, provider, nameKey(owner, name));
      if (providerId !== undefined) add(ids, provider, providerId);
      if (repositoryId !== undefined) told.set(provider, [...(told.get(provider) ?? []), repositoryId]);
    }
    const load = async (
      provider: string,
      column: "name_key" | "provider_id" | "id",
      values: readonly string[] | number[],
    ) => {
      const rows = await tx
        .selectFrom("repositories")
        .select(REPOSITORY_COLUMN_NAMES)
        .where("provider", "=", provider)
        .where(dialect.among(sql.ref(column), values))
        .execute();
      for (const row of rows) if (!identities.#byId.has(row.id)) identities.#keep(draftOf(row, false));
    };
    for (const [provider, values] of told) await load(provider, "id", values);
    for (const [provider, values] of ids) await load(provider, "provider_id", [...values]);
    for (const [provider, values] of names) {
      await load(provider, "name_key", [...values]);
      const previous = await tx
        .selectFrom("previous_names")
        .select(["repository_id", "name_key", "until"])
        .where("provider", "=", provider)
        .where(dialect.among(sql.ref("name_key"), [...values]))
        .execute();
      if (previous.length === 0) continue;
      await load(
        provider,
        "id",
        previous.map((row) => row.repository_id),
      );
      for (const { repository_id, name_key, until } of previous) {
        const draft = identities.#byId.get(repository_id);
        if (draft !== undefined) identities.#addPreviousName(draft, name_key, until);
      }
    }
    return identities;
  }

  /** The draft an observation speaks of, made when there is none. */
  resolve(observation: Observation, now: number): Draft {
    const { provider, providerId, owner, name, at } = observation;
    const key = place(provider, nameKey(owner, name));
    const byProviderId =
      providerId === undefined ? undefined : this.#byProviderId.get(place(provider, providerId));
    if (byProviderId !== undefined) return byProviderId;
    const asked =
      observation.repositoryId === undefined ? undefined : this.#byId.get(observation.repositoryId);
    if (asked !== undefined && (providerId === undefined || asked.row.provider_id === null)) {
      if (providerId !== undefined) this.#adopt(asked, providerId);
      return asked;
    }

    const byName = this.#byName.get(key);
    if (providerId === undefined && at !== null) {
      const earlier = this.#byPreviousName.get(key)?.find(({ until }) => at <= until);
      if (earlier !== undefined && (byName === undefined || at < byName.row.discovered_at))
        return earlier.draft;
    }
    if (byName !== undefined && (providerId === undefined || byName.row.provider_id === null)) {
      if (providerId !== undefined) this.#adopt(byName, providerId);
      return byName;
    }
    const draft = draftOf(newRow(observation, now), true);
    // Another repository had the name until now. An older observation does not take it away again.
    if (byName !== undefined && !this.#release(byName, at)) draft.row.name_key = null;
    this.#keep(draft);
    return draft;
  }

  /** Gives a repository another name, from `at` on. Its present one becomes a previous name. */
  rename(draft: Draft, owner: string, name: string, at: number): void {
    const { row } = draft;
    const newKey = nameKey(owner, name);
    if (newKey !== row.name_key) {
      const holder = this.#byName.get(place(row.provider, newKey));
      const isFree = holder === undefined || this.#release(holder, at);
      if (nameKey(row.owner, row.name) !== newKey)
        this.keepPreviousName(draft, `${row.owner}/${row.name}`, at);
      if (row.name_key !== null) this.#byName.delete(place(row.provider, row.name_key));
      row.name_key = isFree ? newKey : null;
      if (isFree) this.#byName.set(place(row.provider, newKey), draft);
    }
    if (row.url === defaultUrl(row.provider, `${row.owner}/${row.name}`)) {
      row.url = defaultUrl(row.provider, `${owner}/${name}`);
    }
    row.owner = owner;
    row.name = name;
    draft.changed = true;
    draft.wordsChanged = true;
  }

  /** Whether a repository is known to have had this name at a time, and another one since. */
  hadName(draft: Draft, owner: string, name: string, at: number): boolean {
    const known = this.#byPreviousName.get(place(draft.row.provider, nameKey(owner, name))) ?? [];
    return known.some((previous) => previous.draft === draft && at <= previous.until);
  }

  /** Notes a name that a repository had until then. */
  keepPreviousName(draft: Draft, fullName: string, until: number): void {
    const key = fullName.toLowerCase();
    const known = draft.previousNames.get(key);
    if (known !== undefined && known.until >= until) return;
    draft.previousNames.set(key, { fullName, until });
    this.#addPreviousName(draft, key, until);
  }

  #addPreviousName(draft: Draft, key: string, until: number): void {
    const known = this.#byPreviousName.get(place(draft.row.provider, key)) ?? [];
    const others = known.filter((name) => name.draft !== draft || name.until > until);
    this.#byPreviousName.set(
      place(draft.row.provider, key),
      [...others, { draft, until }].sort((a, b) => a.until - b.until),
    );
  }

  #adopt(draft: Draft, providerId: string): void {
    draft.row.provider_id = providerId;
    draft.changed = true;
    this.#byProviderId.set(place(draft.row.provider, providerId), draft);
  }

  /** Takes the name from its holder, unless the holder was seen under it later than `at`, or nobody knows when. */
  #release(holder: Draft, at: number | null): boolean {
    const { row } = holder;
    if (at === null || (row.refreshed_at !== null && at < row.refreshed_at)) return false;
    if (row.name_key !== null) this.#byName.delete(place(row.provider, row.name_key));
    row.name_key = null;
    holder.changed = true;
    return true;
  }

  #keep(draft: Draft): void {
    const { row } = draft;
    this.drafts.push(draft);
    if (!draft.isNew) this.#byId.set(row.id, draft);
    if (row.name_key !== null) this.#byName.set(place(row.provider, row.name_key), draft);
    if (row.provider_id !== null) this.#byProviderId.set(place(row.provider, row.provider_id), draft);
  }
}

/** All columns and their bulk types, in the order in which rows are written. */
export const REPOSITORY_COLUMNS = {
  id: "bigint",
  provider: "text",
  provider_id: "text",
  owner: "text",
  name: "text",
  name_key: "text",
  url: "text",
  description: "text",
  homepage: "text",
  language: "text",
  license: "text",
  topics: "text",
  stars: "bigint",
  forks: "bigint",
  open_issues: "bigint",
  watchers: "bigint",
  fork: "smallint",
  archived: "smallint",
  availability: "text",
  created_at: "bigint",
  pushed_at: "bigint",
  discovered_at: "bigint",
  refreshed_at: "bigint",
  counted_at: "bigint",
  next_refresh_at: "bigint",
  said: "bigint",
} as const satisfies Record<keyof RepositoryTable, BulkColumns[string]>;

export const REPOSITORY_COLUMN_NAMES = Object.keys(REPOSITORY_COLUMNS) as (keyof RepositoryTable)[];

/** What recording writes: when a repository is due is the business of whoever schedules. */
export const RECORDED_COLUMN_NAMES = REPOSITORY_COLUMN_NAMES.filter((name) => name !== "next_refresh_at");
export const RECORDED_COLUMNS: BulkColumns = Object.fromEntries(
  RECORDED_COLUMN_NAMES.map((name) => [name, REPOSITORY_COLUMNS[name]]),
);

function draftOf(row: RepositoryTable, isNew: boolean): Draft {
  return {
    row,
    isNew,
    changed: isNew,
    topicsChanged: false,
    growthChanged: false,
    wordsChanged: isNew,
    previousNames: new Map(),
  };
}

function newRow(
  { provider, providerId, owner, name, at, discoveredAt }: Observation,
  now: number,
): RepositoryTable {
  return {
    id: 0,
    provider,
    provider_id: providerId ?? null,
    owner,
    name,
    name_key: nameKey(owner, name),
    url: defaultUrl(provider, `${owner}/${name}`),
    description: null,
    homepage: null,
    language: null,
    license: null,
    topics: "[]",
    stars: null,
    forks: null,
    open_issues: null,
    watchers: null,
    fork: null,
    archived: null,
    availability: "AVAILABLE",
    created_at: null,
    pushed_at: null,
    discovered_at: discoveredAt ?? at ?? now,
    refreshed_at: null,
    counted_at: null,
    next_refresh_at: null,
    said: 0,
  };
}
