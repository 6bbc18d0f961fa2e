/** How long samples are kept, beyond which a lag is only known to be longer. */
const KEPT_MS = 3_600_000;

interface Sample {
  position: number;
  /** Monotonic, of this process. */
  at: number;
}

/**
 * Measures how far replicas are behind without comparing clocks of two machines: positions in the log of the primary are
 * noted with the local time at which they were requested. A replica that has replayed a position has everything that was committed
 * before that time.
 *
 * While the primary does not respond, no sample is added and the lag does not grow. That is intended: what cannot
 * be written cannot be missed, so replicas go on serving reads.
 */
export class LagSamples {
  #samples: Sample[] = [];

  /** Notes the position of the primary. `at`: monotonic, before it was requested. */
  record(position: number, at: number): void {
    const last = this.#samples.at(-1);
    // Of an idle primary the newest time counts. A position that went back belongs to another history.
    if (last !== undefined && position < last.position) this.#samples = [];
    else if (last?.position === position) this.#samples.pop();
    this.#samples.push({ position, at });
    const oldest = this.#samples.findIndex((sample) => at - sample.at <= KEPT_MS);
    if (oldest > 0) this.#samples.splice(0, oldest);
  }

  /** Forgets everything, as the primary has begun another history. */
  clear(): void {
    this.#samples = [];
  }

  /**
   * Lag in ms of a replica that has replayed this position, to about two seconds: the time from the newest sample that it has reached
   * to the newest of all. Null: it has reached none.
   */
  lagAt(position: number): number | null {
    const newest = this.#samples.at(-1);
    const reached = this.#samples.findLast((sample) => sample.position <= position);
    return newest === undefined || reached === undefined ? null : newest.at - reached.at;
  }
}
