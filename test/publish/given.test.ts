import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type TestContext, test } from "node:test";
import { loadConfig } from "../../src/config/config.js";
import { rawAddress } from "../../src/publish/own.js";
import { filesOf } from "../../src/publish/pictures.js";
import { CommandWorld } from "../support/command.js";
import { START } from "../support/forge/world.js";
import { contentOf, startPublishing } from "../support/publishing.js";

const world = new CommandWorld();
const start = (t: TestContext) => startPublishing(t, world, { begin: START });

const FORGES = [
  { name: "GITHUB", kind: "github", url: "https://github.com" },
  { name: "GITLAB", kind: "gitlab", url: "https://gitlab.com" },
  { name: "CODEBERG", kind: "forgejo", url: "https://codeberg.org" },
  { name: "WORK", kind: "forgejo", url: "https://git.example/forge" },
] as const;

const GITHUB_JOB = {
  GITHUB_SERVER_URL: "https://github.com",
  GITHUB_REPOSITORY: "acme/kite",
  GITHUB_REPOSITORY_OWNER: "acme",
};

test("pictures on a branch have the address that the job's forge gives them", () => {
  for (const [env, address] of [
    [GITHUB_JOB, "https://github.com/acme/kite/raw/my/charts%231"],
    [
      { ...GITHUB_JOB, GITHUB_SERVER_URL: "https://codeberg.org" },
      "https://codeberg.org/acme/kite/raw/branch/my/charts%231",
    ],
    [
      { ...GITHUB_JOB, GITHUB_SERVER_URL: "https://git.example/forge/" },
      "https://git.example/forge/acme/kite/raw/branch/my/charts%231",
    ],
    [
      {
        CI_SERVER_URL: "https://gitlab.com",
        CI_PROJECT_PATH: "acme/apps/kite",
        CI_PROJECT_NAMESPACE: "acme/apps",
      },
      "https://gitlab.com/acme/apps/kite/-/raw/my/charts%231",
    ],
    [{ ...GITHUB_JOB, GITHUB_SERVER_URL: "https://unknown.example" }, undefined],
    [{}, undefined],
  ] as const)
    assert.equal(rawAddress({ job: loadConfig(env).job, forges: FORGES }, "my/charts#1"), address);
});

test("no repository has the files of a branch, of the state or of another forge", () => {
  const chartOf = (provider: string, fullName: string) =>
    filesOf({ provider, fullName }, { home: "GITLAB", forges: FORGES, earlier: [] }).chart;
  assert.equal(chartOf("GITLAB", "acme/kite"), "acme/kite.svg");
  assert.equal(chartOf("CODEBERG", "acme/kite"), "codeberg/acme/kite.svg");
  for (const owner of ["state", "State", "badges", "charts", "github", "codeberg", "readme.md", "report.md"])
    assert.match(
      chartOf("GITLAB", `${owner}/acme/kite`),
      new RegExp(`^${owner.split(".")[0]}[\\w-]*~[0-9a-f]{20}/acme/`),
    );
  assert.match(chartOf("STATE", "acme/kite"), /^state~/);
});

test("files of an earlier layout, and of a name that the list no longer has, show the repository while it is listed", async (t) => {
  const { clock, catalogue, at, list, run, names, forge } = await start(t);
  const [a = "", b = ""] = names;
  list(a, b);
  assert.equal((await run()).code, 0);
  const manifest = at("out", "repositories.json");
  const { repositories, ...rest } = JSON.parse(readFileSync(manifest, "utf8"));
  const old = { chart: `charts/github/${a}.svg`, badge: `badges/github/${a}.svg` };
  for (const kind of ["chart", "badge"] as const) {
    mkdirSync(dirname(at("out", old[kind])), { recursive: true });
    renameSync(at("out", repositories[0][kind]), at("out", old[kind]));
  }
  const { former: _, ...entry } = repositories[0];
  writeFileSync(manifest, JSON.stringify({ ...rest, repositories: [{ ...entry, ...old }, repositories[1]] }));
  clock.pass(1);
  assert.equal((await run()).code, 0);
  clock.pass(1);
  const [id = 0] = catalogue.ids();
  catalogue.add({ id, at: clock.now() - 1_000, kind: "renamed", to: "acme/renamed" });
  list("acme/renamed", b);
  const { code, stderr } = await run();
  assert.equal(code, 0, stderr);
  const out = contentOf(at("out"));
  const chart = out["acme/renamed.svg"] ?? "";
  assert.match(chart, /acme\/renamed/);
  for (const file of [`${a}.svg`, old.chart]) assert.equal(out[file], chart, file);
  for (const file of [`badges/${a}.svg`, old.badge])
    assert.equal(out[file], out["badges/acme/renamed.svg"], file);
  forge.counters.reset();
  list(b);
  assert.equal((await run()).code, 0);
  const left = Object.keys(contentOf(at("out"))).sort();
  assert.deepEqual(left, [`${b}.svg`, `badges/${b}.svg`, "repositories.json"].sort());
});

test("bad input is one sentence each, before anything is requested or written", async (t) => {
  const { at, list, settings, names, forge, clock } = await start(t);
  const [a = ""] = names;
  list("# only a comment");
  writeFileSync(at("wrong.txt"), "githb:a/b\n");
  writeFileSync(at("file"), "mine");
  const before = contentOf(at());
  forge.counters.reset();
  for (const [args, problem] of [
    [[], /^Name repositories, or a --list: there is no repos\.txt here, and this is no job of a CI\.\n$/],
    [["--list", at("repos.txt")], /^the list names no repository\n$/],
    [["--list", at("wrong.txt")], /^line 1: must name a configured forge before the colon\n$/],
    [["--list", at("none.txt")], /^--list: there is no file .*none\.txt\n$/],
    [["--list", at("repos.txt"), a], /^--list: cannot be used with names of repositories\n$/],
    [[a, "githb:a/b"], /^githb:a\/b: must name a configured forge before the colon\n$/],
    [[a, "kite"], /^kite: must be owner\/name, or @owner for all of an owner\n$/],
    [
      [a, "--theme", "neon"],
      /^error: option '--theme <name>' argument 'neon' is invalid\. Allowed choices are auto, light, dark\.\n/,
    ],
    [[a, "--out", at("file", "below")], /^.*file.below cannot be written to \(ENOTDIR\)\n$/],
    [[a, "--readme", at("none.md")], /^--readme: there is no file .*none\.md; links are not followed\n$/],
  ] as const) {
    const paths = ["--state", at("state"), "--out", at("out")];
    const { code, stderr } = await world.runHere(
      "never-opened",
      ["publish", ...paths, ...args],
      settings,
      clock,
    );
    assert.deepEqual([code, forge.counters.requests], [2, 0], stderr);
    assert.match(stderr, problem);
  }
  assert.deepEqual(contentOf(at()), before);
});

test("@me is the owner of the job's repository, else of the token, and without both nobody", async (t) => {
  const { at, settings, names, forge, clock, catalogue } = await start(t);
  const { SIDEREAL_GITHUB_TOKENS: _, ...withoutToken } = settings;
  const run = async (env: Record<string, string>, ...args: string[]) => {
    const paths = ["--state", at("state"), "--out", at("out"), "--json"];
    const ran = await world.runHere("never-opened", ["publish", ...paths, ...args], env, clock);
    const { repositories = [] } = ran.stdout === "" ? {} : JSON.parse(ran.stdout);
    return { ...ran, keys: repositories.map((one: { repository: string }) => one.repository).sort() };
  };
  const ownedBy = (owner: string) =>
    catalogue
      .ownedBy(owner, clock.now())
      .map(({ fullName }) => `github:${fullName}`)
      .sort();
  const [first = "", second = ""] = names;
  const [tokenOwner = ""] = first.split("/");
  const [owner = ""] = second.split("/");
  const job = { GITHUB_SERVER_URL: forge.url, GITHUB_REPOSITORY: second, GITHUB_REPOSITORY_OWNER: owner };
  assert.deepEqual((await run({ ...settings, ...job }, "@me")).keys, ownedBy(owner));
  assert.deepEqual(
    (await run({ ...settings, ...job })).keys,
    [`github:${second}`],
    "its own, without a list",
  );
  assert.deepEqual((await run(settings, "@me")).keys, ownedBy(tokenOwner));
  const nobody = await run(withoutToken, "@me");
  assert.equal(nobody.code, 2);
  assert.equal(nobody.stderr, "@me: names nobody: this is no job of a repository, and GitHub has no token\n");
});

test("a private repository stays out, and the report says why", async (t) => {
  const { list, run, names, catalogue, at } = await start(t);
  const [a = "", b = ""] = names;
  const [id = 0] = catalogue.ids();
  catalogue.override(id, { visibility: "members" });
  list(a, b);
  const { code, stderr } = await run();
  assert.equal(code, 3);
  assert.equal(
    stderr,
    `github:${a}: The repository is private and stays out, as its pictures would be public.\n`,
  );
  assert.ok(!(`${a}.svg` in contentOf(at("out"))));
});
