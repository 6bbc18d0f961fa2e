import { sql } from "kysely";
import { defaultUrl } from "../config/config.js";
import type { Dialect, Tx } from "../database/database.js";
import {
  type Draft,
  draftOf,
  hasNewId,
  hasOtherCreation,
  hasSameCreation,
  isAboutLostName,
  isReusedId,
  isReusedName,
  newRow,
  REPOSITORY_COLUMN_NAMES,
  setColumn,
} from "./draft.js";
import { fullNameKey, nameKey, type Observation } from "./repository.js";

const keyOf = (provider: string, key: string): string => `${provider} ${key}`;

/**
 * Finds the repository of each observation in a batch, in this order: by the provider's id, unless name and creation date show that
 * the forge reused it; the requested repository, unless its provider id or creation date differs; without a provider id, by a
 * previous name in use at that time, if the current holder of the name was not known yet; by the current name, unless creation
 * date and size show that the name was reused. Otherwise the repository is new. So importing an old archive again, after names
 * have changed hands, has the same result.
 */
export class Identities {
  readonly #byName = new Map<string, Draft>();
  readonly #byProviderId = new Map<string, Draft>();
  /** Former holders of a name, in the order in which they lost it. */
  readonly #byPreviousName = new Map<string, { draft: Draft; until: number }[]>();
  readonly #byId = new Map<number, Draft>();
  readonly drafts: Draft[] = [];

  /** Loads every row that the batch could be about. */
  static async load(tx: Tx, dialect: Dialect, batch: readonly Observation[]): Promise<Identities> {
    const identities = new Identities();
    const load = async (
      provider: string,
      column: "name_key" | "provider_id" | "id",
      values: readonly string[] | readonly number[],
    ) => {
      if (values.length === 0) return;
      const rows = await tx
        .selectFrom("repositories")
        .select(REPOSITORY_COLUMN_NAMES)
        .where("provider", "=", provider)
        .where(dialect.among(sql.ref(column), values))
        .execute();
      for (const row of rows) if (!identities.#byId.has(row.id)) identities.#index(draftOf(row, false));
    };
    for (const [provider, own] of Map.groupBy(batch, (one) => one.provider)) {
      const requested = own.flatMap(({ repositoryId }) => repositoryId ?? []);
      const ids = new Set(own.flatMap(({ providerId }) => providerId ?? []));
      const names = [...new Set(own.map(({ owner, name }) => nameKey(owner, name)))];
      await load(provider, "id", requested);
      await load(provider, "provider_id", [...ids]);
      await load(provider, "name_key", names);
      const previous = await tx
        .selectFrom("previous_names")
        .select(["repository_id", "name_key", "until"])
        .where("provider", "=", provider)
        .where(dialect.among(sql.ref("name_key"), names))
        .execute();
      const former = previous.map(({ repository_id }) => repository_id);
      await load(provider, "id", former);
      for (const { repository_id, name_key, until } of previous) {
        const draft = identities.#byId.get(repository_id);
        if (draft !== undefined) identities.#indexPreviousName(draft, name_key, until);
      }
    }
    return identities;
  }

  /** The draft of an observation's repository; creates it if the repository is new. */
  resolve(observation: Observation, now: number): Draft {
    const { provider, providerId, owner, name, at } = observation;
    const key = keyOf(provider, nameKey(owner, name));
    const byProviderId =
      providerId === undefined ? undefined : this.#byProviderId.get(keyOf(provider, providerId));
    if (byProviderId !== undefined) {
      const { row } = byProviderId;
      if (!isReusedId(row, observation)) return byProviderId;
      if (at === null || (row.refreshed_at !== null && at < row.refreshed_at)) {
        // An older observation is about the one that had the id before.
        const { providerId: _, ...nameless } = observation;
        return this.resolve(nameless, now);
      }
      this.#loseId(byProviderId);
      // Without its name too, no observation finds it any more.
      if (row.name_key === null) this.#markLost(byProviderId);
    }
    const requested =
      observation.repositoryId === undefined ? undefined : this.#byId.get(observation.repositoryId);
    if (requested !== undefined && this.#mayAdopt(requested, observation))
      return this.#adopt(requested, providerId);

    const byName = this.#byName.get(key);
    // One that has lost its name is not the repository that has it now.
    const isLost = isAboutLostName(observation);
    if (providerId === undefined && (isLost || (byName && isReusedName(byName.row, observation))))
      return this.#resolveReused(observation, byName, now);
    if (providerId === undefined && at !== null && observation.isHolder !== true) {
      const earlier = this.#byPreviousName.get(key)?.find(({ until }) => at <= until);
      if (earlier !== undefined && (byName === undefined || at < byName.row.discovered_at))
        return earlier.draft;
    }
    const isHolder = byName !== undefined && this.#mayAdopt(byName, observation);
    if (byName !== undefined && !isLost && (isHolder || hasNewId(byName.row, observation)))
      return this.#adopt(byName, providerId);
    const draft = draftOf(newRow(observation, now), true);
    // Another repository holds the name. An older observation does not take it over.
    if (isLost || (byName !== undefined && !this.#release(byName, at))) draft.row.name_key = null;
    this.#index(draft);
    return draft;
  }

  /** The draft of an observation about a former holder of its name, or about a new one; neither has an id. */
  #resolveReused(observation: Observation, holder: Draft | undefined, now: number): Draft {
    const { provider, owner, name, at } = observation;
    const key = keyOf(provider, nameKey(owner, name));
    const former = (this.#byPreviousName.get(key) ?? []).filter(({ draft }) => this.hasLostName(draft));
    const known =
      former.find(({ draft }) => hasSameCreation(draft.row, observation)) ??
      former.find(({ draft, until }) => at !== null && at <= until && !isReusedName(draft.row, observation));
    if (known !== undefined) {
      if (at !== null) this.addPreviousName(known.draft, `${owner}/${name}`, at);
      return known.draft;
    }
    const draft = draftOf(newRow(observation, now), true);
    const takesName = !isAboutLostName(observation) && (holder === undefined || this.#release(holder, at));
    if (!takesName) draft.row.name_key = null;
    this.#index(draft);
    if (!takesName) this.#markLost(draft, at ?? now);
    return draft;
  }

  /** Whether a repository without an id has lost its name to another one. */
  hasLostName({ row }: Draft): boolean {
    if (row.name_key !== null || row.provider_id !== null) return false;
    const known = this.#byPreviousName.get(keyOf(row.provider, nameKey(row.owner, row.name))) ?? [];
    return known.some(({ draft }) => draft.row === row);
  }

  /** Notes that a repository was known by its name until this time; another one has the name now. */
  #markLost(draft: Draft, until = draft.row.refreshed_at ?? draft.row.discovered_at): void {
    const { row } = draft;
    this.addPreviousName(draft, `${row.owner}/${row.name}`, until);
    setColumn(draft, "availability", "GONE");
    draft.changed = true;
  }

  /** Renames a repository as of `at`. Its current name becomes a previous name. */
  rename(draft: Draft, { owner, name }: Observation, at: number): void {
    const { row } = draft;
    const newKey = nameKey(owner, name);
    if (newKey !== row.name_key) {
      const holder = this.#byName.get(keyOf(row.provider, newKey));
      const isFree = holder === undefined || this.#release(holder, at);
      if (nameKey(row.owner, row.name) !== newKey)
        this.addPreviousName(draft, `${row.owner}/${row.name}`, at);
      if (row.name_key !== null) this.#byName.delete(keyOf(row.provider, row.name_key));
      row.name_key = isFree ? newKey : null;
      if (isFree) this.#byName.set(keyOf(row.provider, newKey), draft);
    }
    if (row.url === defaultUrl(row.provider, `${row.owner}/${row.name}`))
      row.url = defaultUrl(row.provider, `${owner}/${name}`);
    row.owner = owner;
    row.name = name;
    draft.changed = true;
  }

  /** Whether this was the repository's name at that time, and no longer is. */
  hadName(draft: Draft, { owner, name }: Observation, at: number): boolean {
    const known = this.#byPreviousName.get(keyOf(draft.row.provider, nameKey(owner, name))) ?? [];
    return known.some((previous) => previous.draft === draft && at <= previous.until);
  }

  /** Records a previous name and the last time it was in use. */
  addPreviousName(draft: Draft, fullName: string, until: number): void {
    const key = fullNameKey(fullName);
    const known = draft.previousNames.get(key);
    if (known !== undefined && known.until >= until) return;
    draft.previousNames.set(key, { fullName, until });
    this.#indexPreviousName(draft, key, until);
  }

  #indexPreviousName(draft: Draft, key: string, until: number): void {
    const name = keyOf(draft.row.provider, key);
    const known = this.#byPreviousName.get(name) ?? [];
    const holders = known.filter((one) => one.draft !== draft || one.until > until);
    holders.push({ draft, until });
    // Of two that lost it at the same time, the one that still has a name continues the other.
    const isNameless = (holder: { draft: Draft }) => Number(holder.draft.row.name_key === null);
    this.#byPreviousName.set(
      name,
      holders.sort((a, b) => a.until - b.until || isNameless(a) - isNameless(b)),
    );
  }

  /** Whether the id of an observation, if any, may be that of a repository: it has none, and was not created at another time. */
  #mayAdopt({ row }: Draft, observation: Observation): boolean {
    if (observation.providerId === undefined) return true;
    return row.provider_id === null && !hasOtherCreation(row, observation);
  }

  /** Takes the id of a repository, which the forge has given to another one. */
  #loseId(draft: Draft): void {
    const { row } = draft;
    if (row.provider_id !== null) this.#byProviderId.delete(keyOf(row.provider, row.provider_id));
    row.provider_id = null;
    draft.changed = true;
    draft.hasLostId = true;
  }

  /** Gives the id of an observation, if any, to its repository. */
  #adopt(draft: Draft, providerId: string | undefined): Draft {
    if (providerId === undefined) return draft;
    if (draft.row.provider_id !== null && draft.row.provider_id !== providerId) this.#loseId(draft);
    draft.row.provider_id = providerId;
    draft.changed = true;
    this.#byProviderId.set(keyOf(draft.row.provider, providerId), draft);
    return draft;
  }

  /** Takes the name from its holder, unless the holder was seen under it after `at`, or `at` is unknown. */
  #release(holder: Draft, at: number | null): boolean {
    const { row } = holder;
    if (at === null || (row.refreshed_at !== null && at < row.refreshed_at)) return false;
    if (row.name_key !== null) this.#byName.delete(keyOf(row.provider, row.name_key));
    row.name_key = null;
    holder.changed = true;
    if (row.provider_id === null) this.#markLost(holder);
    return true;
  }

  #index(draft: Draft): void {
    const { row } = draft;
    this.drafts.push(draft);
    if (!draft.isNew) this.#byId.set(row.id, draft);
    if (row.name_key !== null) this.#byName.set(keyOf(row.provider, row.name_key), draft);
    if (row.provider_id !== null) this.#byProviderId.set(keyOf(row.provider, row.provider_id), draft);
  }
}
