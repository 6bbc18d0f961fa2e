const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop that no other caller gets: so however many long computations take such breaks at the
 * same time, the loop waits for a part of one of them, never of all. First come, first served.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(takeTurn);
  });
}

function takeTurn(): void {
  waiting[0]?.();
  // Later, as what it resumes may wait for its next turn immediately, and others are before it.
  setImmediate(() => {
    waiting.shift();
    if (waiting.length > 0) takeTurn();
  });
}
