/** Maximum number of turns with new connections that long work waits through. */
const MOST_PASSED = 64;

let accepted = 0;
const waiting: (() => void)[] = [];

/** Notes that this thread has accepted a connection. */
export function noteAccepted(): void {
  accepted++;
}

/**
 * Runs long work in a later turn of the event loop: the next one in which no connection arrives, or after 64 turns. Node.js
 * accepts one connection per turn, so with work of 20 ms in each turn, a hundred new connections would make the next one wait for
 * two seconds, health checks included. Accepting takes less than a tenth of a millisecond.
 */
export function inQuietTurn(work: () => void): void {
  let [before, left] = [accepted, MOST_PASSED];
  const look = () => {
    if (accepted === before || left-- === 0) work();
    else {
      before = accepted;
      setImmediate(look);
    }
  };
  setImmediate(look);
}

/**
 * Resolves in a later turn of the event loop that no other caller gets: so however many long computations take such breaks at the
 * same time, the loop waits for a part of one of them, never of all. First come, first served.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) inQuietTurn(takeTurn);
  });
}

function takeTurn(): void {
  waiting[0]?.();
  // Removed later: a resumed task may request its next turn right away, and others came first.
  inQuietTurn(() => {
    waiting.shift();
    if (waiting.length > 0) takeTurn();
  });
}
