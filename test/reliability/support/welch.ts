/** Mean and variance of many values, as they come. */
export class Sample {
  count = 0;
  mean = 0;
  #squares = 0;

  /** Welford's method. */
  add(value: number): void {
    this.count++;
    const before = value - this.mean;
    this.mean += before / this.count;
    this.#squares += before * (value - this.mean);
  }

  get variance(): number {
    return this.#squares / (this.count - 1);
  }
}

/**
 * The t of Welch's test that two samples have one mean: beyond 4.5 either way they differ, with less than one error in a hundred
 * thousand. That is the bound of dudect (Reparaz et al., 2017).
 */
export function welchT(a: Sample, b: Sample): number {
  const error = Math.sqrt(a.variance / a.count + b.variance / b.count);
  return error === 0 ? 0 : (a.mean - b.mean) / error;
}
