import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "csv-parse/sync";
import { zeroThird } from "../../bench/judge/damage.js";
import {
  correlation,
  falsePlaces,
  faultsOf,
  medianError,
  type Pair,
  readSuccessions,
  shared,
} from "../../bench/judge/ranked.js";
import { temporaryFolder } from "../support/imports.js";

const SUCCESSIONS = readSuccessions(
  [
    "first_seen_file_date,kind,old_url,new_url",
    "2026-01-05,ren,https://github.com/Acme/Kite,https://github.com/acme/dragon",
    "2026-01-05,case,https://github.com/acme/String,https://github.com/acme/string",
    "2026-01-09,ren,https://github.com/acme/bow,https://github.com/acme/tail",
  ].join("\n"),
);
const AT = Date.UTC(2026, 0, 6);

test("a change of letter case is no succession", () => {
  assert.deepEqual(SUCCESSIONS, [
    { before: "acme/kite", after: "acme/dragon", since: "2026-01-05" },
    { before: "acme/bow", after: "acme/tail", since: "2026-01-09" },
  ]);
});

test("a place is stale if its repository or its reading is not of the newest file", () => {
  const day = {
    date: "2026-01-06",
    present: new Set(["acme/dragon", "acme/tail"]),
    successions: SUCCESSIONS,
  };
  const place = (name: string, to: number | null = AT) => ({ name, to });
  assert.deepEqual(faultsOf([place("acme/dragon"), place("acme/tail", null)], day, AT), {
    places: 2,
    stale: 0,
    superseded: 0,
    twice: 0,
  });
  assert.equal(faultsOf([place("acme/dragon", AT - 1)], day, AT).stale, 1);
  assert.equal(faultsOf([place("acme/gone")], day, AT).stale, 1);
});

test("a name with a successor counts once it is gone, and twice next to its successor", () => {
  const placed = ["acme/kite", "acme/dragon", "acme/bow", "acme/tail"].map((name) => ({ name, to: AT }));
  const gone = {
    date: "2026-01-06",
    present: new Set(["acme/dragon", "acme/tail"]),
    successions: SUCCESSIONS,
  };
  const { superseded, twice } = faultsOf(placed, gone, AT);
  assert.deepEqual([superseded, twice], [1, 1], "the second succession is later");
  const back = { ...gone, present: new Set(["acme/kite", "acme/dragon"]) };
  assert.equal(faultsOf(placed, back, AT).superseded, 0, "the name is in use again");
});

test("places that the undamaged list does not have are false", () => {
  assert.deepEqual(falsePlaces(["a/a", "b/b", "c/c"], ["c/c", "a/a", "d/d"]), ["b/b"]);
});

test("measured and published gains are compared pair by pair", () => {
  const pairs: Pair[] = [
    [1, 2],
    [2, 4],
    [3, 9],
  ];
  assert.equal(correlation(pairs.map(([x]): Pair => [x, 3 * x])).toFixed(6), "1.000000");
  assert.equal(correlation(pairs.map(([x]): Pair => [x, -x])).toFixed(6), "-1.000000");
  assert.equal(medianError(pairs), 2);
  assert.equal(shared(["a/a", "b/b", "c/c"], new Set(["c/c", "b/b"]), 2), 1);
});

test("a third of the repositories of a file read zero, in all their rows and the same for a seed", () => {
  const folder = temporaryFolder();
  const [from, to] = [join(folder, "whole.csv"), join(folder, "damaged.csv")];
  const names = Array.from({ length: 300 }, (_, i) => `kite-${i}`);
  const row = (item: string, name: string) =>
    `1,${item},${name},500,12,Go,https://github.com/acme/${name},acme,3,2026-01-01T00:00:00Z,"A ""kite"", flying"`;
  const header = "rank,item,repo_name,stars,forks,language,repo_url,username,issues,last_commit,description";
  writeFileSync(from, [header, ...names.flatMap((name) => [row("Go", name), row("C", name)]), ""].join("\n"));
  const damaged = zeroThird(from, to, 7);
  assert.deepEqual(zeroThird(from, to, 7), damaged);
  assert.ok(damaged.size > 70 && damaged.size < 130, `${damaged.size}`);
  const read = (path: string): Record<string, string>[] => parse(readFileSync(path), { columns: true });
  assert.deepEqual(
    read(to),
    read(from).map((whole) =>
      damaged.has(`acme/${whole.repo_name}`) ? { ...whole, stars: "0", forks: "0", issues: "0" } : whole,
    ),
  );
});
