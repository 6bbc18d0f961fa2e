import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CsvRecord, CsvRecords } from "../../src/transfer/csv.js";
import { collectGarbage } from "../support/collect-garbage.js";
import { csvRow } from "../support/imports.js";
import { examples, fc } from "../support/properties.js";

/** The records of a text that comes in these pieces. */
function recordsOf(...pieces: string[]): CsvRecord[] {
  const records = new CsvRecords();
  return [...pieces.flatMap((piece) => records.read(piece)), ...records.end()];
}

const cell = fc.oneof(
  fc.constantFrom(
    "",
    "plain",
    "with,comma",
    'with "quotes"',
    "two\nlines",
    "two\r\nlines",
    " spaces ",
    '"',
    "\n",
  ),
  fc
    .string({ unit: "grapheme", maxLength: 12 })
    .filter((text) => !text.includes("\r") && !text.startsWith("\uFEFF")),
);
/** A record that is not an empty line. */
const cells = fc.array(cell, { minLength: 2, maxLength: 5 });
const lineBreak = fc.constantFrom("\n", "\r\n");
/** Places at which a text is cut. */
const cuts = fc.array(fc.nat({ max: 10_000 }), { maxLength: 8 });

function cutAt(text: string, places: readonly number[]): string[] {
  const sorted = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((from, i) => text.slice(from, sorted[i] ?? text.length));
}

describe("CSV records", () => {
  test("a cell that is kept does not keep the chunk it was read from", () => {
    const records = new CsvRecords();
    const address = (i: number) => `https://example.org/owner/repository-${i}`;
    const heap = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const kept: string[] = [];
    const before = heap();
    for (let i = 0; i < 500; i++) {
      const rows = `${address(i)},"quoted, ${address(i)}"\n${`${"x".repeat(99)}\n`.repeat(300)}`;
      const [first] = records.read(rows);
      if (first !== undefined && "cells" in first) kept.push(...first.cells);
    }
    const grown = heap() - before;
    assert.equal(kept.at(-1), `quoted, ${address(499)}`);
    assert.ok(grown < 2e6, `${grown} bytes are kept of 15 MB`);
  });

  test("are what was written, with the lines they begin on, wherever the text is cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cells, lineBreak, fc.nat({ max: 2 })), { maxLength: 8 }),
        fc.boolean(),
        fc.boolean(),
        cuts,
        (rows, hasMark, endsWithBreak, places) => {
          let text = hasMark ? "\uFEFF" : "";
          let line = 1;
          const expected: CsvRecord[] = [];
          for (const [i, [row, end, emptyLines]] of rows.entries()) {
            const written = csvRow(row);
            expected.push({ line, cells: row });
            const ends = i === rows.length - 1 && !endsWithBreak ? "" : end + end.repeat(emptyLines);
            text += written + ends;
            line += (written + ends).split("\n").length - 1;
          }
          assert.deepEqual(recordsOf(...cutAt(text, places)), expected);
        },
      ),
      { numRuns: examples(1_000) },
    );
  });

  test("of any text are the same wherever it is cut, and account for lines in order", () => {
    const anything = fc
      .array(fc.constantFrom('"', ",", "\n", "\r", "a", '""', ',"', '",', '"\n', "\uFEFF"), { maxLength: 40 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(anything, cuts, (text, places) => {
        const whole = recordsOf(text);
        assert.deepEqual(recordsOf(...cutAt(text, places)), whole);
        assert.deepEqual(recordsOf(...text), whole);
        const lines = whole.map(({ line }) => line);
        assert.deepEqual(
          lines,
          [...new Set(lines)].sort((a, b) => a - b),
        );
        assert.ok((lines.at(-1) ?? 0) <= text.split("\n").length);
      }),
      { numRuns: examples(2_000) },
    );
  });

  test("a broken one costs its own line and no other", () => {
    const good = fc.array(fc.constantFrom("a", "b c", 'x "y" z', "1,2"), { minLength: 2, maxLength: 3 });
    const broken = fc.constantFrom('a,"b" c', 'a,b"c', 'a,"b""c" d,"e', '"a"b,c');
    fc.assert(
      fc.property(
        fc.array(good, { maxLength: 5 }),
        broken,
        fc.array(good, { maxLength: 5 }),
        (above, bad, below) => {
          const text = [...above.map(csvRow), bad, ...below.map(csvRow)].join("\n");
          const [faults, rest] = [
            recordsOf(text).filter((record) => "fault" in record),
            recordsOf(text).flatMap((record) => ("cells" in record ? [record.cells] : [])),
          ];
          assert.deepEqual(
            faults.map(({ line }) => line),
            [above.length + 1],
          );
          assert.deepEqual(rest, [...above, ...below]);
        },
      ),
    );
  });

  test("one that never ends is given up, however long the text is", () => {
    const rows = `${"x".repeat(99)},1\n`.repeat(20_000);
    const records = recordsOf(...(`a,"open\n${rows}b,2`.match(/[\s\S]{1,65536}/g) ?? []));
    assert.deepEqual(records[0], { line: 1, fault: "the record is too long; a quote may never be closed" });
    assert.equal(records.length, 20_002);
    assert.deepEqual(records.at(-1), { line: 20_002, cells: ["b", "2"] });
    const endless = recordsOf(...Array.from({ length: 40 }, () => "y".repeat(65_536)), "\nb,2");
    assert.deepEqual(
      endless.map((record) => [record.line, "fault" in record]),
      [
        [1, true],
        [2, false],
      ],
    );
  });
});
