import { sql } from "kysely";
import {
  type BulkRow,
  type Database,
  type Db,
  type Dialect,
  readMark,
  type Tx,
} from "../database/database.js";
import { AppError } from "../lib/errors.js";
import { markOutdated, NEXT_REVISION, noteChanges } from "./changes.js";
import {
  bitOf,
  COUNTS,
  columnValue,
  type Draft,
  FACTS,
  isAboutLostName,
  isCount,
  packFactTimes,
  RECORDED,
  RECORDED_COLUMN_NAMES,
  setColumn,
} from "./draft.js";
import { endHiding, HidingRules, hideIds } from "./hiding.js";
import { Identities } from "./identity.js";
import { type Differing, type ImportRun, type Mention, noteReadings } from "./imports.js";
import {
  FACT_COLUMNS,
  type Facts,
  fullNameKey,
  nameKey,
  type Observation,
  type Recorded,
  type Snapshot,
} from "./repository.js";
import { removeSample } from "./sample.js";
import { numbersOf, readingsOf } from "./snapshots/readings.js";
import { appendSnapshots, type SnapshotsOf } from "./snapshots/snapshots.js";

/** The result of recording a batch, with the repository of each observation; undefined: it is hidden, and nothing is recorded. */
export interface RecordedBatch extends Recorded {
  repositoryIds: readonly (number | undefined)[];
  differing: readonly Differing[];
}

interface RecordOptions {
  dialect: Dialect;
  now: number;
  /** The import that the batch is a part of, which lists it. */
  run?: ImportRun | undefined;
}

/**
 * Records a batch in the caller's transaction, which must hold the catalogue exclusively. Each fact keeps the value of the newest
 * source that reports it; a source without a time only fills facts that no other has reported. Facts without stars, or with unknown ones, leave the
 * counts to the newest snapshot that has them. Snapshots are appended; one with the same repository and time never changes. So recording a batch twice, or in another
 * order, gives the same snapshots; only an import may replace those of others, see `noteReadings`. The sample, if there is one, is removed
 * first. Nothing is recorded about hidden repositories, and a new one that a rule hides is not added; a known one that takes such a name is
 * hidden.
 */
export async function record(
  tx: Tx,
  batch: readonly Observation[],
  { dialect, now, run }: RecordOptions,
): Promise<RecordedBatch> {
  const none = { repositoriesAdded: 0, repositoriesChanged: 0, snapshotsAdded: 0 };
  if (batch.length === 0) return { ...none, repositoryIds: [], differing: [] };
  await withoutSample(tx, { dialect, now });
  await endHiding(tx, dialect, now);
  const rules = await HidingRules.read(tx, now);
  const identities = await Identities.load(tx, dialect, batch);
  const owners: Draft[] = [];
  const hidden = new Set<Draft>();
  const mentions: Mention[] = [];
  for (const observation of batch) {
    const draft = identities.resolve(observation, now);
    owners.push(draft);
    const isLeftOut = draft.isNew && rules.of(observation).length > 0;
    if (draft.row.availability === "HIDDEN" || isLeftOut) hidden.add(draft);
    if (hidden.has(draft)) continue;
    const { counted_at: before } = draft.row;
    apply(identities, draft, observation);
    if (run === undefined) continue;
    const { counted_at: after } = draft.row;
    mentions.push({ draft, at: observation.at ?? now, isCounted: false });
    if (after !== null && after !== before) mentions.push({ draft, at: after, isCounted: true });
  }
  const drafts = identities.drafts.filter((draft) => !draft.isNew || !hidden.has(draft));
  const changed = drafts.filter((draft) => draft.changed);
  await assignIds(tx, dialect, drafts, preferredIds(batch, owners));
  await writeRepositories(tx, dialect, changed);
  const namesWritten = await writePreviousNames(tx, drafts);
  const given = snapshotsOf(batch, owners, hidden);
  const appended = await appendSnapshots(tx, dialect, given);
  const differing =
    run === undefined ? [] : await noteReadings(tx, dialect, run, { given, mentions, added: appended.added });
  const replaced = differing.filter(({ isReplaced }) => isReplaced).map(({ repositoryId }) => repositoryId);
  const counted = new Set([...appended.added.keys(), ...replaced]);
  const idsOf = (drafts: readonly Draft[]) => drafts.map((draft) => draft.row.id);
  await markOutdated(tx, dialect, {
    rollups: [...counted, ...idsOf(changed.filter((draft) => draft.growthChanged))],
  });
  if (changed.length > 0 || counted.size > 0 || namesWritten > 0)
    await noteChanges(tx, dialect, [...counted, ...idsOf(changed)]);
  await hideRenamed(tx, dialect, { changed, rules, now });
  const added = changed.filter((draft) => draft.isNew).length;
  return {
    repositoriesAdded: added,
    repositoriesChanged: changed.length - added,
    snapshotsAdded: appended.snapshots,
    repositoryIds: owners.map((draft) => (hidden.has(draft) ? undefined : draft.row.id)),
    differing,
  };
}

/** Hides those that have taken a name that a rule is about. */
async function hideRenamed(
  tx: Tx,
  dialect: Dialect,
  { changed, rules, now }: { changed: readonly Draft[]; rules: HidingRules; now: number },
): Promise<void> {
  const shown = changed.filter(({ row }) => row.availability !== "HIDDEN");
  const byRule = Map.groupBy(
    shown.flatMap(({ row }) => rules.of(row).map((ruleId) => ({ ruleId, id: row.id }))),
    ({ ruleId }) => ruleId,
  );
  for (const [ruleId, own] of byRule)
    await hideIds(tx, dialect, { ruleId, ids: own.map(({ id }) => id), now });
}

/** Records the sample in one transaction. Returns false, and records nothing, if the catalogue is not empty. */
export async function recordSample(
  { dialect, write }: Database,
  sample: readonly Observation[],
  now: number,
): Promise<boolean> {
  return dialect.exclusively(write, "catalogue", async (tx) => {
    if (!(await isEmpty(tx)) || (await readKind(tx)) !== "real") return false;
    await record(tx, sample, { dialect, now });
    await setKind(tx, "sample");
    return true;
  });
}

/**
 * Origin of a catalogue's data. `real`: recorded or imported. `sample`: the bundled sample of real history.
 * `synthetic`: generated for benchmarks and tests; never mixed with real repositories.
 */
export const CATALOGUE_KINDS = ["real", "sample", "synthetic"] as const;
export type CatalogueKind = (typeof CATALOGUE_KINDS)[number];

/** Name of the mark that holds the kind; a catalogue without one is real. */
const MARK = "catalogue";

export async function readKind(db: Db): Promise<CatalogueKind> {
  const mark = await readMark(db, MARK);
  return CATALOGUE_KINDS.find((kind) => kind === mark) ?? "real";
}

async function setKind(db: Db, kind: CatalogueKind): Promise<void> {
  await db.deleteFrom("marks").where("name", "=", MARK).execute();
  if (kind !== "real") await db.insertInto("marks").values({ name: MARK, value: kind }).execute();
}

/** Whether no repository is stored. */
export async function isEmpty(db: Db): Promise<boolean> {
  const first = await db.selectFrom("repositories").select("id").limit(1).executeTakeFirst();
  return first === undefined;
}

/** See `Catalog.markSynthetic`. */
export async function markSynthetic({ read, write }: Database): Promise<void> {
  if ((await readKind(read)) === "synthetic") return;
  if (!(await isEmpty(read)))
    throw new AppError("CONFLICT", "The catalogue holds real repositories; synthetic ones are not mixed in.");
  await setKind(write, "synthetic");
}

/** See `Catalog.keepSample`. */
export async function keepSample(tx: Tx): Promise<void> {
  if ((await readKind(tx)) === "sample") await setKind(tx, "real");
}

/** Removes the sample, if the catalogue holds it; see `removeSample`. */
export async function withoutSample(
  tx: Tx,
  { dialect, now }: { dialect: Dialect; now: number },
): Promise<void> {
  if ((await readKind(tx)) !== "sample") return;
  await removeSample(tx, dialect, now);
  await setKind(tx, "real");
}

function apply(identities: Identities, draft: Draft, observation: Observation): void {
  const { row } = draft;
  const { at, facts, factTimes } = observation;
  const timeOf = (fact: keyof Facts) => {
    const own = factTimes?.[fact];
    return own === undefined ? at : own;
  };
  const newest = at !== null && (row.refreshed_at === null || at > row.refreshed_at);
  const isCounted = typeof facts.stars === "number";
  const countedAt = isCounted ? timeOf("stars") : null;
  const countsAreNewest = countedAt !== null && (row.counted_at === null || countedAt > row.counted_at);
  for (const fact of FACTS) {
    // A source without stars does not know other counts either, unless it has them.
    const isUnknown = isCount(fact) && !isCounted && typeof facts[fact] !== "number";
    setFact(draft, fact, facts[fact], isUnknown ? null : timeOf(fact));
  }
  // Before `counted_at` changes. Later observations of a forge leave it alone.
  if (observation.source !== undefined && (countsAreNewest || row.import_source === null))
    setColumn(draft, "import_source", observation.source);
  // The repository that had the name then is gone.
  if (identities.hasLostName(draft)) setColumn(draft, "availability", "GONE");
  if (!isCounted && observation.isDoubted !== true) {
    for (const snapshot of observation.snapshots) {
      // A star history lacks stars that were withdrawn.
      if (snapshot.source === "BACKFILLED") continue;
      for (const count of COUNTS) setFact(draft, count, snapshot[count] ?? undefined, snapshot.capturedAt);
    }
  }
  const { owner, name } = observation;
  if (newest) {
    row.refreshed_at = at;
    draft.changed = true;
    const hasThisName = row.owner === owner && row.name === name && row.name_key !== null;
    const isOldName = isAboutLostName(observation) || identities.hadName(draft, observation, at);
    if (!observation.isNameless && !hasThisName && !isOldName) identities.rename(draft, observation, at);
  } else if (
    !observation.isNameless &&
    at !== null &&
    nameKey(owner, name) !== nameKey(row.owner, row.name)
  ) {
    identities.addPreviousName(draft, `${owner}/${name}`, at);
  }
  for (const { fullName, until } of observation.previousNames ?? []) {
    // With an id, a name that it has lost does not lead to it, so it is no previous name.
    const isOwn = row.provider_id !== null && fullNameKey(fullName) === nameKey(row.owner, row.name);
    if (!isOwn) identities.addPreviousName(draft, fullName, until);
  }
  const first = firstKnown(observation.snapshots) ?? at;
  const discoveredAt = Math.min(observation.discoveredAt ?? row.discovered_at, first ?? row.discovered_at);
  if (discoveredAt < row.discovered_at) {
    row.discovered_at = discoveredAt;
    draft.changed = true;
  }
}

/** Sets a fact that was reported, unless another source reported it later. Without a time it only fills a fact that no source has reported yet. */
function setFact<F extends keyof Facts>(draft: Draft, fact: F, value: Facts[F], at: number | null): void {
  if (value === undefined) return;
  const bit = bitOf(fact);
  const isKnown = (draft.row.known_facts & bit) !== 0;
  const knownAt = draft.factTimes[fact] ?? null;
  const isNewer = at !== null && (knownAt === null || at > knownAt);
  if (isKnown && !isNewer) return;
  draft.changed = true;
  draft.row.known_facts |= bit;
  draft.factTimes[fact] = at;
  if (fact === "stars" && isNewer) draft.row.counted_at = at;
  setColumn(draft, FACT_COLUMNS[fact], columnValue(value));
}

/** Time of the first snapshot that was not reported later by the forge. */
function firstKnown(snapshots: Iterable<Snapshot>): number | undefined {
  for (const { capturedAt, source } of snapshots) if (source !== "BACKFILLED") return capturedAt;
  return undefined;
}

/** The snapshots of each draft that is not hidden. Of two at the same time, that of the earlier observation counts. */
function snapshotsOf(
  batch: readonly Observation[],
  owners: readonly Draft[],
  hidden: ReadonlySet<Draft>,
): SnapshotsOf[] {
  const byDraft = Map.groupBy(owners.entries(), ([, draft]) => draft);
  for (const draft of hidden) byDraft.delete(draft);
  return [...byDraft].map(([{ row }, own]) => ({
    repositoryId: row.id,
    provider: row.provider,
    readings: readingsOf(own.flatMap(([i]) => Array.from(batch[i]?.snapshots ?? [], numbersOf))),
  }));
}

function preferredIds(batch: readonly Observation[], owners: readonly Draft[]): Map<Draft, number> {
  const preferred = new Map<Draft, number>();
  for (const [i, { preferredId }] of batch.entries()) {
    const draft = owners[i];
    if (draft?.isNew && preferredId !== undefined && !preferred.has(draft)) preferred.set(draft, preferredId);
  }
  return preferred;
}

async function assignIds(
  tx: Tx,
  dialect: Dialect,
  drafts: readonly Draft[],
  preferred: ReadonlyMap<Draft, number>,
): Promise<void> {
  const taken = new Set<number>();
  if (preferred.size > 0) {
    const ids = [...preferred.values()];
    const rows = await tx
      .selectFrom("repositories")
      .select("id")
      .where(dialect.among(sql.ref("id"), ids))
      .execute();
    for (const { id } of rows) taken.add(id);
  }
  const waiting: Draft[] = [];
  let highest = 0;
  for (const draft of drafts) {
    if (!draft.isNew) continue;
    const id = preferred.get(draft);
    if (id === undefined || taken.has(id)) {
      waiting.push(draft);
      continue;
    }
    taken.add(id);
    draft.row.id = id;
    highest = Math.max(highest, id);
  }
  if (highest > 0) await dialect.reserveId(tx, highest);
  if (waiting.length === 0) return;
  const ids = await dialect.allocateIds(tx, waiting.length, highest);
  for (const [i, draft] of waiting.entries()) draft.row.id = ids[i] ?? 0;
}

async function writeRepositories(tx: Tx, dialect: Dialect, drafts: readonly Draft[]): Promise<void> {
  if (drafts.length === 0) return;
  // Names and ids can change hands within one batch, so release all of them before any is taken over.
  const release = async (column: "name_key" | "provider_id", isReleased: (draft: Draft) => boolean) => {
    const ids = drafts.filter((draft) => !draft.isNew && isReleased(draft)).map(({ row }) => row.id);
    if (ids.length === 0) return;
    await sql`update repositories set ${sql.ref(column)} = null
      where ${dialect.among(sql.ref("id"), ids)}`.execute(tx);
  };
  await release("name_key", ({ row, previousNames }) => previousNames.size > 0 || row.name_key === null);
  await release("provider_id", ({ hasLostId }) => hasLostId);
  for (const draft of drafts) packFactTimes(draft);
  const rows = drafts.map(({ row }): BulkRow => RECORDED_COLUMN_NAMES.map((column) => row[column]));
  await dialect.upsert(tx, RECORDED, rows);
}

/** Writes previous names, except one that the repository has again. Returns how many changed. */
async function writePreviousNames(tx: Tx, drafts: readonly Draft[]): Promise<number> {
  let written = 0n;
  for (const { row, previousNames } of drafts) {
    if (previousNames.size === 0) continue;
    // Without an id, a repository that has lost its name keeps it as a previous one.
    const own = row.name_key ?? (row.provider_id === null ? null : nameKey(row.owner, row.name));
    await sql`delete from previous_names where repository_id = ${row.id} and name_key = ${own}`.execute(tx);
    for (const [key, { fullName, until }] of previousNames) {
      if (key === own) continue;
      const result =
        await sql`insert into previous_names (repository_id, provider, name_key, full_name, until, revision)
        values (${row.id}, ${row.provider}, ${key}, ${fullName}, ${until}, ${NEXT_REVISION})
        on conflict (repository_id, name_key) do update set full_name = excluded.full_name, until = excluded.until,
          revision = excluded.revision
        where excluded.until > previous_names.until`.execute(tx);
      written += result.numAffectedRows ?? 0n;
    }
  }
  return Number(written);
}
