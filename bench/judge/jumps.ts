/**
 * Judges the anomalies by what happened next: `npm run -s build && node dist/bench/judge/jumps.js DATA_DIR [--all]`, where DATA_DIR
 * has the folders github-ranking and awesome-go. Takes every real jump of the archives, and reports which of those that went
 * bad were flagged, and how many of the others were. `--all` lists every false alarm; otherwise the first 40 of a kind.
 */
import { parseArgs } from "node:util";
import { DAY_MS } from "../../src/lib/clock.js";
import { type Archive, type ArchiveName, loadArchive, requireData, type Track } from "./archive.js";
import { isHeldOut } from "./hosts.js";
import { growthAt, openKinds } from "./judged.js";
import { findJumps, JUMP_CLASSES, type Jump } from "./steps.js";
import { dateOf, percent, print } from "./text.js";

/** Days from one file to the next. */
const SPACING: Readonly<Record<ArchiveName, number>> = { daily: 1, "awesome-go": 1, weekly: 7 };
/** How long after a jump its flag is looked for, in days. */
const LATER_DAYS = [3, 7] as const;
const LISTED = 40;
/** A jump was followed by forks if they grew at least this much as usual for the stars within 14 days. */
const FOLLOWED = 0.5;
/** The plainest rule there is, in forks per star: fewer are doubted. */
const FLAT_RULE = 0.02;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { all: { type: "boolean" } } });
const data = requireData(positionals[0], "daily");

/** A jump with the kinds of its open flags: on its day, and at the first reading the given number of days later; null: no such reading. */
interface Judged extends Jump {
  track: Track;
  onDay: Set<string>;
  later: (Set<string> | null)[];
  /** Days until it was first flagged; undefined: never within two weeks. */
  flaggedAfter: number | undefined;
}

function judge(jump: Jump, track: Track, source: string): Judged {
  const { readings } = track;
  const kindsAt = (index: number) => openKinds(growthAt(track, index, source), jump.at);
  const indexAfter = (days: number) => {
    const index = readings.countBefore(jump.at + (days - 0.25) * DAY_MS);
    return index < readings.length && readings.at(index) < jump.at + (days + 7.5) * DAY_MS
      ? index
      : undefined;
  };
  let flaggedAfter: number | undefined;
  if (jump.class === "bad") {
    for (let index = jump.index; index < readings.length && flaggedAfter === undefined; index++) {
      const days = (readings.at(index) - jump.at) / DAY_MS;
      if (days > 14.5) break;
      if (kindsAt(index).size > 0) flaggedAfter = Math.round(days);
    }
  }
  const later = LATER_DAYS.map((days) => {
    const index = indexAfter(days);
    return index === undefined ? null : kindsAt(index);
  });
  return { ...jump, track, onDay: kindsAt(jump.index), later, flaggedAfter };
}

function describe(jump: Judged): string {
  const { track, index, at, days, gained, usual, forks, openIssues, breadthAfter, lowest } = jump;
  const { readings, pushed } = track;
  const idle = (at - (pushed[index] ?? Number.NaN)) / DAY_MS;
  const signed = (value: number | null) => (value === null ? "–" : value < 0 ? `${value}` : `+${value}`);
  const from = readings.stars(index - 1);
  const before = readings.count(index - 1, 2);
  const breadth = forks === null || !before ? "–" : (forks / gained / (before / from)).toFixed(2);
  return [
    `${dateOf(at)} ${track.name}: ${from} +${gained}`,
    days > 1.5 ? ` in ${days.toFixed(0)} d` : "",
    ` (usual ${usual.toFixed(1)} a day), forks ${readings.count(index, 2) ?? "–"} (${signed(forks)}), issues ${signed(openIssues)}, breadth ${breadth}, after 14 d ${breadthAfter?.toFixed(2) ?? "–"}`,
    Number.isNaN(idle) ? "" : `, pushed ${Math.max(0, idle).toFixed(0)} d ago`,
    lowest < readings.stars(index) ? `, ${readings.stars(index) - lowest} gone within 14 d` : "",
  ].join("");
}

const kindsOf = (kinds: ReadonlySet<string>) => (kinds.size === 0 ? "no" : [...kinds].sort().join(" "));

function reportBad(bad: readonly Judged[]): void {
  print(`  went bad (a third gone within 14 days): ${bad.length}`);
  for (const jump of bad) {
    const { flaggedAfter, onDay } = jump;
    const flagged =
      flaggedAfter === undefined
        ? "NEVER flagged"
        : flaggedAfter === 0
          ? `flagged that day: ${kindsOf(onDay)}`
          : `flagged after ${flaggedAfter} d`;
    print(`    ${describe(jump)} → ${flagged}`);
  }
  const within = (days: number) =>
    bad.filter(({ flaggedAfter }) => flaggedAfter !== undefined && flaggedAfter <= days).length;
  print(
    `    flagged on the day ${percent(within(0), bad.length)}, within 3 days ${percent(within(3), bad.length)}`,
  );
}

function reportGood(good: readonly Judged[]): void {
  const moments = ["on the day", ...LATER_DAYS.map((days) => `open after ${days} days`)];
  const at = (jump: Judged, moment: number) => (moment === 0 ? jump.onDay : (jump.later[moment - 1] ?? null));
  print(`  good: ${good.length} of ${new Set(good.map(({ track }) => track.name)).size} repositories`);
  for (const [i, moment] of moments.entries()) {
    const known = good.filter((jump) => at(jump, i) !== null);
    const kinds = new Set(known.flatMap((jump) => [...(at(jump, i) ?? [])]));
    const flagged = known.filter((jump) => (at(jump, i)?.size ?? 0) > 0);
    const byKind = [...kinds]
      .sort()
      .map((kind) => `${kind} ${known.filter((jump) => at(jump, i)?.has(kind)).length}`);
    const among = (label: string, isIn: (jump: Judged) => boolean) =>
      `${label} ${percent(flagged.filter(isIn).length, known.filter(isIn).length)}`;
    const parts = [
      among("tuning", ({ track }) => !isHeldOut(track.name)),
      among("held out", ({ track }) => isHeldOut(track.name)),
      among("followed by forks", ({ breadthAfter }) => (breadthAfter ?? 0) >= FOLLOWED),
    ];
    print(`    flagged ${moment}: ${percent(flagged.length, known.length)} ${byKind.join(", ")}`);
    print(`      ${parts.join("; ")}`);
  }
  const narrow = good.filter(({ forks, gained }) => forks !== null && forks < FLAT_RULE * gained);
  print(
    `    for comparison, fewer than ${FLAT_RULE * 100} forks for 100 stars: ${percent(narrow.length, good.length)}`,
  );
  const flagged = good.filter(
    ({ onDay, later }) => onDay.size > 0 || later.some((kinds) => (kinds?.size ?? 0) > 0),
  );
  for (const jump of values.all ? flagged : flagged.slice(0, LISTED)) {
    const later = LATER_DAYS.map((days, i) => `${days} d ${kindsOf(jump.later[i] ?? new Set())}`);
    print(`      ${describe(jump)} → that day ${kindsOf(jump.onDay)}, ${later.join(", ")}`);
  }
  if (!values.all && flagged.length > LISTED)
    print(`      … and ${flagged.length - LISTED} more; --all lists them`);
}

/** Prints what there is to say of an archive, and returns its good jumps. */
function report(name: ArchiveName, archive: Archive): Judged[] {
  const jumps = archive.tracks.flatMap((track) =>
    findJumps(track.readings, SPACING[name]).map((jump) => judge(jump, track, archive.source)),
  );
  const of = (wanted: Jump["class"]) => jumps.filter((jump) => jump.class === wanted);
  print(`${name}: ${archive.times.length} files, ${archive.tracks.length} names, ${jumps.length} jumps`);
  print(`  ${JUMP_CLASSES.map((one) => `${one} ${of(one).length}`).join(", ")}`);
  for (const one of ["return", "reused-name"] as const) {
    for (const jump of of(one)) print(`    ${one}: ${describe(jump)} → ${kindsOf(jump.onDay)}`);
  }
  reportBad(of("bad"));
  reportGood(of("good"));
  print();
  return of("good");
}

const good: Judged[] = [];
for (const name of ["daily", "weekly"] as const) good.push(...report(name, await loadArchive(data, name)));
const flagged = good.filter(({ onDay }) => onDay.size > 0);
print(`daily and weekly, good: flagged on the day ${percent(flagged.length, good.length)}`);
print();
report("awesome-go", await loadArchive(data, "awesome-go"));
