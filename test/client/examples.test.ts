import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { onSqlite } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { startLocalService } from "../support/local-service.js";

const run = promisify(execFile);

onSqlite("The examples, with the client packed and installed as its README says", (engine) => {
  let service: Awaited<ReturnType<typeof startLocalService>>;
  let folder: string;
  const start = async (name: string, ...names: string[]): Promise<string> => {
    const env = { SERVICE: service.url, API_KEY: service.apiKey };
    const { stdout, stderr } = await run(process.execPath, [join(folder, name), ...names], {
      cwd: folder,
      env,
    });
    assert.equal(stderr, "");
    return stdout;
  };
  before(async () => {
    service = await startLocalService(await engine.open());
    folder = temporaryFolder();
    const file = `sidereal-client-${JSON.parse(readFileSync("client/package.json", "utf8")).version}.tgz`;
    assert.ok(readFileSync("client/README.md", "utf8").includes(`\nnpm install ./${file} `));
    await run("npm", ["pack", resolve("client"), "--offline", "--pack-destination", folder]);
    await run("npm", ["install", "--offline", "--no-audit", `./${file}`], { cwd: folder });
    for (const name of readdirSync("examples").filter((file) => file.endsWith(".mjs")))
      writeFileSync(join(folder, name), readFileSync(join("examples", name)));
  });
  after(() => service.stop());

  test("bot.mjs reports what gained most, the largest gain first", async () => {
    const lines = (await start("bot.mjs")).trim().split("\n");
    assert.deepEqual(lines, [
      "Most stars in the day to 2026-04-30T12:00:00.000Z:",
      "acme/kite +2 https://github.com/acme/kite",
      "group/sub/three +1 https://gitlab.com/group/sub/three",
      "facebook/react +1 https://github.com/facebook/react",
    ]);
  });

  test("dashboard.mjs draws the series of the named repositories", async () => {
    await assert.rejects(start("dashboard.mjs"), /Name repositories/);
    await start("dashboard.mjs", "facebook/react", "acme/kite");
    const html = readFileSync(join(folder, "dashboard.html"), "utf8");
    const shown = [...html.matchAll(/">([^<]+)<\/a><td>(\d+)<td>(\d+)\s+<td>.*?points="([^"]*)"/g)];
    assert.deepEqual(
      shown.map(([, name, stars, gained, points = ""]) => [name, stars, gained, points.split(" ").length]),
      [
        ["facebook/react", "230", "7", 31],
        ["acme/kite", "19", "9", 8],
      ],
    );
  });

  test("spreadsheet.mjs writes the whole list", async () => {
    await start("spreadsheet.mjs");
    const lines = readFileSync(join(folder, "repositories.csv"), "utf8").trim().split("\r\n");
    assert.deepEqual(
      lines.map((line) => line.split(",")[4]),
      ["fullName", "facebook/react", "acme/kite", "group/sub/three"],
    );
  });
});
