import { sql } from "kysely";
import { DAY_MS } from "../clock.js";
import type { Dialect, RepositoryTable, Tx } from "../database/database.js";
import { defaultUrl } from "../forges.js";
import { type Draft, draftOf, newRow, REPOSITORY_COLUMN_NAMES } from "./draft.js";
import type { Observation } from "./observation.js";
import { type Availability, nameKey } from "./repository.js";

/** What a repository is called. */
type Named = Pick<Observation, "owner" | "name">;

/** Sources round creation dates to days, and some count days since then. */
const SAME_CREATION_MS = 30 * DAY_MS;
/** A forge itself always gives the same date. */
const SAME_MOMENT_MS = 60_000;

/** Whether both were created at the same time, as far as that is known. */
function isSame({ created_at }: RepositoryTable, { facts }: Observation): boolean {
  const { createdAt } = facts;
  if (created_at === null || createdAt === null || createdAt === undefined) return false;
  return Math.abs(created_at - createdAt) <= SAME_CREATION_MS;
}

/**
 * Whether both are known to have been created at different times. Dates of a forge agree to the minute; those of archives do not.
 * A stored date may be an archive's if one has reported the repository: with an id only whole days are, as sources that know ids
 * give exact dates.
 */
function isOther(row: RepositoryTable, { facts: { createdAt }, source }: Observation): boolean {
  if (row.created_at === null || typeof createdAt !== "number") return false;
  const mayBeImported =
    row.import_source !== null && (row.provider_id === null || row.created_at % DAY_MS === 0);
  const toleranceMs = mayBeImported || source !== undefined ? SAME_CREATION_MS : SAME_MOMENT_MS;
  return Math.abs(row.created_at - createdAt) > toleranceMs;
}

/**
 * Whether a forge has given the id of a repository to another one, as it may after it was restored from a backup: name and
 * creation date differ. A rename changes the name alone. After a restored backup the two are often days apart.
 */
function isReusedId(row: RepositoryTable, observation: Observation): boolean {
  const { owner, name, isNameless } = observation;
  return !isNameless && nameKey(owner, name) !== nameKey(row.owner, row.name) && isOther(row, observation);
}

/** Whether a forge lists a repository under a new id: same name and same moment of creation. */
function hasNewId({ created_at }: RepositoryTable, { facts: { createdAt } }: Observation): boolean {
  if (created_at === null || typeof createdAt !== "number") return false;
  return Math.abs(created_at - createdAt) <= SAME_MOMENT_MS;
}

/**
 * Whether an observation without an id is about another repository than the one that has its name: it was created at another time,
 * and has less than half or more than double the stars.
 */
function isReuse(row: RepositoryTable, observation: Observation): boolean {
  const { createdAt, stars } = observation.facts;
  if (row.provider_id !== null || row.created_at === null || row.stars === null) return false;
  if (createdAt === null || createdAt === undefined || stars === null || stars === undefined) return false;
  if (isSame(row, observation)) return false;
  return 2 * stars < row.stars || stars > 2 * row.stars;
}

/** Whether an observation is about a repository that has lost its present name since, as an export writes it. */
export function hasLostName({ owner, name, at, previousNames = [] }: Observation): boolean {
  const key = nameKey(owner, name);
  return (
    at !== null && previousNames.some(({ fullName, until }) => fullName.toLowerCase() === key && until >= at)
  );
}

const keyOf = (provider: string, key: string): string => `${provider} ${key}`;

/**
 * Finds the repository of each observation in a batch, in this order: by the provider's id, unless name and creation date say that
 * the forge reused it; the requested repository, unless its provider id or creation date differs; without a provider id, by a previous name in use at that time, if the current holder of the name was
 * not known yet; by the current name, unless creation date and size say that the name was reused. Otherwise the repository is
 * new. So importing an old archive again, after names have changed hands, has the same result.
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
    const names = new Map<string, Set<string>>();
    const ids = new Map<string, Set<string>>();
    const add = (map: Map<string, Set<string>>, provider: string, value: string) => {
      const known = map.get(provider);
      if (known === undefined) map.set(provider, new Set([value]));
      else known.add(value);
    };
    const requested = new Map<string, number[]>();
    for (const { provider, providerId, owner, name, repositoryId } of batch) {
      add(names, provider, nameKey(owner, name));
      if (providerId !== undefined) add(ids, provider, providerId);
      if (repositoryId !== undefined)
        requested.set(provider, [...(requested.get(provider) ?? []), repositoryId]);
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
      for (const row of rows) if (!identities.#byId.has(row.id)) identities.#index(draftOf(row, false));
    };
    for (const [provider, values] of requested) await load(provider, "id", values);
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
      // Without a name either, nothing reports it any more.
      if (row.name_key === null) this.#markLost(byProviderId);
    }
    const requested =
      observation.repositoryId === undefined ? undefined : this.#byId.get(observation.repositoryId);
    if (requested !== undefined && (providerId === undefined || this.#mayAdopt(requested, observation))) {
      if (providerId !== undefined) this.#adopt(requested, providerId);
      return requested;
    }

    const byName = this.#byName.get(key);
    if (
      providerId === undefined &&
      (hasLostName(observation) || (byName && isReuse(byName.row, observation)))
    )
      return this.#resolveReused(observation, byName, now);
    if (providerId === undefined && at !== null && observation.isHolder !== true) {
      const earlier = this.#byPreviousName.get(key)?.find(({ until }) => at <= until);
      if (earlier !== undefined && (byName === undefined || at < byName.row.discovered_at))
        return earlier.draft;
    }
    // One that has lost its name is not the repository that has it now.
    const isLost = hasLostName(observation);
    const isHolder =
      byName !== undefined && (providerId === undefined || this.#mayAdopt(byName, observation));
    if (byName !== undefined && !isLost && (isHolder || hasNewId(byName.row, observation))) {
      if (providerId !== undefined) this.#adopt(byName, providerId);
      return byName;
    }
    const draft = draftOf(newRow(observation, now), true);
    // Another repository holds the name. An older observation does not take it over.
    if (isLost || (byName !== undefined && !this.#release(byName, at))) draft.row.name_key = null;
    this.#index(draft);
    return draft;
  }

  /** The draft of an observation about another repository than the one that has its name, without an id of either. */
  #resolveReused(observation: Observation, holder: Draft | undefined, now: number): Draft {
    const { provider, owner, name, at } = observation;
    const key = keyOf(provider, nameKey(owner, name));
    const former = (this.#byPreviousName.get(key) ?? []).filter(({ draft }) => this.hasLostName(draft));
    const known =
      former.find(({ draft }) => isSame(draft.row, observation)) ??
      former.find(({ draft, until }) => at !== null && at <= until && !isReuse(draft.row, observation));
    if (known !== undefined) {
      if (at !== null) this.addPreviousName(known.draft, `${owner}/${name}`, at);
      return known.draft;
    }
    const draft = draftOf(newRow(observation, now), true);
    const takesName = !hasLostName(observation) && (holder === undefined || this.#release(holder, at));
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

  /** Notes that a repository was known by its name until then; what is there now is another one. */
  #markLost(draft: Draft, until = draft.row.refreshed_at ?? draft.row.discovered_at): void {
    const { row } = draft;
    this.addPreviousName(draft, `${row.owner}/${row.name}`, until);
    row.availability = "GONE" satisfies Availability;
    draft.changed = true;
    draft.wordsChanged = true;
    draft.growthChanged = true;
  }

  /** Renames a repository as of `at`. Its current name becomes a previous name. */
  rename(draft: Draft, { owner, name }: Named, at: number): void {
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
    if (row.url === defaultUrl(row.provider, `${row.owner}/${row.name}`)) {
      row.url = defaultUrl(row.provider, `${owner}/${name}`);
    }
    row.owner = owner;
    row.name = name;
    draft.changed = true;
    draft.wordsChanged = true;
  }

  /** Whether this was the repository's name at that time, and no longer is. */
  hadName(draft: Draft, { owner, name }: Named, at: number): boolean {
    const known = this.#byPreviousName.get(keyOf(draft.row.provider, nameKey(owner, name))) ?? [];
    return known.some((previous) => previous.draft === draft && at <= previous.until);
  }

  /** Records a previous name and the last time it was in use. */
  addPreviousName(draft: Draft, fullName: string, until: number): void {
    const key = fullName.toLowerCase();
    const known = draft.previousNames.get(key);
    if (known !== undefined && known.until >= until) return;
    draft.previousNames.set(key, { fullName, until });
    this.#indexPreviousName(draft, key, until);
  }

  #indexPreviousName(draft: Draft, key: string, until: number): void {
    const known = this.#byPreviousName.get(keyOf(draft.row.provider, key)) ?? [];
    const others = known.filter((name) => name.draft !== draft || name.until > until);
    this.#byPreviousName.set(
      keyOf(draft.row.provider, key),
      // Of two that lost it at the same time, one that still has a name is where the other continues.
      [...others, { draft, until }].sort(
        (a, b) =>
          a.until - b.until || Number(a.draft.row.name_key === null) - Number(b.draft.row.name_key === null),
      ),
    );
  }

  /** Whether a repository may turn out to have the id of an observation: it has none, and was not created at another time. */
  #mayAdopt({ row }: Draft, observation: Observation): boolean {
    return row.provider_id === null && !isOther(row, observation);
  }

  /** Takes the id of a repository, which the forge has given to another one. */
  #loseId(draft: Draft): void {
    const { row } = draft;
    if (row.provider_id !== null) this.#byProviderId.delete(keyOf(row.provider, row.provider_id));
    row.provider_id = null;
    draft.changed = true;
    draft.hasLostId = true;
  }

  #adopt(draft: Draft, providerId: string): void {
    if (draft.row.provider_id !== null && draft.row.provider_id !== providerId) this.#loseId(draft);
    draft.row.provider_id = providerId;
    draft.changed = true;
    this.#byProviderId.set(keyOf(draft.row.provider, providerId), draft);
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
