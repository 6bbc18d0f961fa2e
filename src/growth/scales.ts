import type { Db, Tx } from "../database/database.js";
import type { Growth } from "./compare.js";
import { perWindow, WINDOW_HOURS, WINDOWS, type Window, windowMs } from "./definitions.js";
import { FORKS_PRIOR, type Scales, STARS_PRIOR } from "./scores.js";

/** The scale is the heat that this share of a provider's growing repositories exceeds. */
const SCALE_PART = 0.05;
/** Lower limit of a scale: about one star gained in a window by a repository with 50. */
const LEAST_SCALE = 0.14;

const LEAST: Scales = { stars: LEAST_SCALE, forks: LEAST_SCALE };

/** The scales of every provider and window. */
export type AllScales = ReadonlyMap<string, Readonly<Record<Window, Scales>>>;

/** The scales of one provider and window; the lower limit if none have been measured. */
export function scalesOf(scales: AllScales, provider: string, window: Window): Scales {
  return scales.get(provider)?.[window] ?? LEAST;
}

/**
 * Measures scales: the heat that one in twenty repositories with a gain exceeds. Only the counted part of a gain enters.
 * The order in which growth is added does not matter.
 */
export class ScaleMeter {
  readonly #heats = new Map<string, Record<Window, Record<keyof Scales, number[]>>>();

  add(provider: string, growth: readonly Growth[]): void {
    let heats = this.#heats.get(provider);
    if (heats === undefined) {
      heats = perWindow(() => ({ stars: [], forks: [] }));
      this.#heats.set(provider, heats);
    }
    for (const { window, from, to, starsCounted: stars, forksCounted: forks } of growth) {
      const pace = windowMs(window) / (to.at - from.at);
      if (stars > 0) heats[window].stars.push((stars * pace) / Math.sqrt(from.stars + STARS_PRIOR));
      if (from.forks === null || forks === null || forks <= 0) continue;
      heats[window].forks.push((forks * pace) / Math.sqrt(from.forks + FORKS_PRIOR));
    }
  }

  measure(): Map<string, Record<Window, Scales>> {
    return new Map(
      [...this.#heats].map(([provider, heats]) => {
        const scales = perWindow(
          (window): Scales => ({
            stars: scaleOf(heats[window].stars),
            forks: scaleOf(heats[window].forks),
          }),
        );
        return [provider, scales];
      }),
    );
  }
}

function scaleOf(heats: readonly number[]): number {
  const sorted = Float64Array.from(heats).sort().reverse();
  const heat = sorted[Math.floor(sorted.length * SCALE_PART)] ?? 0;
  // Rounded to four digits, so that a tiny movement of one repository does not rescore all.
  return Number(Math.max(LEAST_SCALE, heat).toPrecision(4));
}

export async function readScales(db: Db): Promise<AllScales> {
  const rows = await db.selectFrom("score_scales").selectAll().execute();
  return new Map(
    [...Map.groupBy(rows, (row) => row.provider)].map(([provider, own]) => {
      const scales = perWindow((window): Scales => {
        const row = own.find((candidate) => candidate.window_hours === WINDOW_HOURS[window]);
        return row === undefined ? LEAST : { stars: row.stars, forks: row.forks };
      });
      return [provider, scales];
    }),
  );
}

/** Replaces all stored scales. `fullDays`: the newest full day of each provider when they were measured. */
export async function storeScales(
  tx: Tx,
  scales: AllScales,
  fullDays: ReadonlyMap<string, number>,
): Promise<void> {
  await tx.deleteFrom("score_scales").execute();
  const rows = [...scales].flatMap(([provider, measured]) =>
    WINDOWS.map((window) => ({
      provider,
      window_hours: WINDOW_HOURS[window],
      as_of: fullDays.get(provider) ?? 0,
      ...measured[window],
    })),
  );
  if (rows.length > 0) await tx.insertInto("score_scales").values(rows).execute();
}
