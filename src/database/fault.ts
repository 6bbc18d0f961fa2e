/**
 * Why the database cannot do its work right now: `busy`, other work holds what this needs; `full`, the disk is; or
 * `unavailable`, it cannot be reached or is shutting down. All three may pass, so the caller may try again later.
 */
export type FaultKind = "busy" | "full" | "unavailable";

/** A failure of the database itself; its cause is the engine's error. */
export class DatabaseFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, cause: unknown) {
    super(messageOf(cause), { cause });
    this.name = "DatabaseFault";
    this.kind = kind;
  }
}

/** A store that must not be used as it is. The message tells the operator the reason and the remedy. */
export class StoreRefused extends Error {}

/** The kind of an error thrown by a query; undefined if the database is not the reason. */
export function databaseFault(error: unknown): FaultKind | undefined {
  return error instanceof DatabaseFault ? error.kind : undefined;
}

function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Several addresses that all failed are an AggregateError, which has a code and no message.
  return cause.message === "" && "code" in cause ? String(cause.code) : cause.message;
}
