import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type Clock, DAY_MS, systemClock } from "../../src/lib/clock.js";
import type { CommandWorld } from "./command.js";
import { ForgeCatalogue, startForge } from "./forge/forge.js";
import { QUIET } from "./forge/world.js";

/** A GitHub with some repositories, and a folder in which `publish` runs on a clock of days from `begin` on. */
export async function startPublishing(
  t: Pick<TestContext, "after">,
  world: CommandWorld,
  { repositories = 4, begin }: { repositories?: number; begin: number },
) {
  const clock = new DayClock(begin);
  const catalogue = new ForgeCatalogue({ seed: 3, repositories, start: begin, days: 90, rates: QUIET });
  const forge = await startForge({ kind: "github", clock, catalogue });
  t.after(() => forge.close());
  const settings = {
    SIDEREAL_GITHUB_URL: forge.url,
    SIDEREAL_GITHUB_PRIVATE: "true",
    SIDEREAL_GITHUB_TOKENS: "ghp_ofTheTest",
  };
  const folder = mkdtempSync(join(world.folder, "published-"));
  const at = (...parts: string[]) => join(folder, ...parts);
  const list = (...lines: string[]) => writeFileSync(at("repos.txt"), lines.join("\n"));
  const runPlain = (...args: string[]) => {
    const paths = ["--list", at("repos.txt"), "--state", at("state"), "--out", at("out")];
    return world.runHere("never-opened", ["publish", ...paths, ...args], settings, clock);
  };
  const run = async (...args: string[]) => {
    const ran = await runPlain("--json", ...args);
    return { ...ran, report: ran.stdout === "" ? undefined : JSON.parse(ran.stdout) };
  };
  const names = catalogue.ids().map((id) => catalogue.get(id, clock.now())?.fullName ?? "");
  const freeze = () => {
    for (const id of catalogue.ids()) {
      const { stars, forks, watchers, openIssues, openPullRequests, pushedAt } =
        catalogue.get(id, clock.now()) ?? {};
      catalogue.override(
        id,
        JSON.parse(JSON.stringify({ stars, forks, watchers, openIssues, openPullRequests, pushedAt })),
      );
    }
  };
  return { clock, catalogue, forge, settings, at, list, run, runPlain, names, freeze };
}

const SCRIPT = resolve("packaging/publish.sh");
const PROGRAM = resolve("dist/bundle/main.js");

/** A GitHub, a bare repository with a list of its youngest repositories, and `publish.sh` in clones of it, as CI makes them. */
export async function startScript(
  t: Pick<TestContext, "after">,
  world: CommandWorld,
  { begin = systemClock.now(), listed = 2 }: { begin?: number; listed?: number } = {},
) {
  const clock = new DayClock(begin);
  const catalogue = new ForgeCatalogue({ seed: 5, repositories: 30, start: clock.now(), rates: QUIET });
  const forge = await startForge({ kind: "github", clock, catalogue });
  t.after(() => forge.close());
  const folder = world.newDataDir();
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "T",
    GIT_AUTHOR_EMAIL: "t@example.org",
    GIT_COMMITTER_NAME: "T",
    GIT_COMMITTER_EMAIL: "t@example.org",
    SIDEREAL_GITHUB_URL: forge.url,
    SIDEREAL_GITHUB_PRIVATE: "true",
    SIDEREAL_GITHUB_TOKENS: "ghp_ofTheTest",
    SIDEREAL_LOG_LEVEL: "error",
    PROGRAM,
  };
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: "pipe", maxBuffer: 1e9 });
  const bare = join(folder, "remote.git");
  git(folder, "init", "--quiet", "--bare", "--initial-branch=main", bare);
  let clones = 0;
  const clone = () => {
    const path = join(folder, `clone-${clones++}`);
    git(folder, "clone", "--quiet", bare, path);
    return path;
  };
  // The youngest have the shortest histories.
  const ids = catalogue.ids().slice(-listed);
  const names = ids.map((id) => catalogue.get(id, clock.now())?.fullName ?? "");
  const setOne = (id: number, stars: number) =>
    catalogue.override(id, {
      ...{ stars, forks: 1, watchers: 1, openIssues: 1, openPullRequests: 0, pushedAt: 1e12 },
    });
  const set = (stars: number) => {
    for (const id of ids) setOne(id, stars);
  };
  const main = clone();
  writeFileSync(join(main, "repos.txt"), `${names.join("\n")}\n`);
  git(main, "add", ".");
  git(main, "commit", "--quiet", "--message", "List");
  git(main, "push", "--quiet", "origin", "main");
  /** `onStart` may kill it with all that it has started: it leads a group. */
  const run = (more: Record<string, string> = {}, onStart: (script: ChildProcess) => void = () => {}) =>
    new Promise<{ code: number; stdout: string }>((done) => {
      const at = clone();
      const clockOfRun = `{const now=Date.now;Date.now=()=>now()+${clock.now() - systemClock.now()}}`;
      const options = {
        cwd: at,
        detached: true,
        env: {
          ...env,
          NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clockOfRun)}`,
          ...more,
        },
      };
      const script = spawn(SCRIPT, options);
      let stdout = "";
      for (const stream of [script.stdout, script.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => {
          stdout += text;
        });
      script.on("close", (code) => {
        rmSync(at, { recursive: true });
        done({ code: code ?? -1, stdout });
      });
      onStart(script);
    });
  const commits = () => Number(git(bare, "rev-list", "--count", "sidereal"));
  const show = (path: string) => git(bare, "show", `sidereal:${path}`);
  return {
    ...{ clock, catalogue, ids, forge, folder, git, bare, run, commits, show, names },
    ...{ set, setOne, main, clone },
  };
}

/** The files below a folder with their contents. */
export function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    files
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

/** A page of a site has no control that needs a server, and of scripts only the address of the one. */
export function assertStatic(html: string, file: string): void {
  assert.doesNotMatch(html, /<form|http-equiv|localhost| on[a-z]+="/, file);
  assert.deepEqual(
    html.match(/<script[^>]*>[^<]*/g)?.map((tag) => tag.replace(/"[^"]*\/assets\/\w+\/|"assets\/\w+\//, '"')),
    ['<script src="site.js">'],
    file,
  );
  assert.equal(html.match(/<button/g)?.length, 1, file);
  assert.match(html, /<button type="button" class="theme-button" aria-label="Theme" hidden>/, file);
}

/** Shorter pauses keep the pace of a forge; longer ones renew leases. */
const PACE_MS = 2_000;

/** A clock that runs on by itself, jumps over days, and does not wait for the pace of a forge. */
class DayClock implements Clock {
  #aheadMs: number;

  constructor(start: number) {
    this.#aheadMs = start - systemClock.now();
  }

  now = (): number => systemClock.now() + this.#aheadMs;
  monotonic = (): number => systemClock.monotonic() + this.#aheadMs;

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms >= PACE_MS) return systemClock.sleep(ms, signal);
    this.#aheadMs += Math.max(0, Math.ceil(ms));
    await setImmediate();
  }

  pass(days: number): void {
    this.#aheadMs += days * DAY_MS;
  }
}
