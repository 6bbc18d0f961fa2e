/**
 * Prints what detail, lists and series say of twelve repositories before, during and after an event: `npm run -s build &&
 * node dist/bench/judge/cases.js DATA_DIR [CHECKOUT] [--only WORD]`. CHECKOUT is a built one of any version, by default this one;
 * `--only` picks cases by a word of their title or name.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { DAY_MS } from "../../src/lib/clock.js";
import { type ArchiveName, manifestOf, requireData, unpackArchive } from "./archive.js";
import { NAMED_CASES, type NamedCase } from "./named.js";
import { type Ask, Service } from "./service.js";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: "string" } } });
const data = requireData(positionals[0], "daily");
const checkout = resolve(positionals[1] ?? ".");
/** Days of files imported before the first date: the longest history that growth looks at, and a gap. */
const BEFORE_DAYS = 120;

const anomalySchema = z.looseObject({
  kind: z.string(),
  reason: z.string(),
  cleared: z.object({ by: z.string() }).optional(),
});
const trendSchema = z.looseObject({
  from: z.string(),
  to: z.string(),
  starsDelta: z.number(),
  forksDelta: z.number().nullable(),
  starsCounted: z.number().optional(),
  scores: z.looseObject({
    trending: z.number().nullable(),
    rising: z.number().nullable(),
    newHot: z.number().nullable(),
  }),
  confidence: z.number(),
  confidenceReasons: z.array(z.string()).optional(),
  anomalies: z.array(anomalySchema),
});
const detailSchema = z.object({
  data: z.looseObject({
    id: z.string(),
    fullName: z.string(),
    stars: z.number().nullable(),
    forks: z.number().nullable(),
    trends: z.record(z.string(), trendSchema.nullable()),
    ranks: z.array(
      z.object({
        ranking: z.string(),
        window: z.string().nullable(),
        scope: z.string(),
        position: z.number(),
      }),
    ),
  }),
});
const seriesSchema = z.object({
  data: z.array(z.looseObject({ capturedAt: z.string(), stars: z.number(), forks: z.number().nullable() })),
  meta: z.looseObject({}),
});
type Trend = z.output<typeof trendSchema>;

/** Fields that say how old the counts are, in the versions that have them. */
const MARKS = ["stale", "lastSeenAt"] as const;

function marksOf(fields: Readonly<Record<string, unknown>>): string {
  const found = MARKS.flatMap((name) => {
    const value = fields[name];
    const isEmpty =
      value === undefined ||
      value === null ||
      value === false ||
      (Array.isArray(value) && value.length === 0);
    return isEmpty ? [] : [`${name} ${JSON.stringify(value)}`];
  });
  return found.length === 0 ? "" : `; ${found.join("; ")}`;
}

function trendLine(window: string, trend: Trend | null): string {
  if (trend === null) return `    ${window}: no trend`;
  const {
    starsDelta,
    starsCounted,
    forksDelta,
    scores,
    confidence,
    confidenceReasons = [],
    anomalies,
  } = trend;
  const counted =
    starsCounted === undefined || starsCounted === starsDelta ? "" : ` (${starsCounted} counted)`;
  const flags = anomalies.map(
    ({ kind, reason, cleared }) => `${kind}${cleared ? ` cleared by ${cleared.by}` : ""}: ${reason}`,
  );
  const reasons = confidenceReasons.length === 0 ? "" : ` (${confidenceReasons.join(", ")})`;
  return `    ${window}: ${starsDelta} stars${counted}, ${forksDelta ?? "–"} forks; trending ${scores.trending ?? "–"}, rising ${scores.rising ?? "–"}, new hot ${scores.newHot ?? "–"}; confidence ${confidence}${reasons}${flags.map((flag) => `\n      ${flag}`).join("")}`;
}

/** What the API says of a repository. */
async function describe(ask: Ask, { fullName }: NamedCase, label: string): Promise<string[]> {
  const body = await ask(`/api/repos/github/by-full-name?fullName=${encodeURIComponent(fullName)}`);
  if (body === undefined) return [`  ${label}: not found`];
  const { data: detail } = detailSchema.parse(body);
  const ranks = detail.ranks
    .filter(({ scope }) => scope === "overall")
    .map(({ ranking, window, position }) => `${ranking}${window === null ? "" : ` ${window}`} #${position}`);
  const { data: points, meta } = seriesSchema.parse(await ask(`/api/repos/${detail.id}/metrics?window=30d`));
  const last = points
    .slice(-4)
    .map(({ capturedAt, stars, forks }) => `${capturedAt.slice(5, 10)} ${stars}/${forks ?? "–"}`);
  return [
    `  ${label}: ${detail.fullName}, ${detail.stars ?? "–"} stars, ${detail.forks ?? "–"} forks${marksOf(detail)}`,
    ...Object.entries(detail.trends).map(([window, trend]) => trendLine(window, trend)),
    `    ranks: ${ranks.join(", ") || "none"}`,
    `    series: ${points.length} points, the last ${last.join(", ")} (stars/forks)${marksOf(meta)}`,
  ];
}

/** What is said of each case of an archive, by case. */
async function run(
  archive: ArchiveName,
  cases: readonly NamedCase[],
  work: string,
): Promise<Map<NamedCase, string[]>> {
  const [dir, folder] = [join(work, archive), join(work, `${archive}-files`)];
  for (const path of [dir, folder]) mkdirSync(path);
  const service = new Service(checkout, dir);
  const first = Math.min(...cases.flatMap(({ dates }) => dates.map((date) => Date.parse(date))));
  const files = unpackArchive(data, archive, folder).filter(
    ({ capturedAt }) => capturedAt >= first - BEFORE_DAYS * DAY_MS,
  );
  const said = new Map(cases.map((one): [NamedCase, string[]] => [one, []]));
  let waiting: string[] = [];
  for (const { path, date } of files) {
    waiting.push(path);
    const due = cases.filter((one) => one.dates.includes(date));
    if (due.length === 0) continue;
    service.importFiles(waiting, manifestOf(data, archive));
    waiting = [];
    await service.serving(async (ask) => {
      for (const one of due) {
        const moment = ["before", "during", "after"][one.dates.indexOf(date)];
        said.get(one)?.push(...(await describe(ask, one, `${moment}, ${date}`)));
      }
    });
  }
  const days = new Set(files.map(({ date }) => date));
  for (const { title, dates } of cases) {
    const missing = dates.filter((date) => !days.has(date));
    if (missing.length > 0) throw new Error(`${title}: no file of ${missing.join(", ")}`);
  }
  return said;
}

const work = mkdtempSync(join(tmpdir(), "sidereal-cases-"));
try {
  const { only = "" } = values;
  const wanted = NAMED_CASES.filter(({ title, fullName }) => `${title} ${fullName}`.includes(only));
  const said = new Map<NamedCase, string[]>();
  for (const [archive, cases] of Map.groupBy(wanted, (one) => one.archive))
    for (const [one, lines] of await run(archive, cases, work)) said.set(one, lines);
  for (const one of wanted) {
    const { title, fullName, event, expected } = one;
    const lines = [
      `${title}: ${fullName}`,
      `  in the files: ${event}`,
      `  expected: ${expected}`,
      ...(said.get(one) ?? []),
    ];
    process.stdout.write(`${lines.join("\n")}\n\n`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
