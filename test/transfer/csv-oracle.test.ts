import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { CsvRecords } from "../../src/transfer/csv.js";
import { examples, fc } from "../support/properties.js";

const cell = fc.string({
  unit: fc.constantFrom("a", "é", "日", ",", '"', "\n", "\r\n", " ", "1"),
  maxLength: 6,
});
const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 8 });

/** A cell as it is written: quoted where it must be, and sometimes where it need not. */
function written(value: string, always: boolean): string {
  return always || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

test("well-formed files are split as csv-parse splits them, wherever the text is cut", () => {
  fc.assert(
    fc.property(
      rows,
      fc.boolean(),
      fc.constantFrom("\n", "\r\n"),
      fc.array(fc.nat(60), { maxLength: 5 }),
      (given, always, end, cuts) => {
        const text = given.map((row) => row.map((value) => written(value, always)).join(",")).join(end) + end;
        const records = new CsvRecords();
        const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
        const found = places.slice(1).flatMap((place, i) => records.read(text.slice(places[i], place)));
        found.push(...records.end());
        const cells = found.map((record) => ("cells" in record ? record.cells : record.fault));
        assert.deepEqual(cells, parse(text, { relax_column_count: true, skip_empty_lines: true }));
      },
    ),
    { numRuns: examples(2_000) },
  );
});
