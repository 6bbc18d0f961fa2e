import { DAY_MS } from "../../clock.js";
import type { Dialect, Tx } from "../../database/database.js";
import type { Readings } from "../snapshots/snapshots.js";
import { continues } from "./continuity.js";
import { type Candidate, chooseRenames, Endings } from "./match.js";
import { countsAt, readInChunks, selectNames } from "./names.js";
import { MAX_FILES_APART, type Step } from "./sequence.js";
import { type RenameReport, readHeld, replaceSuspicions, type Suspicion } from "./store.js";

/** Longer, a name is not taken for one that was given up again. */
const MAX_DAYS = 30;

/**
 * Suspects names that were in use for a short time and given up for the name before: that one pauses exactly while they are
 * there. Looks at names that ended in the files from `index` on, and reads the names of the archive once if there are any.
 */
export async function suspectReturns(tx: Tx, dialect: Dialect, step: Step): Promise<RenameReport> {
  const { now, source, times, index } = step;
  const newest = times.at(-1) ?? 0;
  const last = { from: times[index - 1] ?? newest, until: newest - 1 };
  const first = { from: (times[0] ?? 0) + 1, until: newest };
  const ended = (await selectNames(tx, dialect, { source, first, last, withoutId: true })).filter(
    (name) => name.last.at - name.firstAt <= MAX_DAYS * DAY_MS,
  );
  if (ended.length === 0) return { suspected: 0, withdrawn: 0 };
  const older = await selectNames(tx, dialect, {
    source,
    last: { from: last.from + 1, until: newest },
    alike: {
      descriptions: ended.flatMap(({ description }) => description ?? []),
      names: ended.map(({ name }) => name.toLowerCase()),
    },
  });
  const held = await readHeld(tx, dialect, { begun: older, ended });
  const renamed = held.suspicions.filter(({ evidence }) => !evidence.isReturn);
  const isRenamed = (id: number) => held.isTaken(id) || renamed.some(({ fromId }) => fromId === id);
  const endings = new Endings(ended.filter(({ id }) => !isRenamed(id)));
  const pairs = older
    .flatMap((name) => endings.candidatesOf({ ...name, first: name.last }).map((pair) => ({ ...pair, name })))
    .filter(
      ({ from, to, name }) =>
        name.firstAt < from.firstAt && !held.isRejected({ fromId: from.id, toId: to.id }),
    );
  const span = { from: last.from - (MAX_DAYS + MAX_FILES_APART) * DAY_MS };
  const ids = pairs.flatMap(({ from, to }) => [from.id, to.id]);
  const readings = await readInChunks(tx, dialect, { ids, span });
  const returned = pairs.flatMap((pair) => returnOf(pair, { readings, times }) ?? []);
  const found = chooseRenames(returned, new Map()).map(
    ({ from, to, likeness }): Suspicion => ({
      fromId: from.id,
      toId: to.id,
      evidence: { source, from: from.last, to: to.first, ...likeness, isReturn: true },
    }),
  );
  return replaceSuspicions(tx, dialect, {
    now,
    held: held.suspicions.filter(({ evidence }) => evidence.isReturn),
    found,
  });
}

/** The pair with the counts under the older name after the shorter-lived one, if that fills a pause of the older name. */
function returnOf(
  { from, to, likeness }: Candidate,
  { readings, times }: { readings: ReadonlyMap<number, Readings>; times: readonly number[] },
): Candidate | undefined {
  const [own, other] = [readings.get(to.id), readings.get(from.id)];
  if (own === undefined || other === undefined) return undefined;
  const next = own.countBefore(from.last.at + 1);
  const [before, after] = [countsAt(own, next - 1), countsAt(own, next)];
  const first = countsAt(other, other.countBefore(from.firstAt));
  if (before === undefined || after === undefined || first === undefined) return undefined;
  const filesUntil = (at: number) => times.findLastIndex((time) => time <= at);
  const areClose = (earlier: number, later: number) =>
    earlier <= later && filesUntil(later) - filesUntil(earlier) <= MAX_FILES_APART;
  if (!areClose(before.at, first.at) || !areClose(from.last.at, after.at)) return undefined;
  if (!continues({ ...before, starsPerDay: 0 }, first, likeness)) return undefined;
  return { from, to: { ...to, first: after }, likeness };
}
