import { SCORE_NAMES } from "../rankings/rankings.js";
import { type CsvColumn, fieldColumns } from "./csv.js";
import type { RepositoryView } from "./views.js";

/** A repository with the end of the windows of its list. */
export type RepositoryRow = RepositoryView & { asOf: string | null; ageDays: number | null };
type Column = CsvColumn<RepositoryRow>;
type Trend = NonNullable<RepositoryView["trend"]>;

/** Columns with text written by users of the forges. */
const foreign = (
  ...names: ("owner" | "name" | "fullName" | "url" | "description" | "homepage" | "language" | "license")[]
): Column[] => names.map((name) => ({ name, isForeign: true, value: (row) => row[name] }));

const ofTrend = (name: string, value: (trend: Trend) => string | number | boolean | null): Column => ({
  name,
  value: ({ trend }) => (trend === null ? null : value(trend)),
});

const GROWTH = [
  "window",
  "from",
  "to",
  "fromSource",
  "starsDelta",
  "forksDelta",
  "openIssuesDelta",
  "starsGrowth",
] as const;

/** A repository and its trend as one line, with the names of the JSON fields. */
export const REPOSITORY_COLUMNS: readonly Column[] = [
  ...fieldColumns(["id", "provider"]),
  ...foreign("owner", "name", "fullName", "url", "description", "homepage", "language", "license"),
  { name: "topics", isForeign: true, value: ({ topics }) => topics.join(";") },
  ...fieldColumns(["stars", "forks", "openIssues", "watchers", "fork", "archived", "availability"]),
  ...fieldColumns(["createdAt", "pushedAt", "discoveredAt", "refreshedAt", "nextRefreshAt"]),
  ...GROWTH.map((name) => ofTrend(name, (trend) => trend[name])),
  ...SCORE_NAMES.map((name) => ofTrend(name, ({ scores }) => scores[name])),
  ofTrend("confidence", ({ confidence }) => confidence),
  ofTrend("reliable", ({ reliable }) => reliable),
  ofTrend("anomalies", ({ anomalies }) => anomalies.map(({ kind }) => kind).join(";")),
  // At the end, as readers may know columns by their number.
  ofTrend("starsCounted", ({ starsCounted }) => starsCounted),
  ofTrend("forksCounted", ({ forksCounted }) => forksCounted),
  ofTrend("newSince", ({ newSince }) => newSince),
  ofTrend("confidenceReasons", ({ confidenceReasons }) => confidenceReasons.join(";")),
  ...fieldColumns(["lastSeenAt", "stale", "asOf", "ageDays"]),
  ofTrend("basis", ({ basis }) => basis),
  ofTrend("usualPerDay", ({ usualPerDay }) => usualPerDay),
];
