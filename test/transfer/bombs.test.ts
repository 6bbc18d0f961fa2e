import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { CsvRecords } from "../../src/transfer/csv.js";
import { readLines } from "../../src/transfer/lines.js";
import { Refusal } from "../../src/transfer/values.js";
import { ImportWorld, RANKING_HEADER, rankingFile } from "../support/imports.js";

const MIB = 1024 * 1024;
const HEADER = '{"type":"header","format":"sidereal","version":1}\n';
const repository = (name: string, more: object = {}) =>
  `${JSON.stringify({ type: "repository", provider: "GITHUB", fullName: `o/${name}`, ...more })}\n`;
const BOMB =
  "decompresses to more than 200 times its size; not all of it was read. If that is right, decompress it first";
const ENDLESS = "the line is longer than 64 MiB; nothing was read from here on";

/** A gzip file of many members: a beginning, then one byte over and over. */
function gzipBomb(beginning: string, byte: number, mebibytes: number): Uint8Array {
  const member = gzipSync(Buffer.alloc(32 * MIB, byte), { level: 1 });
  return Buffer.concat([gzipSync(beginning), ...Array.from({ length: mebibytes / 32 }, () => member)]);
}

/** Imports a file, and then one that must be read whatever the first one was. */
async function importBefore(name: string, content: string | Uint8Array) {
  let bytes = 0;
  const { refused, repositories, report } = await new ImportWorld().import(
    { [name]: content, "last.ndjson": HEADER + repository("last") },
    {
      onProgress: (progress) => {
        if (progress.file.endsWith(name)) bytes = progress.bytes;
      },
    },
  );
  assert.ok(repositories.has("o/last"), "the next file is read");
  return { refused, repositories, report, bytes };
}

describe("A file made to keep a reader busy", () => {
  test("that decompresses to one endless line, to zeros or to empty lines is given up early", async () => {
    for (const [name, beginning, byte] of [
      ["line.ndjson.gz", `${HEADER}{"type":"`, 0x61],
      ["zeros.ndjson.gz", HEADER, 0],
      ["empty.ndjson.gz", HEADER, 0x0a],
      ["line-2026-04-01.csv.gz", `${rankingFile({})}x`, 0x61],
    ] as const) {
      const { refused, report } = await importBefore(name, gzipBomb(beginning, byte, 512));
      assert.equal(refused.at(-1), `${name}: ${BOMB}`);
      assert.equal(report.files, 1);
    }
  });

  test("with an endless line that grows slowly is given up at that line", async () => {
    let chunks = 0;
    const input = Readable.from(
      (function* () {
        yield Buffer.from("first\n\nthird\n");
        for (;;) {
          chunks++;
          yield Buffer.alloc(MIB, 0x61);
        }
      })(),
      { objectMode: false, highWaterMark: 1 },
    );
    const lines: unknown[] = [];
    await assert.rejects(
      async () => {
        for await (const group of readLines(input)) lines.push(...group);
      },
      (error) => error instanceof Refusal && error.message === ENDLESS && error.line === 4,
    );
    assert.deepEqual(lines, [
      { number: 1, text: "first" },
      { number: 3, text: "third" },
    ]);
    assert.ok(chunks < 80, `${chunks} MiB were read`);
  });

  test("with an endless row is given up at that row", () => {
    const records = new CsvRecords();
    assert.equal(records.read("a,b\n1,2\n").length, 2);
    const feed = () => {
      for (let chunks = 0; chunks < 80; chunks++) records.read("x".repeat(MIB));
    };
    assert.throws(feed, (error) => error instanceof Refusal && error.message === ENDLESS && error.line === 3);
  });

  test("with a line of too many values, nested or not, has that line refused", async () => {
    const shapes = [
      "[".repeat(3 * MIB),
      '{"a":'.repeat(500_000),
      `{"type":"repository","topics":${"[".repeat(MIB)}${"]".repeat(MIB)}}`,
      `[${"{},".repeat(1_000_000)}{}]`,
    ];
    const { refused, repositories } = await importBefore(
      "x.ndjson",
      HEADER + shapes.map((shape) => `${shape}\n`).join("") + repository("after"),
    );
    assert.deepEqual(
      refused,
      shapes.map((_, i) => `x.ndjson:${i + 2}: the line has more than 10000 values`),
    );
    assert.ok(repositories.has("o/after"));
  });

  test("with as many topics and previous names as a repository may have is read", async () => {
    const previousFullNames = Array.from({ length: 1_000 }, (_, i) => ({
      fullName: `${"[{,".repeat(60)}/${i}`,
      until: "2026-01-01T00:00:00Z",
    }));
    const topics = Array.from({ length: 100 }, (_, i) => `"[{,${i}`);
    const description = '[{,"\\'.repeat(2_000);
    const line = repository("full", { topics, previousFullNames, description });
    const { refused, repositories } = await importBefore("x.ndjson", HEADER + line);
    assert.deepEqual(refused, []);
    assert.deepEqual(repositories.get("o/full")?.facts.description, description);
  });

  test("with a million columns, or with a row of them, is refused", async () => {
    const columns = ",c".repeat(1_000_000);
    const { refused } = await importBefore("x-2026-04-01.csv", `${RANKING_HEADER}${columns}\n`);
    assert.deepEqual(refused, [
      "x-2026-04-01.csv: the header line: the record is too long; a quote may never be closed",
    ]);
    const { refused: rows } = await importBefore("y-2026-04-01.csv", `${RANKING_HEADER}\nx${columns}\n`);
    assert.deepEqual(rows, ["y-2026-04-01.csv:2: the record is too long; a quote may never be closed"]);
  });

  test("that is not compressed as its name says, or in several parts, is refused with the reason", async () => {
    const zip = Buffer.from("PK\u0003\u0004\u0014\u0000\u0000\u0000\b\u0000".padEnd(100, "x"), "latin1");
    for (const [name, content] of [
      ["zip.ndjson.gz", zip],
      ["zip.ndjson.zst", zip],
      ["plain.ndjson.gz", HEADER],
    ] as const)
      assert.deepEqual((await importBefore(name, content)).refused, [
        `${name}: not compressed as its name says (${name.slice(name.lastIndexOf("."))}), or damaged at the beginning`,
      ]);
    const parts = [HEADER, repository("second")].map((part) => zstdCompressSync(part));
    assert.deepEqual((await importBefore("parts.ndjson.zst", Buffer.concat(parts))).refused, [
      "parts.ndjson.zst: has several compressed parts; not all of it was read. Decompress it first",
    ]);
  });
});
