/** Where changes are added: stretches of real series without a jump or fall of their own. */

import { DAY_MS } from "../../src/lib/clock.js";
import type { Random } from "../synthetic/random.js";
import type { Track } from "./archive.js";
import { findJumps, MIN_JUMP } from "./steps.js";

/** Daily readings before and after the first changed one. */
const BEFORE = 40;
const AFTER = 50;
/** Readings further apart than this are a gap. */
const MOST_DAYS = 2.2;
const TRIES = 500;

export interface Place {
  track: Track;
  /** Index of the first reading that changes. */
  start: number;
}

/** A random quiet stretch: a random repository, then a random day. Throws if the archive seems to have none. */
export function pickPlace(random: Random, tracks: readonly Track[]): Place {
  for (let tries = 0; tries < TRIES; tries++) {
    const track = random.pick(tracks);
    const latest = track.readings.length - 1 - AFTER;
    if (latest < BEFORE) continue;
    const start = random.between(BEFORE, latest);
    if (isQuiet(track, start - BEFORE, start + AFTER)) return { track, start };
  }
  throw new Error("the archive has no quiet stretch of 90 days");
}

function isQuiet({ readings }: Track, from: number, to: number): boolean {
  for (let i = from + 1; i <= to; i++) {
    const days = (readings.at(i) - readings.at(i - 1)) / DAY_MS;
    if (days > MOST_DAYS || readings.stars(i) - readings.stars(i - 1) < -MIN_JUMP) return false;
  }
  return findJumps(readings.slice(0, to + 1), 1).every(({ index }) => index <= from);
}

/** Which half a name belongs to: constants may be chosen by the first, and the other tells whether they hold (FNV-1a). */
export function isHeldOut(name: string): boolean {
  let hash = 0x811c9dc5;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return (hash >>> 8) % 2 === 1;
}
