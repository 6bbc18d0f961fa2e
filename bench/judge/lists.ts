/** The lists that a service ranks by growth, as it responds. */
import { windowsOf } from "../../src/discovery/query.js";
import { type Ask, allRows, firstRows, type Row } from "./service.js";

export const WINDOWS = ["24h", "7d", "30d"] as const;
const SORTS = ["trending", "rising", "new-hot", "stars-gained", "forks-gained"] as const;

/** Places of a list that count. */
export const TOP = 25;

export const PATHS: readonly string[] = [
  ...SORTS.flatMap((sort) => windowsOf(sort).map((window) => `/api/repos?sort=${sort}&window=${window}`)),
  "/api/repos?sort=stars&window=24h",
];

/** The first hundred rows of lists, by their paths. */
export type Lists = ReadonlyMap<string, readonly Row[]>;

export async function readLists(ask: Ask, paths = PATHS): Promise<Lists> {
  const lists = new Map<string, readonly Row[]>();
  for (const path of paths) lists.set(path, await firstRows(ask, path));
  return lists;
}

/** The ranking that a path lists. */
export function rankingOf(path: string): string {
  const { pathname, searchParams } = new URL(path, "http://localhost");
  return searchParams.get("sort") ?? pathname.replace("/api/", "");
}

export function keyOf({ fullName }: Row): string {
  return fullName.toLowerCase();
}

/** Stars gained by every repository with a trend in a window. */
export async function readGains(
  ask: Ask,
  window: (typeof WINDOWS)[number],
): Promise<ReadonlyMap<string, number>> {
  const rows = await allRows(ask, `/api/repos?sort=stars&window=${window}`);
  return new Map(
    rows.flatMap((row) => (row.trend === null ? [] : [[keyOf(row), row.trend.starsDelta] as const])),
  );
}
