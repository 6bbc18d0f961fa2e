import { after, before } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { syntheticRepository } from "../../bench/synthetic/synthetic.js";
import { type Service, startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, type Modules, updateDerived } from "../../src/modules.js";
import { openBrowser } from "./browser.js";
import type { Engine } from "./engines.js";
import type { Mailbox } from "./mail.js";
import { ManualClock } from "./manual-clock.js";
import { daily, GENEROUS, NOW, observation, snapshot } from "./world.js";

/** A service on a port of its own, and a browser before it. */
export interface BrowserWorld {
  readonly modules: Modules;
  readonly clock: ManualClock;
  /** Its public address. */
  readonly url: string;
  /** A visitor with cookies of their own; without `scripts` the browser runs none. */
  visit(options?: VisitOptions): Promise<Page>;
}

export interface VisitOptions {
  scripts?: boolean;
  colorScheme?: "light" | "dark";
  width?: number;
}

/** A backstop, not a measure of speed: whatever is waited for comes much sooner or never. */
const WAIT_MS = 300_000;

/** Repositories that journeys look for by name, besides made-up ones that fill the lists. */
const KNOWN = [
  observation(
    "almanac/star-tables",
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 17, 18, 19, 20]
      .reverse()
      .map((day) => snapshot(day * 24, 4_000 - day * 25, { forks: 300 - day, openIssues: 40 + (day % 5) })),
    {
      facts: {
        description: "Tables of where the stars stand",
        language: "Rust",
        topics: ["astronomy", "cli"],
        license: "MIT",
        createdAt: NOW - 800 * 86_400_000,
        url: "https://github.com/almanac/star-tables",
      },
    },
  ),
  observation("almanac/sundial", daily(100, 110, 125, 150, 190, 260, 300, 420), {
    facts: { description: "A sundial for terminals", language: "Go", topics: ["cli"] },
  }),
  observation("group/sub/deep", daily(10, 12), { provider: "GITLAB" }),
];

/** Starts a service and a browser before the tests of a suite, and stops them after. */
export function inTheBrowser(engine: Engine, env: () => Record<string, string> = () => ({})): BrowserWorld {
  let service: Service;
  let browser: Browser;
  let modules: Modules;
  const clock = new ManualClock(NOW);
  const contexts: BrowserContext[] = [];
  before(async () => {
    const config = loadConfig({
      ...GENEROUS,
      SIDEREAL_PORT: "0",
      SIDEREAL_AUTH_SECRET: "s".repeat(40),
      ...env(),
    });
    // As on PostgreSQL: nothing is kept in a data folder.
    const forges = { config: { ...config, databaseUrl: "postgres://world", dataDir: ":memory:" } };
    const hasForges = "SIDEREAL_PROVIDERS" in env();
    modules = buildModules(await engine.open(), {
      clock,
      log: createLog("silent"),
      ...(hasForges && forges),
    });
    const others = { repositories: 300, days: 40, seed: 1, end: NOW };
    await modules.catalog.record([
      ...Array.from({ length: others.repositories }, (_, i) => syntheticRepository(i, others)),
      ...KNOWN,
    ]);
    await updateDerived(modules);
    service = await startService({ config, clock, log: createLog("silent") }, modules);
    browser = await openBrowser();
  });
  after(async () => {
    for (const context of contexts) await context.close();
    await browser?.close();
    await service?.stop();
  });
  return {
    get modules() {
      return modules;
    },
    clock,
    get url() {
      return service.url;
    },
    async visit({ scripts = true, colorScheme = "light", width = 1280 } = {}) {
      const context = await browser.newContext({
        baseURL: service.url,
        javaScriptEnabled: scripts,
        colorScheme,
        viewport: { width, height: 900 },
      });
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(WAIT_MS);
      return page;
    },
  };
}

let members = 0;

/** Signs somebody new in, by the page for it and the mail that it sends, and goes on to `next`. */
export async function signInByMail(page: Page, mailbox: Mailbox, next: string): Promise<void> {
  await page.goto(`/sign-in?next=${encodeURIComponent(next)}`);
  await sendLink(page, mailbox);
  await page.waitForURL((url) => url.pathname + url.search === next);
}

/** Fills in the form for signing in, and follows the link that is mailed. */
export async function sendLink(page: Page, mailbox: Mailbox): Promise<void> {
  members += 1;
  await page.getByLabel("Email address").fill(`reader-${members}@example.org`);
  await page.getByRole("button", { name: "Email me a code" }).click();
  await page.getByRole("heading", { name: "Check your inbox" }).waitFor();
  const { link } = await mailbox.next();
  await page.goto(link.pathname + link.search);
  await page.getByRole("button", { name: /^Sign in/ }).click();
}
