/** Goes on with a value: in this turn if it is there, else when it is. So what is ready is sent without waiting for a promise. */
export function after<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
