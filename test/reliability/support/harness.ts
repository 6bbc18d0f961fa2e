/**
 * The frame of the reliability harnesses. A harness produces one kind of fault or attack against the real service and measures what
 * its callers notice. `npm run test:system` runs each in its short form, `npm run reliability` in its long form.
 */
import { openPostgres } from "../../../bench/support/postgres.js";
import { isMet, type ResultRow } from "../../../bench/support/results.js";
import { defaultFolder, type EngineName, type StorePlace } from "../../../bench/support/stores.js";

/** How much a harness does. `short`: seconds, deterministic, no figure that depends on the speed of the machine. */
export type Scale = "short" | "long";

export interface HarnessContext {
  scale: Scale;
  /** What the service keeps its data in; by default SQLite. Only for a harness with `hasEngines`, in its long form. */
  engine?: EngineName;
  /** Prints a line of progress. */
  report(line: string): void;
}

/** One kind of fault or attack. */
export interface Harness {
  /** As it is named on the command line. */
  name: string;
  /** What it proves, in one sentence. */
  proves: string;
  /** Whether it runs on PostgreSQL too. */
  hasEngines?: true;
  /** Throws HarnessFailure where the fault was not produced. */
  run(context: HarnessContext): Promise<ResultRow[]>;
}

/** The harness itself failed, such as a server that never started or a load that was not sent: no result of any kind. */
export class HarnessFailure extends Error {
  override readonly name = "HarnessFailure";
}

/** Throws HarnessFailure unless something happened: `count` of `what` must be at least `least`. */
export function assertHappened(count: number, what: string, least = 1): void {
  if (!(count >= least)) throw new HarnessFailure(`${count} ${what}, at least ${least} were expected`);
}

/** Does something with a place for stores of an engine: on PostgreSQL `SIDEREAL_BENCH_POSTGRES_URL`, else a server for this run. */
export async function withStores<T>(
  { engine = "sqlite" }: HarnessContext,
  use: (place: StorePlace, engine: EngineName) => Promise<T>,
): Promise<T> {
  const folder = defaultFolder();
  if (engine === "sqlite") return use({ folder, postgresUrl: undefined }, engine);
  const server = await openPostgres(process.env.SIDEREAL_BENCH_POSTGRES_URL ?? "");
  try {
    return await use({ folder, postgresUrl: server.url }, engine);
  } finally {
    await server.stop();
  }
}

/** Runs a harness. Throws HarnessFailure if it returns no row with a target: it would have proved nothing. */
export async function runHarness(harness: Harness, context: HarnessContext): Promise<ResultRow[]> {
  const rows = await harness.run(context);
  assertHappened(rows.filter(({ target }) => target !== undefined).length, "rows with a target");
  return rows;
}

/** Makes rows of results with these facts in common. `nameOf`: what is measured, as it is reported. */
export function rowMaker(common: Partial<ResultRow>, nameOf = (measure: string) => measure) {
  return (measure: string, value: number, unit: string, target?: ResultRow["target"]): ResultRow => ({
    ...common,
    measure: nameOf(measure),
    value,
    unit,
    ...(target && { target }),
  });
}

/** The same for counts, which have no unit. */
export function countMaker(common: Partial<ResultRow>) {
  const row = rowMaker(common);
  return (measure: string, value: number, target?: ResultRow["target"]): ResultRow =>
    row(measure, value, "", target);
}

/** The rows that miss their target, as short texts. */
export function missedRows(rows: readonly ResultRow[]): string[] {
  return rows
    .filter((row) => isMet(row) === false)
    .map(({ measure, value, unit, ratio }) => `${measure}: ${ratio ?? `${value} ${unit}`}`);
}
