import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readAddresses } from "../../src/cli/addresses.js";
import { loadConfig } from "../../src/config/config.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { CommandWorld, unusedHost } from "../support/command.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { openTrackingWorld } from "../support/tracking.js";
import { observation } from "../support/world.js";

const commands = new CommandWorld();
const FORGES = { SIDEREAL_PROVIDERS: "github", SIDEREAL_BASE_URL: "https://sidereal.example/stars" };

/** A file of its own with a text. */
function file(text: string | Uint8Array, name = "README.md"): string {
  const path = join(mkdtempSync(join(commands.folder, "text-")), name);
  writeFileSync(path, text);
  return path;
}

const links = (count: number, owner = "many") =>
  Array.from({ length: count }, (_, i) => `* https://github.com/${owner}/r${i}`).join("\n");

async function open(engine: Engine, t: TestContext) {
  const database = await engine.open();
  const { url, dataDir } = engine.location();
  const world = await openTrackingWorld(
    t,
    database,
    [{ kind: "github", name: "GITHUB", repositories: 10, catalogue: "quiet", minStars: 1_000_000_000 }],
    { requestsEveryMs: 500 },
  );
  const run = (args: readonly string[], settings: Record<string, string> = {}) =>
    commands.runHere(dataDir, ["track", ...args], {
      ...FORGES,
      ...(url === undefined ? {} : { SIDEREAL_DATABASE_URL: url }),
      ...settings,
    });
  const itemsOf = async (address: string) =>
    (await world.modules.watchlists.get({ token: address.slice(address.lastIndexOf("/") + 1) })).items.map(
      ({ repositoryId }) => repositoryId,
    );
  const requests = async () =>
    (
      await database.read
        .selectFrom("wanted")
        .select(["text", "is_batch", "finished_at"])
        .orderBy("id")
        .execute()
    ).filter(({ finished_at }) => finished_at === null);
  return { world, run, itemsOf, requests };
}

onSqliteAndLong("track --from", (engine) => {
  test("adds known ones to a public list, and the others once the worker has found it", async (t) => {
    const { world, run, itemsOf } = await open(engine, t);
    const { catalogue, url } = world.forge("GITHUB");
    const names = catalogue
      .ids()
      .slice(0, 3)
      .map((id) => catalogue.get(id, world.clock.now())?.fullName ?? "");
    const settings = { SIDEREAL_GITHUB_URL: url, SIDEREAL_GITHUB_PRIVATE: "true" };
    const [known = "", ...others] = names;
    await world.modules.catalog.record([observation(known, [])]);
    const text = `# Things\n${names.map((name) => `[x](${url}/${name}/issues/1) ${url}/${name.toUpperCase()}`).join("\n")}
      <https://elsewhere.example/a/b> ${url}/topics/x ${url}/no/such`;
    const { code, stdout, stderr } = await run(
      ["--from", file(text), "--list", " Mine ", "--json"],
      settings,
    );
    assert.equal(code, 0, stderr);
    const report = JSON.parse(stdout);
    assert.deepEqual(
      [report.repositories, report.known, report.queued, report.leftOut, report.lists.length],
      [4, 1, 3, 0, 1],
    );
    assert.deepEqual(
      report.skipped.map(({ links: skipped }: { links: number }) => skipped),
      [1, 1],
    );
    const [list] = report.lists;
    assert.equal(list.name, "Mine");
    assert.match(list.url, /^https:\/\/sidereal\.example\/stars\/watchlists\/sidr_\w+$/);
    assert.match(list.editUrl, /^https:\/\/sidereal\.example\/stars\/watchlists\/sidw_\w+$/);
    assert.equal((await itemsOf(list.url)).length, 1);
    await world.pass(30_000);
    const ids = await Promise.all(
      [known, ...others].map(
        async (name) => (await world.modules.catalog.findByName("GITHUB", name))?.repository.id,
      ),
    );
    assert.deepEqual(new Set(await itemsOf(list.editUrl)), new Set(ids));
  });

  test("run again, queues nothing twice, and makes numbered lists of 500", async (t) => {
    const { run, requests } = await open(engine, t);
    const path = file(links(501), "awesome.md");
    const first = JSON.parse((await run(["--from", path, "--json"])).stdout);
    assert.deepEqual(
      first.lists.map(({ name }: { name: string }) => name),
      ["awesome.md 1", "awesome.md 2"],
    );
    assert.equal(first.queued, 501);
    const queued = await requests();
    assert.equal(queued.length, 501);
    assert.ok(queued.every(({ is_batch }) => is_batch === 1));
    const again = await run(["--from", path, "--no-list"]);
    assert.equal(again.code, 0);
    assert.match(again.stdout, /^501 repositories: 0 known, 501 queued\n/);
    assert.ok(!again.stdout.includes("/watchlists/"));
    assert.equal((await requests()).length, 501);
  });

  test("and track find the public forges if none is configured, and else those with an entered token", async (t) => {
    const { world, run, requests } = await open(engine, t);
    const { database } = world.modules;
    const settings = { SIDEREAL_PROVIDERS: "", SIDEREAL_TOKEN_KEY: "k".repeat(40) };
    const config = loadConfig(settings);
    const context = { config, clock: world.clock, log: createLog("silent") };
    const modules = buildModules(database, context);
    const kept = { ...database, close: async () => {} };
    const host = { ...unusedHost(), config, openModules: async () => ({ ...modules, database: kept }) };
    const { code, stderr } = await run(["--from", file(links(2))], settings);
    assert.equal(code, 0, stderr);
    assert.equal((await requests()).length, 2);
    const onGithub = [{ provider: "GITHUB", fullName: "a/b" }];
    assert.deepEqual(await readAddresses(["github:a/b"], host), onGithub);
    const another = { ...host, config: loadConfig({ ...settings, SIDEREAL_PROVIDERS: "codeberg" }) };
    assert.deepEqual(await readAddresses(["a/b"], another), onGithub, "as the API reads it");
    const codeberg = buildModules(database, { ...context, config: another.config });
    const owned = { ...another, openModules: async () => ({ ...codeberg, database: kept }) };
    assert.match(
      String(await readAddresses(["github:a/b"], owned)),
      /^github:a\/b: must name a configured forge/,
    );
    const allows = { owner: null, scopes: [], limit: null, remaining: null, expiresAt: null };
    await modules.forgeTokens.add("GITHUB", "entered-token-0123456789", { allows });
    assert.deepEqual(await readAddresses(["github:a/b"], owned), onGithub);
  });
});

test("a text that cannot be used changes nothing", async () => {
  const dataDir = commands.newDataDir();
  const run = (...args: string[]) => commands.runHere(dataDir, ["track", ...args], FORGES);
  const messageOf = async (args: string[], code: number) => {
    const ran = await run(...args);
    assert.equal(ran.code, code, ran.stdout + ran.stderr);
    return ran.stderr;
  };
  assert.match(
    await messageOf(["--from", join(commands.folder, "none")], 2),
    /none cannot be read: ENOENT\n$/,
  );
  assert.match(await messageOf(["--from", commands.folder], 2), /cannot be read: EISDIR\n$/);
  assert.match(
    await messageOf(["--from", file(Buffer.from("\xff\xfeh\0", "latin1"))], 2),
    /not a text in UTF-8/,
  );
  assert.match(await messageOf(["--from", file(new Uint8Array(5_000_001))], 2), /longer than 5 MB/);
  assert.match(await messageOf(["--from", file(links(10_001))], 2), /10001 repositories; split it/);
  assert.match(await messageOf(["--from", file("no links"), "--list", "a\u0007b"], 2), /^--list: must not/);
  assert.match(await messageOf(["--from", file("no links"), "a/b"], 2), /not both/);
  assert.match(await messageOf(["--list", "x", "a/b"], 2), /belong to --from/);
  assert.match(await messageOf([], 2), /Name a repository/);
  const none = await run("--from", file("See https://example.org/a/b."));
  assert.equal(none.code, 1);
  assert.match(
    none.stdout,
    /^0 repositories: 0 known, 0 queued\n1 link skipped, https:\/\/example\.org\/a\/b: must be on the host .*github\.com\n/,
  );
  assert.match(none.stderr, /links to no repository/);
});

test("an invalid address is refused with the configured forges and the nearest, without its token", async () => {
  const problemOf = async (address: string, settings: Record<string, string> = FORGES) => {
    const { code, stderr } = await commands.runHere(
      commands.newDataDir(),
      ["track", "github:a/b", address],
      settings,
    );
    assert.equal(code, 2);
    return stderr.trim();
  };
  assert.match(await problemOf("githb:a/b"), /^githb:a\/b: must name .*: github; did you mean github\?$/);
  assert.match(await problemOf("https://githib.com/a/b"), /: github\.com; did you mean github\.com\?$/);
  assert.match(await problemOf("https://github.com/topics/x"), /must name a repository/);
  const secret = await problemOf("https://user:s3cret@example.org/a/b");
  assert.match(
    secret,
    /^https:\/\/example\.org\/a\/b: must be on the host of a configured forge: github\.com$/,
  );
});
