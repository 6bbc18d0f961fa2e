/**
 * Judges the anomalies by campaigns and leaps that are added to real series: `npm run -s build &&
 * node dist/bench/judge/campaigns.js DATA_DIR [--seed 1] [--campaigns 600] [--leaps 600] [--ranked 200] [--all]`, where DATA_DIR has the
 * folders github-ranking and awesome-go. Prints the share that is flagged, and the rankings that campaigns reach.
 *
 * How they are made: `campaign.ts` and `leap.ts`. Both are printed for two halves, divided by a hash of the repository's name:
 * constants are chosen by the tuning half only.
 */
import { parseArgs } from "node:util";
import { Random } from "../../src/demo/random.js";
import { type Archive, type ArchiveName, loadArchive, requireData, type Track } from "./archive.js";
import { boardsAt, type DayBoards, enteredLists, type List } from "./boards.js";
import { type Campaign, drawCampaign, FORK_SHARES, SHAPES } from "./campaign.js";
import { inject } from "./changes.js";
import { isHeldOut, type Place, pickPlace } from "./hosts.js";
import { growthAt, openKinds } from "./judged.js";
import { graft, type Template, templatesOf } from "./leap.js";
import { findJumps, usualDay } from "./steps.js";

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
/** Days after the last stars of a campaign on which it is looked for in the rankings: until the longest window has passed. */
const RANKED_DAYS = 31;
/** A leap has breadth if its forks grow at least this much as usual for its stars. */
const ENOUGH_BREADTH = 0.5;

const print = (line = "") => process.stdout.write(`${line}\n`);
const percent = (part: number, whole: number) =>
  whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} % (${part} of ${whole})`;
const date = (at: number) => new Date(at).toISOString().slice(0, 10);

/** The kinds of open flags on a changed series, on the first visible day and the days after it. */
interface Flags {
  onDay: Set<string>;
  withinThree: Set<string>;
  /** A week after the last change of stars. */
  weekLater: Set<string>;
  /** Counted part of the gain of the first visible day. */
  counted: number;
}

function flagsOf({ track, start }: Place, visible: number, lastDay: number): Flags {
  const source = archiveSource.get(track) ?? "";
  const since = track.readings.at(start);
  const at = (index: number) => openKinds(growthAt(track, index, source), since, track.readings.at(index));
  const day = start + visible;
  const withinThree = new Set([0, 1, 2, 3].flatMap((later) => [...at(day + later)]));
  const growth = growthAt(track, day, source).find(({ window }) => window === "24h");
  const gained = growth === undefined ? 0 : growth.to.stars - growth.from.stars;
  const counted = growth === undefined || gained <= 0 ? 0 : growth.starsCounted / gained;
  const last = Math.min(track.readings.length - 1, start + lastDay + 7);
  return { onDay: at(day), withinThree, weekLater: at(last), counted };
}

/** The format of the archive that a changed track is from. */
const archiveSource = new Map<Track, string>();

interface Judged {
  place: Place;
  isHeldOut: boolean;
  flags: Flags;
}
interface JudgedCampaign extends Judged {
  campaign: Campaign;
}
interface JudgedLeap extends Judged {
  template: Template;
}

function judgeCampaigns(archive: Archive, count: number, random: Random): JudgedCampaign[] {
  const judged: JudgedCampaign[] = [];
  while (judged.length < count) {
    const { track, start } = pickPlace(random, archive.tracks);
    const [stars, forks] = [track.readings.stars(start - 1), track.readings.count(start - 1, 2)];
    const usual = usualDay(track.readings, start);
    if (usual === undefined || stars === 0) continue;
    const campaign = drawCampaign(random, { usual, forksPerStar: forks === null ? null : forks / stars });
    if (campaign === undefined) continue;
    const place = { track: inject(track, start, campaign.changes), start };
    archiveSource.set(place.track, archive.source);
    const flags = flagsOf(place, campaign.visible, campaign.days - 1);
    judged.push({ place, campaign, isHeldOut: isHeldOut(track.name), flags });
  }
  return judged;
}

function judgeLeaps(archive: Archive, count: number, random: Random): JudgedLeap[] {
  const templates = archive.tracks.flatMap((track) => templatesOf(track, findJumps(track.readings, 1)));
  const broad = templates.filter(({ breadth }) => (breadth ?? 0) >= ENOUGH_BREADTH);
  print(
    `  ${templates.length} real leaps of ${new Set(templates.map(({ track }) => track.name)).size} repositories as templates, ${broad.length} with at least ${ENOUGH_BREADTH} of the usual forks`,
  );
  if (templates.length === 0) return [];
  const judged: JudgedLeap[] = [];
  while (judged.length < count) {
    const template = random.pick(templates);
    const { track, start } = pickPlace(random, archive.tracks);
    const grafted = graft(random, template, { track, start });
    if (grafted === undefined) continue;
    const place = { track: inject(track, start, grafted.changes), start };
    archiveSource.set(place.track, archive.source);
    const flags = flagsOf(place, grafted.visible, grafted.visible);
    judged.push({ place, template, isHeldOut: isHeldOut(template.track.name), flags });
  }
  return judged;
}

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
  return `${date(readings.at(start))} ${track.name} (${readings.stars(start - 1)} stars, ${readings.count(start - 1, 2) ?? "–"} forks)`;
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
      `      flagged ${[...flags.withinThree].join(" ")}: ${describe(one)} stars/forks/issues ${steps.join(" ")}; from ${template.track.name} ${date(template.track.readings.at(template.index))}, breadth ${template.breadth?.toFixed(2) ?? "unknown"}${out ? "; held out" : ""}`,
    );
  }
}

function reportRanks(archive: Archive, campaigns: readonly JudgedCampaign[]): void {
  const boards = new Map<number, DayBoards>();
  const reached = new Map<JudgedCampaign, { list: List; day: number }[]>();
  for (const one of campaigns) {
    const { track, start } = one.place;
    const end = Math.min(track.readings.length, start + one.campaign.days + RANKED_DAYS);
    for (let index = start; index < end; index++) {
      const at = track.readings.at(index);
      const board = boards.get(at) ?? boardsAt(archive, at);
      boards.set(at, board);
      for (const list of enteredLists(board, { track, index, source: archive.source })) {
        const own = reached.get(one) ?? [];
        reached.set(one, [...own, { list, day: index - start - one.campaign.visible }]);
      }
    }
  }
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
  reportLeaps(judgeLeaps(archive, Number(values.leaps), random));
  // The rankings of a day are computed once: those that begin close together share most days.
  const begun = ({ place: { track, start } }: Judged) => track.readings.at(start);
  const ranked = campaigns.toSorted((a, b) => begun(a) - begun(b)).slice(0, Number(values.ranked));
  reportRanks(archive, ranked);
  print();
}
