import type { Clock } from "../../clock.js";
import type { Database } from "../../database/database.js";
import { workOff } from "../outdated.js";
import { mergeIntoBlocks } from "./blocks.js";
import { Readings } from "./readings.js";

/** Repositories in one transaction. */
const BATCH = 1_000;

/**
 * Moves the tails that have become long into blocks, those of at most `most` repositories. Readers notice nothing. May be
 * killed and run again. Returns the number of repositories.
 */
export async function packTails(database: Database, clock: Clock, most: number): Promise<number> {
  const { dialect } = database;
  return workOff(database, { kind: "tails", clock, size: BATCH, most, isNoticed: false }, async (tx, ids) => {
    const given = new Map(ids.map((id) => [id, Readings.ofLength(0)]));
    await mergeIntoBlocks(tx, dialect, { given });
  });
}
