import type { Clock } from "../../clock.js";
import type { Database, Tx } from "../../database/database.js";
import { withdrawContradicted } from "./contradictions.js";
import { type Candidate, chooseRenames, Endings } from "./match.js";
import { readPaces, selectNames, withFirstCounts } from "./names.js";
import { suspectReturns } from "./returns.js";
import { MAX_FILES_APART, readSequence, type Step, setSeen } from "./sequence.js";
import { type RenameReport, readHeld, replaceSuspicions, type Suspicion } from "./store.js";

/**
 * Suspects names that end where others begin, in archives without ids, and withdraws suspicions that newer files contradict.
 * Looks at the files that were imported since the last detection, one transaction per file; the cost follows the names that
 * begin or end there. May be killed: the next detection then looks at the same files.
 */
export async function detectRenames(database: Database, clock: Clock): Promise<RenameReport> {
  const { write, dialect } = database;
  const report: RenameReport = { suspected: 0, withdrawn: 0 };
  const sources = await write.selectFrom("import_files").select("source").distinct().execute();
  if (sources.length === 0) return report;
  const inTurn = async (work: (tx: Tx) => Promise<RenameReport>) => {
    const { suspected, withdrawn } = await dialect.exclusively(write, "catalogue", work);
    report.suspected += suspected;
    report.withdrawn += withdrawn;
  };
  await inTurn((tx) => withdrawContradicted(tx, dialect));
  for (const { source } of sources) {
    const files = await readSequence(write, source);
    if (files === undefined) continue;
    const step = { now: clock.now(), source, times: files.times };
    for (let index = files.from; index <= files.to; index++)
      await inTurn((tx) => detectAt(tx, database, { ...step, index }));
    await inTurn((tx) => suspectReturns(tx, dialect, { ...step, index: files.from }));
    await dialect.exclusively(write, "catalogue", (tx) => setSeen(tx, source, files.importedAt));
  }
  return report;
}

/** Brings the suspicions about the names that begin in one file up to date. */
async function detectAt(
  tx: Tx,
  { dialect }: Pick<Database, "dialect">,
  { now, source, times, index }: Step,
): Promise<RenameReport> {
  const [before = 0, at = 0] = times.slice(index - 1, index + 1);
  const span = { from: before + 1, until: at };
  const begun = await selectNames(tx, dialect, { source, first: span });
  if (begun.length === 0) return { suspected: 0, withdrawn: 0 };
  const last = { from: times[Math.max(0, index - MAX_FILES_APART)] ?? 0, until: at - 1 };
  const descriptions = begun.flatMap(({ description }) => description ?? []);
  const ended = [
    ...(await selectNames(tx, dialect, { source, last, withoutId: true })),
    // Renamed while the lists of this file were fetched.
    ...(await selectNames(tx, dialect, {
      source,
      last: { from: at, until: at },
      withoutId: true,
      alike: { descriptions },
    })),
  ];
  const held = await readHeld(tx, dialect, { begun, ended });
  const endings = new Endings(ended.filter(({ id }) => !held.isTaken(id)));
  const names = begun.filter((name) => !held.isDecided(name.id) && endings.hasLike(name));
  const beginnings = await withFirstCounts(tx, dialect, { names, span });
  const candidates = beginnings
    .flatMap((beginning) => endings.candidatesOf(beginning))
    .filter(({ from, to }) => !held.isRejected({ fromId: from.id, toId: to.id }));
  const endingsFound = candidates.map(({ from }) => from);
  const chosen = chooseRenames(candidates, await readPaces(tx, dialect, endingsFound));
  const found = chosen.map((candidate) => suspicionOf(candidate, source));
  return replaceSuspicions(tx, dialect, { now, held: held.suspicions, found });
}

function suspicionOf({ from, to, likeness }: Candidate, source: string): Suspicion {
  const evidence = { source, from: from.last, to: to.first, ...likeness, isReturn: false };
  return { fromId: from.id, toId: to.id, evidence };
}
