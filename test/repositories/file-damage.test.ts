import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { type ArchiveFile, byTime, judge } from "../../src/repositories/files.js";
import type { DamageKind } from "../../src/repositories/record-rules.js";

const FIRST = Date.UTC(2026, 0, 1);

/** Daily files with these numbers of rows. */
const days = (...rows: number[]): ArchiveFile[] =>
  rows.map((count, i) => ({
    source: "github-ranking",
    file: `day-${i}.csv`,
    capturedAt: FIRST + i * DAY_MS,
    rows: count,
    zeros: 0,
    damage: [],
  }));

const found = (kind: DamageKind) => ({ kind, reason: kind });
const kindsOf = (files: readonly ArchiveFile[]) =>
  judge(files).map((damage) => damage.map(({ kind }) => kind).join(" "));

describe("The files of an archive", () => {
  test("with more than a tenth fewer rows than usual are damaged, and the numbers are given", () => {
    const files = days(3_600, 3_600, 2_000, 3_600, 3_593, 3_240, 3_000);
    assert.deepEqual(kindsOf(files), ["", "", "FEW_ROWS", "", "", "", "FEW_ROWS"]);
    assert.equal(judge(files)[2]?.[0]?.reason, "2,000 rows, 44 % fewer than the usual 3,597");
  });

  test("are compared with a single neighbour, or with nothing if they are alone", () => {
    assert.deepEqual(kindsOf(days(3_600)), [""]);
    assert.deepEqual(kindsOf(days(3_600, 1_000)), ["", "FEW_ROWS"]);
  });

  test("are not short by a few rows, if few are a large part", () => {
    assert.deepEqual(kindsOf(days(9, 9, 5, 9)), ["", "", "", ""]);
  });

  test("are normal if three in a row are as long, and two are not", () => {
    const long = [3_600, 3_600, 3_600, 3_600, 3_600];
    assert.deepEqual(kindsOf(days(...long, 2_160, 2_150, ...long)).filter(Boolean).length, 2);
    assert.deepEqual(kindsOf(days(...long, 2_160, 2_150, 2_100, ...long)).filter(Boolean), []);
    assert.deepEqual(kindsOf(days(...long, ...Array(48).fill(2_160), ...long)).filter(Boolean), []);
  });

  test("become normal, or damaged, when later ones are known", () => {
    assert.deepEqual(kindsOf(days(2_000, 2_000, 1_000)), ["", "", "FEW_ROWS"]);
    assert.deepEqual(kindsOf(days(2_000, 2_000, 1_000, 1_000, 1_000)).filter(Boolean), []);
    assert.deepEqual(kindsOf(days(1_000, 2_000, 2_000)), ["FEW_ROWS", "", ""]);
  });

  test("that are incomplete are not what others are compared with", () => {
    const files = days(3_600, 1, 1, 1, 1, 1, 3_600, 2_000);
    for (const file of files.slice(1, 6)) Object.assign(file, { damage: [found("CUT_OFF")] });
    assert.deepEqual(kindsOf(files).slice(5), ["CUT_OFF FEW_ROWS", "", "FEW_ROWS"]);
  });

  test("with counts of 0 if others have none are damaged, and if all have them they are not", () => {
    const files = days(3_000, 3_000, 3_000, 3_000).map((file, i) => ({
      ...file,
      zeros: [3, 160, 1_000, 0][i] ?? 0,
    }));
    assert.deepEqual(kindsOf(files), ["", "ZEROS", "ZEROS", ""]);
    assert.equal(
      judge(files)[2]?.[0]?.reason,
      "0 stars or forks in 1,000 of 3,000 rows (33 %), usually in 0 %",
    );
    assert.deepEqual(kindsOf(files.map((file) => ({ ...file, zeros: 1_000 }))).filter(Boolean), []);
  });

  test("with the same time are damaged, and it is said how many there are", () => {
    const files = days(100, 200, 300).map((file) => ({ ...file, capturedAt: FIRST }));
    assert.deepEqual(kindsOf(files.slice(0, 2)), ["FEW_ROWS SAME_TIME", "SAME_TIME"]);
    assert.match(
      judge(files)[1]?.at(-1)?.reason ?? "",
      /^3 files have the time 2026-01-01T00:00:00.000Z; of their 600 rows/,
    );
  });

  test("are judged the same again", () => {
    const files = days(3_600, 3_600, 2_000, 3_600, 1_800, 3_600).map((file, i) =>
      i === 4 ? { ...file, damage: [found("ENCODING")], zeros: 1_000 } : file,
    );
    const once = judge(files);
    const again = files.map((file, i) => ({ ...file, damage: once[i] ?? [] }));
    assert.deepEqual(judge(again), once);
    assert.deepEqual(files.toReversed().sort(byTime), files);
  });
});
