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
