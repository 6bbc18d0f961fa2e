import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CommandWorld } from "./support/command.js";
import { rankingFile } from "./support/imports.js";
import { unknownSession } from "./support/members.js";
import { serve } from "./support/serving.js";

/** The first bytes of a PNG. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

test("the bundle finds the files and threads that it needs next to it", async () => {
  const world = new CommandWorld();
  const dataDir = world.newDataDir();
  const { code, stderr } = await world.run(dataDir, ["import", "--date", "2026-04-05T06:00:00Z", "-"], {
    input: rankingFile({}),
  });
  assert.equal(code, 0, stderr);
  const service = await serve(world, dataDir, {});
  after(() => service.stop());
  const page = await fetch(`${service.url}/repos/github/o/r`);
  assert.equal(page.status, 200);
  const files = [...(await page.text()).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
    (match) => match[1],
  );
  assert.ok(files.length >= 3, files.join());
  for (const file of files) assert.equal((await fetch(`${service.url}${file}`)).status, 200, file);
  const picture = await fetch(`${service.url}/api/embed/card.png?repo=github:o/r`);
  assert.equal(picture.status, 200);
  assert.deepEqual(Buffer.from(await picture.arrayBuffer()).subarray(0, 4), PNG);
  const signIn = await fetch(`${service.url}/api/me`, { headers: { cookie: unknownSession(1, "") } });
  assert.equal(signIn.status, 401);
});

test("a command leaves its compiled code to the next one", () => {
  const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  // Tests share a folder of their own.
  const env = { ...process.env, NODE_COMPILE_CACHE: undefined };
  assert.equal(spawnSync(process.execPath, [at("../bundle/main.js"), "--version"], { env }).status, 0);
  assert.notDeepEqual(readdirSync(at("../compiled")), []);
});

const hasProc = existsSync("/proc/self/cmdline");

test("a service keeps its memory small, in the process that was started", {
  skip: hasProc ? false : "needs /proc",
}, async () => {
  const world = new CommandWorld();
  const service = await serve(world, world.newDataDir(), {});
  after(() => service.stop());
  const of = (file: string) => readFileSync(`/proc/${service.process.pid}/${file}`, "utf8").split("\0");
  for (const flag of ["--max-semi-space-size=8", "--heap-growing-percent=50"])
    assert.ok(of("cmdline").includes(flag), flag);
  for (const setting of ["MALLOC_ARENA_MAX=2", "MALLOC_MMAP_THRESHOLD_=131072"])
    assert.ok(of("environ").includes(setting), setting);
});

test("the bundle finds the sample", async () => {
  const world = new CommandWorld();
  const running = world.start(world.newDataDir(), ["start"], { SIDEREAL_PORT: "0" });
  after(() => running.process.kill("SIGKILL"));
  const url = await new Promise<string>((resolve) => {
    running.process.stdout?.on("data", (text: string) => {
      const found = /listens at (\S+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const { data } = (await (await fetch(`${url}/api/stats/summary`)).json()) as {
    data: { repositoryCount: number };
  };
  assert.ok(data.repositoryCount > 1_000);
  running.process.kill("SIGTERM");
  await running.ended;
});

/** Text of a file that V8 may keep with two bytes per character. */
const MOST_WIDE_BYTES = 64 * 1_024;

test("the bundle has no large file that V8 must keep with two bytes per character", () => {
  const bundle = new URL("../bundle/", import.meta.url);
  const { files }: { files: string[] } = JSON.parse(
    readFileSync(new URL("../bundled.json", import.meta.url), "utf8"),
  );
  const wide = files.filter((name) => {
    const text = /^[^/]*\.js$/.test(name) ? readFileSync(new URL(name, bundle), "utf8") : "";
    return text.length > MOST_WIDE_BYTES && /[^\u0000-\u00ff]/.test(text);
  });
  assert.deepEqual(wide, []);
});
