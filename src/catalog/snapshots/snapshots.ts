/**
 * The snapshots of all repositories. Each repository has blocks of consecutive snapshots, encoded in a few bytes each, and a
 * tail of at most a few later ones in rows. This folder is the only code that reads or writes either table. It guarantees one
 * snapshot per repository and time, that the first one stays, and that the counts per hour match. What an observation means is
 * up to `record.ts`.
 */
export { type Appended, appendSnapshots, type SnapshotsOf } from "./append.js";
export { HistoryCheck, type HistoryDamage } from "./check.js";
export { DamagedBlock } from "./codec.js";
export { newestSnapshots, snapshotTimes } from "./hours.js";
export { packTails } from "./pack.js";
export { rangeColumn, rangeOf, readSnapshotRanges, type SnapshotRange } from "./ranges.js";
export { type ReadingsOptions, readReadings, type Span } from "./read.js";
export { SnapshotReader } from "./reader.js";
export { joined, NumberRoom, Readings } from "./readings.js";
export { recountHours } from "./recount.js";
export { removeEqual } from "./remove.js";
export { type Thinning, thinSnapshots } from "./thin.js";
export { readInTurns } from "./turns.js";
