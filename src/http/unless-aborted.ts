/**
 * The value, or undefined if the signal is aborted before. For a signal that outlives many values: `Promise.race` with a promise as
 * old as the signal would keep all of them until that promise is settled.
 */
export function unlessAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
