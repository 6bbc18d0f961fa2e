import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { importFiles } from "../../src/transfer/import.js";
import { exportCatalogue } from "../../src/transfer/transfer.js";
import { onBothEngines } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { openCatalog } from "../support/tables.js";

/**
 * An export of each version of the format, as the program wrote it that introduced the version. They are never changed: whoever has
 * such a file must be able to import it.
 */
const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  1: [
    '{"type":"header","format":"sidereal","version":1}',
    '{"type":"repository","id":"1","provider":"GITHUB","providerId":"R_1","fullName":"a/one","importSource":"github-ranking","discoveredAt":"2026-04-28T12:00:00.000Z","refreshedAt":"2026-04-30T12:00:00.000Z","previousFullNames":[{"fullName":"a/earlier","until":"2026-04-29T12:00:00.000Z"}],"url":"https://github.com/a/one","description":"The first \\"one\\" – ünïcode","homepage":"https://one.example/","language":"C++","license":"MIT","topics":["x","y z"],"stars":1200,"forks":7,"openIssues":0,"watchers":null,"fork":false,"archived":true,"availability":"AVAILABLE","createdAt":"2020-01-01T00:00:00.000Z","pushedAt":null}',
    '{"type":"snapshot","capturedAt":"2026-04-28T12:00:00.000Z","stars":1000,"forks":null,"openIssues":null,"watchers":null,"source":"BACKFILLED"}',
    '{"type":"snapshot","capturedAt":"2026-04-29T12:00:00.000Z","stars":1100,"forks":6,"openIssues":1,"watchers":null,"source":"IMPORTED"}',
    '{"type":"snapshot","capturedAt":"2026-04-30T12:00:00.000Z","stars":1200,"forks":7,"openIssues":0,"watchers":3,"source":"OBSERVED"}',
    '{"type":"repository","id":"2","provider":"CODEBERG","fullName":"g/h","discoveredAt":"2026-04-30T12:00:00.000Z","availability":"GONE"}',
    '{"type":"file","source":"github-ranking","file":"2026-04-29.csv","capturedAt":"2026-04-29T12:00:00.000Z","rows":30,"zeros":1,"damage":[{"kind":"ENCODING","reason":"9 rows"}]}',
  ],
};

const folder = temporaryFolder();

onBothEngines("An export of an earlier version", (engine) => {
  for (const [version, lines] of Object.entries(EXPORTS)) {
    test(`imports without loss: version ${version}`, async () => {
      const { catalog } = await openCatalog(engine);
      const path = join(folder, `${engine.name}-${version}.ndjson`);
      writeFileSync(path, `${lines.join("\n")}\n`);
      const refused: unknown[] = [];
      await importFiles(catalog, [path], { onRefused: (problem) => refused.push(problem) });
      assert.deepEqual(refused, []);
      let text = "";
      for await (const exported of exportCatalogue(catalog)) text += exported;
      const written = text
        .trim()
        .split("\n")
        .map((line): unknown => JSON.parse(line));
      assert.deepEqual(
        written.slice(1),
        lines.slice(1).map((line): unknown => JSON.parse(line)),
      );
    });
  }
});
