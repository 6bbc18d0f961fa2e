import { sql } from "kysely";
import { columns, type Database, type Db, type Prepared, type ValuesOf } from "../database/database.js";
import { HOUR_MS } from "../lib/clock.js";
import { type Basis, basisOf, SNAPSHOT_SOURCES, type SnapshotSource } from "../repositories/repositories.js";
import { type Anomaly, isDoubtful } from "./anomalies.js";
import { confidenceReasons } from "./confidence.js";
import { perWindow, WINDOW_HOURS, type Window, windowOfHours } from "./definitions.js";
import { readScoredRows, scoreInput } from "./rollups.js";
import { type Explanation, explain, type Scores } from "./scores.js";

/** A gain between two counts of the same basis. Times in ms since 1970. */
interface TrendPart {
  basis: Basis;
  from: number;
  to: number;
  starsDelta: number;
}

/** Growth between two counts of a series. Deltas are plain differences. */
export interface Trend {
  window: Window;
  provider: string;
  /** The times compared. */
  from: number;
  to: number;
  /** Source of the count at `from`. */
  fromSource: SnapshotSource;
  /** What the stars at `from` count. */
  basis: Basis;
  /**
   * The gains that make up `starsDelta`, oldest first, each between two counts of one basis: two if the window begins in the star
   * history and ends in totals, otherwise one.
   */
  parts: readonly TrendPart[];
  /** Where its youth counts from, if it seems new and its date of creation is unknown. */
  firstSeenAt: number | null;
  /** Stars at `from`. */
  starsFrom: number;
  starsDelta: number;
  /** null if either count is unknown. */
  forksDelta: number | null;
  openIssuesDelta: number | null;
  /** The part of the stars gained that counts. */
  starsCounted: number;
  /** starsDelta ÷ starsFrom (0.02 is 2 %); null if starsFrom is 0. */
  starsGrowth: number | null;
  /** Stars gained on a usual day before `from`; null with fewer than three earlier days. */
  usualPerDay: number | null;
  /** null if unknown. */
  scores: Scores;
  /** From 0 to 1. */
  confidence: number;
  /** What lowers it, as phrases. */
  confidenceReasons: readonly string[];
  reliable: boolean;
  anomalies: Anomaly[];
  anomalous: boolean;
}

/** When the growth of a repository ends, in all its trends: at its newest confirmed reading; without growth, at its newest counts. */
export function endOfGrowth(
  trends: readonly (Pick<Trend, "to"> | null | undefined)[],
  countedAt: number | null,
): number | null {
  return trends.find((trend) => trend)?.to ?? countedAt;
}

/** The columns of a rollup that make a trend. */
export const TREND = columns("rollups", "g", [
  "window_hours",
  "provider",
  "from_at",
  "to_at",
  "stars_delta",
  "forks_delta",
  "open_issues_delta",
  "stars_counted",
  "stars_growth",
  "stars_from",
  "from_source",
  "first_seen_at",
  "snapshots",
  "anomalies",
  "anomalous",
  "trending",
  "rising",
  "new_hot",
  "confidence",
  "reliable",
  "stars_usual",
  "held_until",
  "held_delta",
]);
const { at } = TREND;

/** Their values, as a prepared statement returns them. */
export type TrendValues = ValuesOf<typeof TREND>;
/** A row that begins with them. */
type TrendRow = readonly [...TrendValues, ...unknown[]];

/** Reads trends. */
export class TrendReader {
  readonly #ofMany: Prepared<{ ids: readonly number[]; window: Window }, [...TrendValues, id: number]>;
  readonly #ofOne: Prepared<number, TrendValues>;

  constructor({ dialect, prepare }: Database) {
    this.#ofMany = prepare((given) => {
      const here = dialect.among(
        sql`g.repository_id`,
        given(({ ids }) => ids),
      );
      return sql`select ${TREND.sql}, g.repository_id from rollups g
        where ${here} and g.window_hours = ${given(({ window }) => WINDOW_HOURS[window])}`;
    });
    this.#ofOne = prepare(
      (given) => sql`select ${TREND.sql} from rollups g where g.repository_id = ${given((id) => id)}`,
    );
  }

  /** The trends of repositories in one window, by id. Repositories without one are absent. */
  async ofMany(ids: readonly number[], window: Window): Promise<Map<number, Trend>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#ofMany({ ids, window });
    return new Map(rows.map((row) => [row[TREND.count], trendOfRollup(row)]));
  }

  /** The trends of one repository; null for a window without two snapshots to compare. */
  async ofOne(id: number): Promise<Record<Window, Trend | null>> {
    return byWindow((await this.#ofOne(id)).map(trendOfRollup));
  }
}

/** The trends of one repository by window; null for a window without one. */
export function byWindow(trends: readonly Trend[]): Record<Window, Trend | null> {
  return perWindow((window) => trends.find((trend) => trend.window === window) ?? null);
}

/** How a repository's scores are made up; null for a window without a trend. */
export async function readExplanations(db: Db, id: number): Promise<Record<Window, Explanation | null>> {
  const rows = await readScoredRows(db, id);
  return perWindow((window) => {
    const row = rows.find((candidate) => candidate.window_hours === WINDOW_HOURS[window]);
    return row === undefined ? null : explain(scoreInput(row));
  });
}

/** The trend of a stored rollup. */
export function trendOfRollup(values: TrendRow): Trend {
  const from = values[at.from_at];
  const to = values[at.to_at];
  const starsDelta = values[at.stars_delta];
  const anomalies = values[at.anomalies];
  const usualPerDay = values[at.stars_usual];
  const window = windowOfHours(values[at.window_hours]) ?? "24h";
  const fromSource = SNAPSHOT_SOURCES[values[at.from_source]] ?? "OBSERVED";
  const found: Anomaly[] = anomalies === null ? [] : JSON.parse(anomalies);
  const confidence = values[at.confidence] / 100;
  return {
    window,
    provider: values[at.provider],
    from,
    to,
    fromSource,
    basis: basisOf(fromSource),
    parts: partsOf({ from, to, starsDelta, basis: basisOf(fromSource) }, values),
    firstSeenAt: values[at.first_seen_at],
    starsFrom: values[at.stars_from],
    starsDelta,
    forksDelta: values[at.forks_delta],
    openIssuesDelta: values[at.open_issues_delta],
    starsCounted: values[at.stars_counted],
    starsGrowth: values[at.stars_growth],
    usualPerDay: fromHundredths(usualPerDay),
    scores: {
      trending: fromHundredths(values[at.trending]),
      rising: fromHundredths(values[at.rising]),
      newHot: fromHundredths(values[at.new_hot]),
    },
    confidence,
    confidenceReasons: confidenceReasons({
      window,
      confidence,
      coveredHours: (to - from) / HOUR_MS,
      snapshots: values[at.snapshots],
      hasDoubtfulReading: found.some(isDoubtful),
      hasUsualDay: usualPerDay !== null,
    }),
    reliable: values[at.reliable] === 1,
    anomalies: found,
    anomalous: values[at.anomalous] === 1,
  };
}

/** The parts of a whole, split if it begins in the star history and ends in totals. A part without length is left out. */
function partsOf(whole: TrendPart, values: TrendRow): TrendPart[] {
  const heldUntil = values[at.held_until];
  const heldDelta = values[at.held_delta];
  if (heldUntil === null || heldDelta === null) return [whole];
  const { from, to, starsDelta } = whole;
  const parts: TrendPart[] = [
    { basis: "RETAINED", from, to: heldUntil, starsDelta: heldDelta },
    { basis: "TOTAL", from: heldUntil, to, starsDelta: starsDelta - heldDelta },
  ];
  return parts.filter((part) => part.from < part.to);
}

function fromHundredths(value: number | null): number | null {
  return value === null ? null : value / 100;
}
