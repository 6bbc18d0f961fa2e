import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadArchive } from "../../bench/judge/archive.js";
import { temporaryFolder } from "../support/imports.js";

const HEADER = "rank,item,repo_name,stars,forks,language,repo_url,username,issues,last_commit,description";

/** A data folder with two daily files of a Github-Ranking archive; the first lists a repository twice. */
function smallData(): string {
  const data = temporaryFolder();
  const daily = join(data, "github-ranking", "daily");
  mkdirSync(daily, { recursive: true });
  const row = (item: string, stars: number, name = "kite") =>
    `1,${item},${name},${stars},12,Go,https://github.com/acme/${name},acme,3,2026-01-01T00:00:00Z,"A kite, flying"`;
  const files = {
    "github-ranking-2026-01-02.csv": [HEADER, row("top-100-stars", 500), row("Go", 501)],
    "github-ranking-2026-01-03.csv": [HEADER, row("top-100-stars", 510, "Kite"), row("Go", 40, "string")],
  };
  for (const [name, lines] of Object.entries(files))
    writeFileSync(join(daily, name), `${lines.join("\n")}\n`);
  execFileSync("tar", [
    "cJf",
    join(daily, "github-ranking-daily-2026-01.tar.xz"),
    "-C",
    daily,
    ...Object.keys(files),
  ]);
  const manifest = [
    "file,source_commit_time",
    ...Object.keys(files).map((name) => `${name},${name.slice(15, 25)}T04:00:00Z`),
  ];
  writeFileSync(join(data, "github-ranking", "manifest.csv"), `${manifest.join("\n")}\n`);
  return data;
}

test("an archive is read as an import reads it, and the same from the stored copy", async () => {
  const data = smallData();
  for (const _ of ["parsed", "stored"]) {
    const { source, times, tracks } = await loadArchive(data, "daily", data);
    assert.equal(source, "github-ranking");
    assert.deepEqual(times, [Date.UTC(2026, 0, 2, 4), Date.UTC(2026, 0, 3, 4)]);
    assert.deepEqual(
      tracks.map(({ name, readings }) => [name, ...readings.snapshots().map(({ stars }) => stars)]),
      [
        ["acme/kite", 500, 510],
        ["acme/string", 40],
      ],
    );
    assert.deepEqual(
      tracks.map(({ pushed }) => [...pushed]),
      [[Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1)], [Date.UTC(2026, 0, 1)]],
    );
  }
});

test("without the data a script says what is missing", () => {
  const run = (...args: string[]) =>
    spawnSync(
      process.execPath,
      [fileURLToPath(new URL("../../bench/judge/jumps.js", import.meta.url)), ...args],
      {
        encoding: "utf8",
      },
    );
  assert.deepEqual(
    [run().status, run().stderr.includes("first argument must be the data folder")],
    [2, true],
  );
  const folder = temporaryFolder();
  const { status, stderr } = run(folder);
  assert.equal(status, 2);
  assert.match(stderr, /github-ranking.daily is missing/);
});
