/** The rows that every part of the benchmark returns, and the table that is made of them. */
import { type Middle, middle, ratios } from "./statistics.js";
import type { Store } from "./stores.js";

/** The bound that a row should keep: of its ratio if it has a baseline, else of its value. */
export type Target = { atLeast: number } | { atMost: number };

/** A bound by the size of the store: up to 10,000 repositories, up to 100,000, and more. */
export function atMost({ size }: Pick<Store, "size">, bounds: readonly [number, number, number]): Target {
  return { atMost: bounds[size <= 10_000 ? 0 : size <= 100_000 ? 1 : 2] };
}

/** One line of the table. */
export interface ResultRow {
  /** What is measured, such as "cached list with key, limits and usage". The same words at each size and on each engine. */
  measure: string;
  /** Repositories in the store; undefined if it has no influence. */
  size?: number;
  engine?: Store["engine"];
  /** The median of the rounds. */
  value: number;
  /** Unit of `value` and of the baseline: "requests/s", "ms", "s", "MB", "bytes" … */
  unit: string;
  baseline?: { name: string; value: number };
  /** Median over the rounds of value / baseline; absent without a baseline. */
  ratio?: number;
  /** Smallest and largest over the rounds: of the ratio if there is one, else of the value. */
  spread?: readonly [number, number];
  target?: Target;
  /** What a reader must know to read the row, in a few words. */
  note?: string;
}

/** What a part of the benchmark is given. */
export interface BenchContext {
  /** A filled store, to be read only; `copyStore` makes one that may be changed. */
  store: Store;
  /** Address of the PostgreSQL server, for baselines on it. */
  postgresUrl: string;
  /** Interleaved rounds per measure. */
  rounds: number;
  /** Duration of one closed-loop or constant-rate run, in seconds. */
  seconds: number;
  /** Prints a line of progress. */
  report(line: string): void;
}

/** A part of the benchmark. Throws if nothing could be measured; a failed response is not a measurement. */
export type BenchPart = (context: BenchContext) => Promise<ResultRow[]>;

/** The fields of a row that say what it is about. */
export type RowHead = Pick<ResultRow, "measure" | "unit" | "target" | "note"> & { store?: Store };

const head = ({ store, ...rest }: RowHead) => ({
  ...rest,
  ...(store === undefined ? {} : { size: store.size, engine: store.engine }),
});

/** A row for the values of several rounds. */
export function absoluteRow(about: RowHead, values: readonly number[]): ResultRow {
  const { median, low, high } = middle(values);
  return { ...head(about), value: median, spread: [low, high] };
}

/** A row for the values of several rounds, each with the baseline measured in the same round. */
export function ratioRow(
  about: RowHead,
  values: readonly number[],
  baseline: { name: string; values: readonly number[] },
): ResultRow {
  const ratio: Middle = middle(ratios(values, baseline.values));
  return {
    ...head(about),
    value: middle(values).median,
    baseline: { name: baseline.name, value: middle(baseline.values).median },
    ratio: ratio.median,
    spread: [ratio.low, ratio.high],
  };
}

/** Whether the row keeps its target; undefined without one. */
export function isMet({ value, ratio, target }: ResultRow): boolean | undefined {
  if (target === undefined) return undefined;
  const measured = ratio ?? value;
  return "atLeast" in target ? measured >= target.atLeast : measured <= target.atMost;
}

/** A number with three significant digits, and thousands separated. */
function short(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.01) return value.toPrecision(2);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

function targetText({ target, ratio, unit }: ResultRow): string {
  if (target === undefined) return "";
  const text = "atLeast" in target ? `at least ${short(target.atLeast)}` : `at most ${short(target.atMost)}`;
  return ratio === undefined ? `${text} ${unit}` : `${text} ×`;
}

/** The rows as a Markdown table. */
export function resultTable(rows: readonly ResultRow[]): string {
  const lines = rows.map((row) => {
    const met = isMet(row);
    const spread = row.spread === undefined ? "" : ` (${row.spread.map(short).join("–")})`;
    const value = `${short(row.value)} ${row.unit}`;
    return [
      row.note === undefined ? row.measure : `${row.measure} (${row.note})`,
      row.size === undefined ? "" : row.size.toLocaleString("en-US"),
      row.engine ?? "",
      row.ratio === undefined ? `${value}${spread}` : value,
      row.baseline === undefined ? "" : `${row.baseline.name}: ${short(row.baseline.value)}`,
      row.ratio === undefined ? "" : `${short(row.ratio)}${spread}`,
      targetText(row),
      met === undefined ? "" : met ? "met" : "**missed**",
    ];
  });
  const header = ["Measure", "Repositories", "Engine", "Value", "Baseline", "Ratio (spread)", "Target", ""];
  const table = [header, header.map(() => "---"), ...lines];
  return `${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}
