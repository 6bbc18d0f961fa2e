import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { ForgeKind } from "../../src/config/known-forges.js";
import { DAY_MS, systemClock } from "../../src/lib/clock.js";
import { CommandWorld } from "../support/command.js";
import { type Forge, ForgeCatalogue, startForge } from "../support/forge/forge.js";
import { QUIET } from "../support/forge/world.js";

const world = new CommandWorld();

/** A forge in the settings; its first repositories are the oldest. */
async function start(t: TestContext, kind: ForgeKind = "github", name = "GITHUB") {
  const options = { seed: 3, repositories: 12, start: Date.now(), rates: QUIET, isNested: kind === "gitlab" };
  const catalogue = new ForgeCatalogue(options);
  const forge = await startForge({ kind, clock: systemClock, catalogue });
  t.after(() => forge.close());
  const settings = { [`SIDEREAL_${name}_URL`]: forge.url, [`SIDEREAL_${name}_PRIVATE`]: "true" };
  const nameOf = (place: number) => catalogue.atPlace(place, Date.now())?.fullName ?? "";
  return { forge, settings, nameOf };
}

const draw = (args: readonly string[], settings: Record<string, string>) =>
  world.runHere("never-opened", ["chart", ...args], settings);

const requestsOf = ({ counters }: Forge) => counters.requests;

test("chart draws the whole star history of a repository as its forge counts it, and leaves no store", async (t) => {
  const { forge, settings, nameOf } = await start(t);
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith(`sidereal-pass-${process.pid}-`));
  const { code, stdout, stderr } = await draw([`github:${nameOf(0)}`, "--format", "json"], settings);
  assert.equal(code, 0, stderr);
  const { series } = JSON.parse(stdout).data;
  const [{ fullName, points, to }] = series;
  assert.equal(fullName, nameOf(0));
  const truth = forge.catalogue.find(nameOf(0), Date.now())?.repository;
  assert.equal(points.at(-1).value, truth?.stars);
  assert.ok(Date.now() - Date.parse(to) < DAY_MS);
  // Ten years of weeks, thirty a page, and one lookup.
  assert.ok(Date.parse(points[0].at) - (truth?.createdAt ?? 0) < 60 * DAY_MS);
  assert.ok(requestsOf(forge) <= 25, String(requestsOf(forge)));
  assert.deepEqual(
    readdirSync(tmpdir()).filter((name) => name.startsWith(`sidereal-pass-${process.pid}-`)),
    before,
  );
});

test("a command that a signal ends deletes its store, and those that kills have left a day ago", async (t) => {
  const { forge, settings, nameOf } = await start(t);
  const temporary = world.newDataDir();
  for (const name of ["sidereal-pass-1-old", "sidereal-pass-2-new", "other"])
    mkdirSync(join(temporary, name));
  for (const name of ["sidereal-pass-1-old", "other"]) utimesSync(join(temporary, name), 0, 0);
  const running = world.start("never-opened", ["chart", nameOf(0)], { ...settings, TMPDIR: temporary });
  await new Promise<void>((asked) => {
    forge.switches.fault = () => {
      asked();
      return "stall";
    };
  });
  running.process.kill("SIGTERM");
  assert.equal((await running.ended).signal, "SIGTERM");
  assert.deepEqual(readdirSync(temporary), ["other", "sidereal-pass-2-new"]);
});

test("chart takes the options of the embed, and writes the format that the file's name says", async (t) => {
  const { nameOf, ...started } = await start(t);
  const settings = { ...started.settings, SIDEREAL_GITHUB_TOKENS: "ghp_ofTheTest" };
  const both = [nameOf(10), `${started.settings.SIDEREAL_GITHUB_URL}/${nameOf(9)}/issues`];
  const looks = ["--align", "age", "--scale", "log", "--theme", "dark", "--width", "1000"];
  const drawn = await draw([...both, ...looks], settings);
  assert.equal(drawn.code, 0, drawn.stderr);
  assert.match(drawn.stdout, /^<svg [^>]*width="1000"/);
  assert.match(drawn.stdout, /by age|Age/i);
  const out = (name: string) => join(world.folder, name);
  for (const name of ["kite.png", "kite.csv"])
    assert.equal((await draw([nameOf(10), "--out", out(name), "--window", "30d"], settings)).code, 0);
  assert.deepEqual([...readFileSync(out("kite.png")).subarray(1, 4)], [...Buffer.from("PNG")]);
  assert.match(readFileSync(out("kite.csv"), "utf8"), /^\uFEFFat,ageDays,metric,value,source,/);
});

test("chart names the wrong option before it contacts a forge, and in one sentence why a forge refused", async (t) => {
  const { forge, settings, nameOf } = await start(t);
  const said = async (...args: string[]) => {
    const { code, stdout, stderr } = await draw(args, settings);
    assert.equal(stdout, "");
    return `${code} ${stderr}`;
  };
  assert.match(await said(nameOf(0), "--align", "size"), /^2 --align: .*age/);
  assert.match(await said(nameOf(0), "--width", "9"), /^2 --width: must be .*320/);
  assert.match(
    await said(nameOf(0), "--shape", "post", "--width", "400"),
    /^2 --width: must not be given: post/,
  );
  assert.match(await said(nameOf(0), "--zoom", "3"), /^2 --zoom: must be at most 2\.79 for 800 × 400/);
  assert.match(await said(nameOf(0), "--out", "kite.gif"), /^2 --out: the file must end in \.svg, \.png/);
  assert.match(await said("githb:a/b"), /^2 githb:a\/b: .*did you mean github\?/);
  assert.equal(requestsOf(forge), 0);
  assert.match(await said("no/such"), /^1 github:no\/such: The forge has no public repository .*\n$/);
  forge.switches.fault = () => "status-502";
  assert.match(await said(nameOf(0)), /^1 github:\S+: The forge did not respond.*\n$/);
  forge.switches.fault = null;
  forge.spend(null, "core", 60);
  assert.match(
    await said(nameOf(0)),
    /^1 github:\S+: The limit of the forge is used up; it continues at .*\n$/,
  );
});

test("chart draws the repositories it can, names the others, and ends with 3", async (t) => {
  const { forge, settings, nameOf } = await start(t);
  const token = { ...settings, SIDEREAL_GITHUB_TOKENS: "ghp_ofTheTest" };
  const names = [11, 10, 9].map(nameOf);
  const odd = forge.catalogue.find(names[0] ?? "", Date.now())?.repository.id;
  const isOdd = (path: string) => path.includes(`/repositories/${odd}/`) || path.includes(`/${names[0]}/`);
  for (const fault of ["status-404", "status-410", "status-500", "status-451", "html"] as const) {
    forge.switches.fault = ({ kind, path }) => (kind === "history" && isOdd(path) ? fault : undefined);
    const { code, stdout, stderr } = await draw([...names, "--format", "json"], token);
    assert.equal(code, 3, `${fault}: ${stderr}`);
    assert.match(stderr, /^github:\S+: GitHub [^\n]*star history[^\n]*\n$/);
    assert.match(stderr, new RegExp(`^github:${names[0]}:`));
    const lengths = new Map<string, number>(
      JSON.parse(stdout).data.series.map((one: { fullName: string; points: unknown[] }) => [
        one.fullName,
        one.points.length,
      ]),
    );
    for (const name of names.slice(1)) assert.ok((lengths.get(name) ?? 0) > 50, `${fault}: ${name}`);
    // Without any history it is drawn as first seen now.
    const isMissing = fault === "status-404" || fault === "status-410";
    assert.equal(lengths.get(names[0] ?? ""), isMissing ? 1 : undefined);
  }
  forge.switches.fault = null;
  const other = await draw(["no/such", names[1] ?? ""], token);
  assert.equal(other.code, 3);
  assert.match(other.stderr, /^github:no\/such: The forge has no public repository/);
  assert.match(other.stdout, /^<svg /);
});

test("chart of a forge without star histories says when the repository was first seen", async (t) => {
  const { settings, nameOf } = await start(t, "gitlab", "GITLAB");
  const { code, stdout, stderr } = await draw([`gitlab:${nameOf(2)}`], settings);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^<svg /);
  assert.match(stdout, /First seen on/);
});

test("chart keeps what it has read: again it costs two requests, and without a quota it says from when its counts are", async (t) => {
  const { forge, settings, nameOf } = await start(t);
  const cache = join(world.newDataDir(), "cache");
  const kept = { ...settings, XDG_CACHE_HOME: cache };
  const again = async (more = kept) => {
    forge.counters.reset();
    const ran = await draw([nameOf(0), "--format", "json"], more);
    const [{ points = [] } = {}] = ran.stdout === "" ? [] : JSON.parse(ran.stdout).data.series;
    return { ...ran, points: points.slice(0, -3), requests: requestsOf(forge) };
  };
  const first = await again();
  assert.equal(first.code, 0, first.stderr);
  const second = await again();
  assert.deepEqual([second.code, second.requests, second.points], [0, 2, first.points]);
  const [file = ""] = readdirSync(join(cache, "charts"));
  assert.ok(statSync(join(cache, "charts", file)).size < 20_000);
  forge.spend(null, "core", 60);
  const spent = await again();
  assert.equal(spent.code, 3);
  assert.match(
    spent.stderr,
    /^github:\S+: The limit of the forge is used up; it continues at \S+Z\. With a token in SIDEREAL_GITHUB_TOKENS it permits more\. Its counts are of \d+ \w+ \d{4}\.\n$/,
  );
  assert.deepEqual(spent.points, first.points);
  const token = { ...kept, SIDEREAL_GITHUB_TOKENS: "ghp_ofTheTest" };
  assert.ok(!gunzipSync(readFileSync(join(cache, "charts", file))).includes("ghp_"));
  // A damaged file is read again from the forge, and a folder that cannot be written costs only requests.
  writeFileSync(join(cache, "charts", file), "damaged");
  const damaged = await again(token);
  assert.deepEqual([damaged.code, damaged.requests, damaged.points], [0, first.requests, first.points]);
  writeFileSync(join(world.folder, "no-folder"), "");
  const unwritable = await again({ ...token, XDG_CACHE_HOME: join(world.folder, "no-folder") });
  assert.deepEqual([unwritable.code, unwritable.requests], [0, first.requests]);
});

test("a star history that the quota ends in the middle of is drawn as far as it was read, and continued by the next chart", async (t) => {
  const { forge, settings, nameOf } = await start(t);
  const kept = { ...settings, XDG_CACHE_HOME: world.newDataDir() };
  forge.switches.fault = ({ path, query }) =>
    path.endsWith("/stargazers/history") && Number(query.get("page")) >= 5
      ? { name: "403-secondary", retryAfterSeconds: 3_600 }
      : undefined;
  const part = await draw([nameOf(0)], kept);
  assert.equal(part.code, 3);
  assert.match(part.stderr, /Reading its star history: back to \d+ \w+ \d{4}\./);
  assert.match(part.stdout, /since \d+ \w+ \d{4}/);
  forge.switches.fault = null;
  const pages = forge.counters.byKind.history ?? 0;
  const whole = await draw([nameOf(0)], kept);
  assert.equal(whole.code, 0, whole.stderr);
  forge.counters.reset();
  const fresh = await draw([nameOf(0)], settings);
  // The newest page is requested again, and the refused one.
  assert.ok(pages <= 6 && (forge.counters.byKind.history ?? 0) > 6);
  assert.equal(fresh.stdout.replace(/ \d+:\d+/g, ""), whole.stdout.replace(/ \d+:\d+/g, ""));
});
