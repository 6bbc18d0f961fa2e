import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { violations } from "../support/axe.js";
import { NO_CHROMIUM, openBrowser } from "../support/browser.js";
import { CommandWorld } from "../support/command.js";
import { contentOf, startPublishing } from "../support/publishing.js";
import { NOW } from "../support/world.js";

const world = new CommandWorld();
const BASE = "http://site.example/some/path";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
};

describe("a site of files in a browser without a network", { skip: NO_CHROMIUM }, () => {
  let browser: Browser;
  let folder: string;
  let names: string[];
  const closing: (() => unknown)[] = [];
  before(async () => {
    const published = await startPublishing(
      { after: (close) => closing.push(close as () => unknown) },
      world,
      { repositories: 6, begin: NOW },
    );
    ({ names } = published);
    folder = published.at("site");
    published.list(`${names[4]} ${names[5]}`, ...names);
    const { code, stderr } = await published.run("--site", folder);
    assert.equal(code, 0, stderr);
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    for (const close of closing) await close();
  });

  /** A browser that has the folder below a path of a site, and nothing else. */
  async function visit(colorScheme: "light" | "dark", width = 1280) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
    const missing: string[] = [];
    await context.route("**/*", (route) => {
      const url = decodeURIComponent(route.request().url());
      const path = join(folder, url.slice(BASE.length));
      if (url.startsWith(`${BASE}/`) && existsSync(path))
        return route.fulfill({ body: readFileSync(path), contentType: TYPES[extname(path)] ?? "text/plain" });
      missing.push(url);
      return route.abort();
    });
    return { page: await context.newPage(), missing, close: () => context.close() };
  }

  const pages = () => {
    const files = Object.keys(contentOf(folder)).filter((file) => file.endsWith(".html"));
    const one = (pattern: RegExp) => files.find((file) => pattern.test(file)) ?? assert.fail(String(pattern));
    return ["index.html", "about/index.html", one(/^compare\/.+\/index/), one(/^repos\//)];
  };

  for (const scheme of ["light", "dark"] as const)
    test(`its pages have nothing that axe finds wrong, and load nothing else (${scheme})`, async () => {
      const { page, missing, close } = await visit(scheme);
      for (const file of pages()) {
        await page.goto(`${BASE}/${file}`);
        assert.deepEqual(await violations(page), [], file);
        // The style sheet has come, and follows the system.
        const background = await page.evaluate("getComputedStyle(document.body).backgroundColor");
        const [red = 255] = String(background).match(/\d+/g)?.map(Number) ?? [];
        assert.equal(red < 128, scheme === "dark", `${file}: ${background}`);
      }
      assert.deepEqual(missing, []);
      await close();
    });

  test("it can be read by following links from the first page, also on a phone", async () => {
    const { page, missing, close } = await visit("light", 390);
    await page.goto(`${BASE}/index.html`);
    const over = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    assert.equal(over, 0);
    await page
      .getByRole("link", { name: names[0]?.split("/")[1] ?? "", exact: true })
      .first()
      .click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    assert.match(page.url(), new RegExp(`^${BASE}/repos/github/${names[0]}/index.html$`));
    assert.ok(await page.locator(".plot-narrow svg").first().isVisible());
    assert.deepEqual(missing, []);
    await close();
  });

  test("its script shows the count below the pointer, and keeps a theme", async () => {
    const { page, missing, close } = await visit("dark");
    const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.goto(`${BASE}/index.html`);
    const dark = await background();
    const button = page.getByRole("button", { name: "Theme: system" });
    await button.click();
    assert.notEqual(await background(), dark);
    const light = await background();
    await page.getByRole("link", { name: "Data as CSV" }).waitFor();
    await page.goto(`${BASE}/about/index.html`);
    assert.equal(await background(), light);
    await page.getByRole("button", { name: "Theme: light" }).click();
    await page.getByRole("button", { name: "Theme: dark" }).click();
    await page.getByRole("button", { name: "Theme: system" }).waitFor();
    await page.goto(`${BASE}/index.html`);
    await page.locator(".cover-cards .course").first().hover();
    assert.match((await page.locator(".reading text").textContent()) ?? "", /^[\d,]+ · \d+ \w{3} 20\d\d$/);
    assert.deepEqual(missing, []);
    await close();
  });
});
