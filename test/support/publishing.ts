import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
