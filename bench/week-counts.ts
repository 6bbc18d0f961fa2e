/** How old and how right the counts of the catalogue are, and how many requests each forge gets in half an hour. */
import { sql } from "kysely";
import { DAY_MS, HOUR_MS } from "../src/lib/clock.js";
import type { Forge } from "../test/support/forge/forge.js";
import type { TrackingWorld } from "../test/support/tracking.js";
import { quantile, span } from "./week-watch.js";

interface CountRow {
  provider_id: string;
  stars: number | null;
  counted_at: number | null;
  refresh_interval: number | null;
}

/** Sums of all samples of one forge. */
interface Sums {
  /** AVAILABLE in the catalogue. */
  counts: number;
  /** Read more than a day ago. */
  old: number;
  /** Of these, those that are not public on the forge any more. */
  oldAndLost: number;
  /** Other stars than on the forge at that moment. */
  wrong: number;
  /** Read more than a day ago, and wrong. */
  oldAndWrong: number;
}

const percent = (part: number, all: number) => `${((100 * part) / Math.max(1, all)).toFixed(2)} %`;

/** Compares the counts of the catalogue with the forges. */
export class CountWatch {
  readonly #sums = new Map<string, Sums>();
  readonly #hotAges = new Map<string, number[]>();
  /** Ages of the readings in the last sample. */
  readonly #ages = new Map<string, number[]>();

  /** Compares all counts. */
  async compare({ modules, clock, forges }: TrackingWorld): Promise<void> {
    const now = clock.now();
    for (const [name, { catalogue }] of forges) {
      const sums = this.#sums.get(name) ?? { counts: 0, old: 0, oldAndLost: 0, wrong: 0, oldAndWrong: 0 };
      this.#sums.set(name, sums);
      const rows = await readRows(modules.database.read, name);
      this.#ages.set(
        name,
        rows.map(({ counted_at }) => now - (counted_at ?? 0)),
      );
      for (const { provider_id, stars, counted_at } of rows) {
        const truth = catalogue.get(Number(provider_id), now);
        const isOld = now - (counted_at ?? 0) > DAY_MS;
        const isWrong = truth?.stars !== stars;
        sums.counts++;
        if (isOld) sums.old++;
        if (isOld && truth?.visibility !== "public") sums.oldAndLost++;
        if (isWrong) sums.wrong++;
        if (isOld && isWrong) sums.oldAndWrong++;
      }
    }
  }

  /** Notes the ages of those that are read every hour. */
  async noteHot({ modules, clock, forges }: TrackingWorld): Promise<void> {
    for (const name of forges.keys()) {
      const ages = this.#hotAges.get(name) ?? [];
      this.#hotAges.set(name, ages);
      const rows = await readRows(modules.database.read, name, HOUR_MS);
      for (const { counted_at } of rows) ages.push(clock.now() - (counted_at ?? 0));
    }
  }

  /** The figures as lines of text. */
  *lines(): Generator<string> {
    yield "Counts, sampled every 6 h after the first day";
    const total: Sums = { counts: 0, old: 0, oldAndLost: 0, wrong: 0, oldAndWrong: 0 };
    for (const [name, sums] of this.#sums) {
      for (const key of ["counts", "old", "oldAndLost", "wrong", "oldAndWrong"] as const)
        total[key] += sums[key];
      yield `  ${name}: ${textOf(sums)}`;
      const ages = this.#ages.get(name) ?? [];
      yield `    age at the end: median ${span(quantile(ages, 0.5))}, 99 % ${span(quantile(ages, 0.99))}`;
      const hot = this.#hotAges.get(name) ?? [];
      yield `    read every hour: ${hot.length} samples, age median ${span(quantile(hot, 0.5))}, 99 % ${(quantile(hot, 0.99) / 60_000).toFixed(1)} min`;
    }
    yield `  all: ${textOf(total)}`;
  }
}

function textOf({ counts, old, oldAndLost, wrong, oldAndWrong }: Sums): string {
  return (
    `older than a day ${percent(old, counts)} (${percent(oldAndLost, counts)} are not public any more); ` +
    `other stars than on the forge ${percent(wrong, counts)}, of these read over a day ago ${percent(oldAndWrong, counts)}`
  );
}

async function readRows(
  read: TrackingWorld["modules"]["database"]["read"],
  provider: string,
  longestMs: number = Number.MAX_SAFE_INTEGER,
): Promise<CountRow[]> {
  const { rows } =
    await sql<CountRow>`select provider_id, stars, counted_at, refresh_interval from repositories
    where provider = ${provider} and availability = 'AVAILABLE' and counted_at is not null
      and coalesce(refresh_interval, ${longestMs}) <= ${longestMs}`.execute(read);
  return rows;
}

/** Requests to each forge in periods of half an hour, every quarter of an hour. */
export class HalfHours {
  readonly #totals = new Map<string, number[]>();

  /** Called every quarter of an hour. */
  note(name: string, { counters }: Forge): void {
    this.#totals.set(name, [...(this.#totals.get(name) ?? [0]), counters.requests]);
  }

  *lines(): Generator<string> {
    yield "Requests in half an hour";
    for (const [name, totals] of this.#totals) {
      let peak = 0;
      for (let i = 2; i < totals.length; i++) peak = Math.max(peak, (totals[i] ?? 0) - (totals[i - 2] ?? 0));
      const mean = (2 * (totals.at(-1) ?? 0)) / Math.max(1, totals.length - 1);
      yield `  ${name}: most ${peak}, mean ${mean.toFixed(1)}`;
    }
  }
}
