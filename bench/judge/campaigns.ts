/**
 * Judges the anomalies by campaigns and leaps that are added to real series: `npm run -s build &&
 * node dist/bench/judge/campaigns.js DATA_DIR [--seed 1] [--campaigns 600] [--leaps 600] [--ranked 200] [--all]`, where DATA_DIR has the
 * folders github-ranking and awesome-go. Prints the share that is flagged, and the rankings that campaigns reach.
 *
 * How they are made: `campaign.ts` and `leap.ts`. Both are printed for two halves, divided by a hash of the repository's name:
 * constants are chosen by the tuning half only.
 */
import { parseArgs } from "node:util";
import { Random } from "../synthetic/random.js";
import { type Judged, type JudgedCampaign, type JudgedLeap, judgeCampaigns, judgeLeaps } from "./added.js";
import { type Archive, type ArchiveName, loadArchive, requireData } from "./archive.js";
import { FORK_SHARES, SHAPES } from "./campaign.js";
import { type Template, templatesOf } from "./leap.js";
import { placesOf } from "./reached.js";
import { findJumps, usualDay } from "./steps.js";
import { dateOf, percent, print } from "./text.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    campaigns: { type: "string", default: "600" },
    leaps: { type: "string", default: "600" },
    ranked: { type: "string", default: "200" },
    all: { type: "boolean", default: false },
  },
});
const data = requireData(positionals[0], "daily");
const LISTED = 15;
/** A leap has breadth if its forks grow at least this much as usual for its stars. */
const ENOUGH_BREADTH = 0.5;

const HALVES = [
  ["tuning", (one: Judged) => !one.isHeldOut],
  ["held out", (one: Judged) => one.isHeldOut],
] as const;

function flagLine(label: string, all: readonly Judged[]): void {
  const share = (key: "onDay" | "withinThree" | "weekLater") => {
    const flagged = all.filter(({ flags }) => flags[key].size > 0);
    return percent(flagged.length, all.length);
  };
  print(
    `    ${label.padEnd(22)} on the day ${share("onDay")}, within 3 days ${share("withinThree")}, a week after ${share("weekLater")}`,
  );
}

function kindLine(all: readonly Judged[]): void {
  for (const key of ["onDay", "withinThree"] as const) {
    const kinds = new Set(all.flatMap(({ flags }) => [...flags[key]]));
    const counts = [...kinds]
      .sort()
      .map((kind) => `${kind} ${all.filter(({ flags }) => flags[key].has(kind)).length}`);
    print(`    by kind, ${key === "onDay" ? "on the day" : "within 3 days"}: ${counts.join(", ") || "none"}`);
  }
}

function describe({ place: { track, start } }: Judged): string {
  const { readings } = track;
  return `${dateOf(readings.at(start))} ${track.name} (${readings.stars(start - 1)} stars, ${readings.count(start - 1, 2) ?? "–"} forks)`;
}

function reportCampaigns(all: readonly JudgedCampaign[]): void {
  print(`  campaigns: ${all.length}`);
  for (const [label, isIn] of HALVES) flagLine(label, all.filter(isIn));
  for (const shape of SHAPES)
    flagLine(
      shape,
      all.filter(({ campaign }) => campaign.shape === shape),
    );
  for (const share of FORK_SHARES)
    flagLine(
      `${share} forks`,
      all.filter(({ campaign }) => campaign.forkShare === share),
    );
  for (const [least, most] of [
    [0, 500],
    [500, 3_000],
    [3_000, Number.POSITIVE_INFINITY],
  ] as const)
    flagLine(
      `${least} stars or more`,
      all.filter(({ campaign: { size } }) => size >= least && size < most),
    );
  kindLine(all);
  const missed = all.filter(({ flags }) => flags.withinThree.size === 0);
  for (const one of values.all ? missed : missed.slice(0, LISTED)) {
    const { campaign, place, isHeldOut: out } = one;
    const usual = usualDay(place.track.readings, place.start) ?? 0;
    const days = campaign.changes.stars
      .slice(0, campaign.days)
      .map((stars, i) => `${stars}/${campaign.changes.forks[i]}`);
    print(
      `      not flagged: ${describe(one)} usual ${usual.toFixed(1)}; ${campaign.shape}, stars/forks ${days.join(" ")}${out ? "; held out" : ""}`,
    );
  }
}

function reportLeaps(all: readonly JudgedLeap[]): void {
  const groups = [
    [
      "with breadth",
      all.filter(({ template: { breadth } }) => breadth !== null && breadth >= ENOUGH_BREADTH),
    ],
    ["without", all.filter(({ template: { breadth } }) => breadth !== null && breadth < ENOUGH_BREADTH)],
    ["unknown", all.filter(({ template: { breadth } }) => breadth === null)],
  ] as const;
  print(`  genuine leaps: ${all.length}`);
  for (const [group, own] of groups) {
    if (own.length === 0) continue;
    for (const [label, isIn] of HALVES) flagLine(`${label}, ${group}`, own.filter(isIn));
    const led = own.filter(({ flags }) => flags.counted >= 0.9);
    print(`    ${group}: nine tenths of the gain count on the day: ${percent(led.length, own.length)}`);
  }
  kindLine(all);
  const flagged = all.filter(({ flags }) => flags.withinThree.size > 0);
  for (const one of values.all ? flagged : flagged.slice(0, LISTED)) {
    const { template, flags, place, isHeldOut: out } = one;
    const steps = [0, 1, 2, 3].map((i) => {
      const { readings } = place.track;
      const step = (column: number) =>
        readings.value(place.start + i, column) - readings.value(place.start + i - 1, column);
      return `${step(1)}/${step(2)}/${step(3)}`;
    });
    print(
      `      flagged ${[...flags.withinThree].join(" ")}: ${describe(one)} stars/forks/issues ${steps.join(" ")}; from ${template.track.name} ${dateOf(template.track.readings.at(template.index))}, breadth ${template.breadth?.toFixed(2) ?? "unknown"}${out ? "; held out" : ""}`,
    );
  }
}

function reportTemplates(templates: readonly Template[]): void {
  const broad = templates.filter(({ breadth }) => (breadth ?? 0) >= ENOUGH_BREADTH);
  const names = new Set(templates.map(({ track }) => track.name));
  print(
    `  ${templates.length} real leaps of ${names.size} repositories as templates, ${broad.length} with at least ${ENOUGH_BREADTH} of the usual forks`,
  );
}

function reportRanks(archive: Archive, campaigns: readonly JudgedCampaign[]): void {
  const reached = placesOf(archive, campaigns);
  print(`  rankings, of ${campaigns.length} campaigns, each alone among all real repositories of the day`);
  for (const excludeAnomalous of [true, false]) {
    const label = excludeAnomalous ? "with excludeAnomalous" : "without it";
    const own = [...reached].flatMap(([one, lists]) => {
      const hits = lists.filter(({ list }) => list.excludeAnomalous === excludeAnomalous);
      return hits.length === 0 ? [] : [{ one, hits }];
    });
    print(`    ${label}: ${percent(own.length, campaigns.length)} reach a top 25 on some day`);
    const byList = Map.groupBy(
      own.flatMap(({ hits, one }) => hits.map(({ list }) => ({ list, one }))),
      ({ list }) => `${list.order} ${list.window}`,
    );
    for (const [list, entries] of byList)
      print(
        `      ${list}: ${new Set(entries.map(({ one }) => one)).size} campaigns, ${entries.length} days`,
      );
    for (const { one, hits } of values.all ? own : own.slice(0, LISTED)) {
      const [first] = hits;
      print(
        `      ${describe(one)} ${one.campaign.size} stars, ${one.campaign.shape}, ${one.campaign.forkShare} forks: ${hits.length} places, first ${first?.list.order} ${first?.list.window} on day ${first?.day}`,
      );
    }
  }
}

for (const name of ["daily", "awesome-go"] as const satisfies readonly ArchiveName[]) {
  const archive = await loadArchive(data, name);
  const random = new Random(Number(values.seed));
  print(`${name}: ${archive.tracks.length} names${name === "daily" ? "" : ", without forks and issues"}`);
  const campaigns = judgeCampaigns(archive, Number(values.campaigns), random);
  reportCampaigns(campaigns);
  const templates = archive.tracks.flatMap((track) => templatesOf(track, findJumps(track.readings, 1)));
  reportTemplates(templates);
  reportLeaps(judgeLeaps(archive, Number(values.leaps), { random, templates }));
  // The rankings of a day are computed once: those that begin close together share most days.
  const begun = ({ place: { track, start } }: Judged) => track.readings.at(start);
  const ranked = campaigns.toSorted((a, b) => begun(a) - begun(b)).slice(0, Number(values.ranked));
  reportRanks(archive, ranked);
  print();
}
