/** The statistics of measurements: quantiles, medians, and ratios of rounds with their spread. */

/** The quantile `part` (0 to 1) of the values by the nearest rank. Throws if there are no values. */
export function quantile(values: ArrayLike<number>, part: number): number {
  const sorted = Float64Array.from(values).sort();
  const value = sorted[Math.min(sorted.length, Math.max(1, Math.ceil(sorted.length * part))) - 1];
  if (value === undefined) throw new Error("nothing was measured");
  return value;
}

/** The middle of several rounds. */
export interface Middle {
  median: number;
  low: number;
  high: number;
}

/** The median, smallest and largest value. Throws if there are no values. */
export function middle(values: readonly number[]): Middle {
  return { median: quantile(values, 0.5), low: quantile(values, 0), high: quantile(values, 1) };
}

/** The ratio of each round to the baseline of the same round. Throws if the rounds do not pair or a baseline is not positive. */
export function ratios(values: readonly number[], baselines: readonly number[]): number[] {
  if (values.length !== baselines.length) throw new Error("every round needs its baseline");
  return values.map((value, round) => {
    const baseline = baselines[round] ?? 0;
    if (!(baseline > 0)) throw new Error(`the baseline of round ${round + 1} is ${baseline}`);
    return value / baseline;
  });
}

/**
 * Runs every contestant once per round. The order is reversed in every other round, so that slow drift of the machine does not
 * favour one of them.
 */
export async function interleave<Name extends string>(
  rounds: number,
  contestants: Readonly<Record<Name, (round: number) => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contestants) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed())
      values[name].push(await contestants[name](round));
  }
  return values;
}
