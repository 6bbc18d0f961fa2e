import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { violations } from "../support/axe.js";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser, signInByMail } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";
import { IS_LONG } from "../support/long.js";
import { openMailbox } from "../support/mail.js";
import { OPEN_PAGES } from "../support/open-pages.js";

const STAR_TABLES = "/repos/github/almanac/star-tables";
const COMPARED = "/compare?repo=github:almanac/star-tables&repo=github:almanac/sundial";

/** Pages that anybody may see, wrong ones too. */
const PAGES = [
  ...OPEN_PAGES,
  "/explore?language=Rust&minStars=10&sort=stars-gained&window=7d",
  "/explore?q=nothing-is-called-so",
  "/explore?minStars=many&createdAfter=never",
  STAR_TABLES,
  `${STAR_TABLES}?metric=forks&range=30d&window=7d`,
  "/repos/gitlab/group/sub/deep",
  "/repos/github/no/such",
  COMPARED,
  `${COMPARED}&align=age&scale=log&metric=forks`,
  `${COMPARED}&view=per-day&from=2026-04-15&to=2026-04-28`,
  `${STAR_TABLES}?view=per-day`,
  "/topics",
  "/languages/Rust",
  "/topics/cli",
  "/embed?repo=github:almanac/star-tables&repo=github:almanac/sundial&kind=rank",
  "/docs",
  "/sign-in",
  "/sign-in/sent",
  "/operator/enter",
  "/watchlists",
  "/there/is/nothing",
];

/** Pages of somebody who is signed in. */
const OWN_PAGES = [
  "/account",
  "/account/delete",
  "/account/keys",
  "/account/passkeys",
  "/account/sessions",
  "/operator",
  "/operator/tokens",
  "/operator/untrack",
  "/operator/hidden",
  "/operator/accounts",
  "/operator/log",
  "/watchlist",
  STAR_TABLES,
  "/",
];

/** Weighed: the first page, that of a repository, and a list. */
const WEIGHED = ["/", STAR_TABLES, "/explore"];

/** What moved while a page was loading. */
const shiftsOf = (page: Page): Promise<unknown[]> => page.evaluate("window.shifts");

type Look = readonly [colorScheme: "light" | "dark", width: number];

/** Each color scheme and each width once; the other pairs only in a long run. */
const LOOKS: readonly Look[] = [
  ["light", 1280],
  ["dark", 390],
  ...(IS_LONG
    ? ([
        ["light", 390],
        ["dark", 1280],
      ] as const)
    : []),
];

describe("Pages in a browser", { skip: NO_CHROMIUM }, () => {
  onSqlite("with scripts", (engine) => {
    const mailbox = openMailbox();
    // A name, as browsers have no passkeys for addresses.
    const world = inTheBrowser(engine, () => ({
      ...mailbox.settings,
      SIDEREAL_BASE_URL: "http://localhost:0",
      // Whoever signs in below.
      SIDEREAL_OPERATORS: Array.from({ length: 50 }, (_, i) => `reader-${i}@example.org`).join(","),
      SIDEREAL_TOKEN_KEY: "k".repeat(40),
    }));

    /** Whether a page can be used by all, and fits its window, in each look. `what` names it. */
    const check = async (page: Page, what: string, looks: readonly Look[] = LOOKS): Promise<void> => {
      for (const [colorScheme, width] of looks) {
        // Without motion, as colours would change slowly.
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: 900 });
        assert.deepEqual(await violations(page), [], `${what}, ${colorScheme}, ${width} wide`);
        const [inner = 0, outer = 0]: number[] = await page.evaluate(
          "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
        );
        assert.ok(inner <= outer, `${what} is ${inner} px wide in a window of ${outer}`);
      }
    };

    test("have no accessibility violations", async () => {
      const page = await world.visit();
      for (const path of PAGES) {
        await page.goto(path);
        await check(page, path);
      }
    });

    test("of a signed-in user have no accessibility violations", async () => {
      const page = await world.visit();
      await signInByMail(page, mailbox, "/account/keys");
      await page.getByLabel(/^Name/).fill("reader");
      await page.getByRole("button", { name: "Create key" }).click();
      await page.locator("#key").waitFor();
      const key = (await page.locator("#key").innerText()).trim();
      await check(page, "a new key");
      const asked = await fetch(`${world.url}/api/repos?limit=1`, { headers: { "X-API-Key": key } });
      assert.equal(asked.status, 200);
      await page.goto("/account/keys");
      const use = await page.getByRole("link", { name: "reader", exact: true }).getAttribute("href");
      await page.goto(STAR_TABLES);
      await page.getByRole("button", { name: /^Save$/ }).click();
      await page.getByRole("button", { name: /^Saved/ }).waitFor();
      for (const path of [...OWN_PAGES, use ?? "", `${use}?window=90d`]) {
        await page.goto(path);
        await check(page, path);
      }
    });

    test("of shared lists have no accessibility violations", async () => {
      const page = await world.visit();
      await page.goto("/watchlists");
      await page.getByLabel(/^Repositories/).fill("almanac/star-tables\nalmanac/sundial");
      await page.getByRole("button", { name: "Create list" }).click();
      await page.locator("#share-link").waitFor();
      await check(page, "its links", [["light", 390]]);
      for (const id of ["#edit-link", "#share-link"]) {
        const friend = await world.visit();
        await friend.goto((await page.locator(id).innerText()).trim());
        await check(friend, id, [["light", 390]]);
      }
    });

    test("log nothing to the console, and load nothing from other sites", async () => {
      const page = await world.visit();
      const said: string[] = [];
      page.on("console", (message) => {
        if (!/status of 40[04]/.test(message.text())) said.push(`${page.url()}: ${message.text()}`);
      });
      page.on("pageerror", (error) => said.push(`${page.url()}: ${error.message}`));
      page.on("request", (request) => {
        if (new URL(request.url()).origin !== world.url && !request.url().startsWith("data:"))
          said.push(`${page.url()} asks for ${request.url()}`);
      });
      for (const path of PAGES) await page.goto(path);
      await page.waitForLoadState("networkidle");
      assert.deepEqual(said, []);
    });

    test("are small, make few requests, and do not shift", async () => {
      const page = await world.visit();
      for (const path of WEIGHED) {
        let bytes = 0;
        let requests = 0;
        page.removeAllListeners("requestfinished");
        page.on("requestfinished", async (request) => {
          requests += 1;
          const isPicture = /\.png$|\/api\/embed\//.test(new URL(request.url()).pathname);
          const { responseBodySize, responseHeadersSize } = await request.sizes();
          if (!isPicture) bytes += responseBodySize + responseHeadersSize;
        });
        await page.addInitScript(
          `window.shifts = []; new PerformanceObserver((list) => {
            for (const { value, sources } of list.getEntries())
              window.shifts.push([value, ...sources.map(({ node, previousRect, currentRect }) =>
                [node?.nodeName, node?.className, previousRect.y, currentRect.y, previousRect.height, currentRect.height].join(" "))]);
          }).observe({ type: "layout-shift", buffered: true });`,
        );
        await page.goto(path, { waitUntil: "networkidle" });
        assert.ok(bytes > 2_000 && bytes < 60_000, `${path}: ${bytes} bytes`);
        assert.ok(requests <= 12, `${path}: ${requests} requests`);
        process.stdout.write(`# ${path}: ${bytes} bytes, ${requests} requests\n`);
        // On a busy machine a page may be painted while it is parsed; what moves because of how it is made moves every time.
        for (let visit = 1; visit < 3 && (await shiftsOf(page)).length > 0; visit++)
          await page.reload({ waitUntil: "networkidle" });
        assert.deepEqual(await shiftsOf(page), [], `${path} moves while it loads`);
      }
    });
  });
});
