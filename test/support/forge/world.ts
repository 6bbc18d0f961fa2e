/** Start time of forges in tests. */
export const START = Date.UTC(2026, 0, 7, 5, 30);

/** Rates of a script without events. */
export const QUIET = {
  created: 0,
  renamed: 0,
  transferred: 0,
  archived: 0,
  hidden: 0,
  blocked: 0,
  deleted: 0,
  burst: 0,
};
