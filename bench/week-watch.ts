/** Measurements of the week: a recorder between worker and forge, and statistics. */

import type { Provider, Refreshed, RepositoryRef } from "../src/forges/contract.js";
import { HOUR_MS } from "../src/lib/clock.js";
import type { Forge } from "../test/support/forge/forge.js";

/** The last reading of a repository. */
interface Reading {
  at: number;
  facts: string;
}

/** Outcomes of refreshes of one provider. */
export class Watch {
  calls = 0;
  attempted = 0;
  found = 0;
  unchanged = 0;
  failed = 0;
  /** Refreshed within a day of the previous time: hot, warm, or found by the walk. */
  soon = 0;
  /** Of these, those with the same stars, forks, name and state. */
  needless = 0;
  readonly #last = new Map<string, Reading>();

  /** The provider, recording every refresh. */
  around(provider: Provider, now: () => number): Provider {
    return {
      ...provider,
      name: provider.name,
      refreshMany: async (refs, signal) => {
        const outcomes = await provider.refreshMany(refs, signal);
        this.calls++;
        for (const [i, ref] of refs.entries()) {
          const outcome = outcomes[i];
          if (outcome !== undefined) this.#note(ref, outcome, now());
        }
        return outcomes;
      },
    };
  }

  #note({ providerId }: RepositoryRef, outcome: Refreshed, at: number): void {
    if (outcome.kind === "skipped") return;
    this.attempted++;
    this[outcome.kind]++;
    const last = this.#last.get(providerId);
    const facts = outcome.kind === "unchanged" ? (last?.facts ?? "") : factsOf(outcome);
    this.#last.set(providerId, { at, facts });
    if (last === undefined || at - last.at > 26.4 * HOUR_MS) return;
    this.soon++;
    if (last.facts === facts) this.needless++;
  }
}

function factsOf(outcome: Exclude<Refreshed, { kind: "unchanged" | "skipped" }>): string {
  if (outcome.kind === "failed") return outcome.failure.kind;
  const { owner, name, stars, forks, archived } = outcome.repository;
  return [owner, name, stars, forks, archived].join(" ");
}

/** Requests by kind and hour. */
export class HourlyUse {
  readonly #before = new Map<string, number>();
  readonly #hours = new Map<string, number[]>();

  /** Called once an hour. */
  note(name: string, { counters }: Forge): void {
    for (const [kind, count] of Object.entries(counters.byKind)) {
      const key = `${name} ${kind}`;
      const hours = this.#hours.get(key) ?? [];
      hours.push(count - (this.#before.get(key) ?? 0));
      this.#hours.set(key, hours);
      this.#before.set(key, count);
    }
  }

  /** The busiest hour, and the mean over `hours`. */
  of(name: string, kinds: readonly string[], hours: number): { peak: number; mean: number } {
    const counts = kinds.map((kind) => this.#hours.get(`${name} ${kind}`) ?? []);
    // A kind that started later has fewer hours, aligned at the end.
    const longest = Math.max(0, ...counts.map((list) => list.length));
    let [peak, sum] = [0, 0];
    for (let back = 1; back <= longest; back++) {
      const here = counts.reduce((total, list) => total + (list.at(-back) ?? 0), 0);
      peak = Math.max(peak, here);
      sum += here;
    }
    return { peak, mean: sum / hours };
  }
}

/** The quantile of the numbers; 0 without any. */
export function quantile(numbers: readonly number[], part: number): number {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** A duration in a readable unit. */
export function span(ms: number): string {
  if (ms < HOUR_MS) return `${Math.round(ms / 60_000)} min`;
  return ms < 48 * HOUR_MS ? `${(ms / HOUR_MS).toFixed(1)} h` : `${(ms / (24 * HOUR_MS)).toFixed(1)} d`;
}
