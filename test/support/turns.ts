import { setImmediate } from "node:timers/promises";

/** Waits for work, and returns how many turns of the event loop other work got meanwhile. */
export async function countTurns(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  let turns = 0;
  for (;;) {
    await setImmediate();
    if (isDone) break;
    turns++;
  }
  await done;
  return turns;
}

/** Maximum number of turns that something in the background may take. */
const MOST_TURNS = 1_000_000;

/** Lets the event loop turn until something in the background has happened. */
export async function turnUntil(hasHappened: () => boolean): Promise<void> {
  for (let turns = 0; !hasHappened(); turns++) {
    if (turns > MOST_TURNS) throw new Error("it does not happen");
    await setImmediate();
  }
}
