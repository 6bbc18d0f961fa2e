import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { allRows, firstRows, Service } from "../../bench/judge/service.js";
import { temporaryFolder } from "../support/imports.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

test("a checkout is measured by its command line and its API, whatever rows it refuses", async () => {
  const folder = temporaryFolder();
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  const header = "rank,item,repo_name,stars,forks,language,repo_url,username,issues,last_commit,description";
  const row = (name: string, stars: number | string) =>
    `1,Go,${name},${stars},12,Go,https://github.com/acme/${name},acme,3,2026-01-01T00:00:00Z,A kite`;
  const files = [2, 3].map((day) => {
    const path = join(folder, `github-ranking-2026-01-0${day}.csv`);
    const names = Array.from({ length: 150 }, (_, i) => row(`kite-${i}`, 50_000 + i * day));
    writeFileSync(path, [header, ...names, row("broken", "many"), ""].join("\n"));
    return path;
  });
  const manifest = join(folder, "manifest.csv");
  const times = [2, 3].map((day) => `github-ranking-2026-01-0${day}.csv,2026-01-0${day}T04:00:00Z`);
  writeFileSync(manifest, ["file,source_commit_time", ...times, ""].join("\n"));
  const service = new Service(ROOT, dataDir);
  service.importFiles(files, manifest);
  await service.serving(async (ask) => {
    const rows = await allRows(ask, "/api/repos?sort=stars&window=24h");
    assert.equal(rows.length, 150);
    assert.deepEqual(rows[0], {
      fullName: "acme/kite-149",
      stars: 50_447,
      trend: { from: "2026-01-02T04:00:00.000Z", to: "2026-01-03T04:00:00.000Z", starsDelta: 149 },
    });
    assert.equal((await firstRows(ask, "/api/repos?sort=stars&window=24h")).length, 100);
    assert.equal(await ask("/api/repos/github/acme/dragon"), undefined);
    await assert.rejects(ask("/api/repos?sort=upwards"), /422|400/);
  });
  assert.throws(() => service.importFiles([join(folder, "none.csv")], join(folder, "none.csv")));
});

test("a checkout that is not built is refused by name", () => {
  const folder = temporaryFolder();
  assert.throws(() => new Service(folder, folder), new RegExp(`${folder} is not built`));
});
