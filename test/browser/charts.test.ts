import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";

const STAR_TABLES = "/repos/github/almanac/star-tables";
const COMPARED = "/compare?repo=github:almanac/star-tables&repo=github:almanac/sundial&range=all";

/** Both drawings of the chart of a page. */
const drawings = (page: Page): Promise<string> =>
  page.evaluate(
    "[...document.querySelectorAll('.plot-box svg')].slice(0, 2).map((one) => one.outerHTML).join('')",
  );

/** The point that is read, in words. */
const tip = (page: Page) => page.locator(".plot-tip");

/** The status that a screen reader announces. */
const announced = (page: Page): Promise<string> =>
  page.evaluate("[...document.querySelectorAll('[role=status]')].map((one) => one.textContent).join('')");

/** Where a part of the chart is in the window, from 0 to 1 of its width. */
async function at(page: Page, part: number): Promise<{ x: number; y: number }> {
  const chart = page.locator(".plot-box").first();
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  assert.ok(box !== null);
  return { x: box.x + box.width * part, y: box.y + box.height / 2 };
}

describe("Charts in a browser", { skip: NO_CHROMIUM }, () => {
  onSqlite("with scripts", (engine) => {
    const world = inTheBrowser(engine);

    test("are the drawing of the server, the same without scripts", async () => {
      for (const path of [STAR_TABLES, `${STAR_TABLES}?view=per-day`, COMPARED, `${COMPARED}&scale=log`]) {
        const [page, plain] = [await world.visit(), await world.visit({ scripts: false })];
        await page.goto(path, { waitUntil: "networkidle" });
        await plain.goto(path);
        await page.locator(".plot-box.live").waitFor();
        const { x, y } = await at(page, 0.5);
        await page.mouse.move(x, y);
        await tip(page).waitFor();
        assert.ok((await drawings(page)).includes("<svg"));
        assert.equal(await drawings(page), await plain.content().then(drawingsIn), path);
        assert.equal(await page.locator("canvas").count(), 0);
      }
    });

    test("show the date, the count and the gain of the nearest point next to the pointer", async () => {
      const page = await world.visit();
      await page.goto(STAR_TABLES, { waitUntil: "networkidle" });
      const last = await at(page, 0.985);
      await page.mouse.move(last.x, last.y);
      await tip(page).waitFor();
      assert.deepEqual((await tip(page).innerText()).split("\n"), [
        "30 Apr 2026",
        "4,000 stars",
        "+25 in a day",
        "imported",
      ]);
      const dot = await page.locator(".plot-dot-1").boundingBox();
      const end = await page.locator(".plot-wide .chart-mark-1").last().boundingBox();
      assert.ok(dot !== null && end !== null);
      const middle = (box: typeof dot) => [box.x + box.width / 2, box.y + box.height / 2];
      for (const [i, place] of middle(dot).entries())
        assert.ok(Math.abs(place - (middle(end)[i] ?? 0)) < 1.5, "the dot is on the point");
      await page.mouse.move(5, 5);
      await tip(page).waitFor({ state: "hidden" });
    });

    test("are read point by point with the keyboard, and announced", async () => {
      const page = await world.visit({ width: 390 });
      await page.goto(STAR_TABLES, { waitUntil: "networkidle" });
      await page.locator(".plot-box").first().focus();
      await page.keyboard.press("End");
      assert.match(await announced(page), /30 Apr 2026\. 4,000 stars\. \+25 in a day/);
      for (let i = 0; i < 8; i++) await page.keyboard.press("ArrowLeft");
      assert.match(await announced(page), /22 Apr 2026\. 3,800 stars\. \+100 since 4 days before/);
      await page.keyboard.press("Home");
      assert.match(await announced(page), /3,500 stars/);
      await page.keyboard.press("PageDown");
      assert.match(await announced(page), /3,550 stars/);
      await page.keyboard.press("Escape");
      assert.equal(await announced(page), "");
      assert.equal(await tip(page).isVisible(), false);
    });

    test("show the gains of bars", async () => {
      const page = await world.visit();
      await page.goto(`${STAR_TABLES}?view=per-day`, { waitUntil: "networkidle" });
      await page.locator(".plot-box").first().focus();
      await page.keyboard.press("End");
      assert.match(await announced(page), /30 Apr 2026\. \+25 in a day\. 4,000 stars in all/);
      for (let i = 0; i < 8; i++) await page.keyboard.press("ArrowLeft");
      assert.match(await announced(page), /\+100 in 4 days\. snapshots are missing, so no bar/);
    });

    test("say which line has no point at a time, and show no dot for it", async () => {
      const page = await world.visit();
      await page.goto(COMPARED, { waitUntil: "networkidle" });
      await page.locator(".plot-box").first().focus();
      await page.keyboard.press("Home");
      assert.match(await announced(page), /star-tables 3,500.*sundial no snapshot/);
      assert.deepEqual(
        [await page.locator(".plot-dot-1").isVisible(), await page.locator(".plot-dot-2").isVisible()],
        [true, false],
      );
      await page.keyboard.press("End");
      assert.match(await announced(page), /star-tables 4,000.*sundial 420/);
      assert.equal(await page.locator(".plot-dot-2").isVisible(), true);
    });

    test("are read by touch, which selects nothing", async () => {
      const page = await world.visit({ width: 390 });
      await page.goto(STAR_TABLES, { waitUntil: "networkidle" });
      const [from, to] = [await at(page, 0.3), await at(page, 0.97)];
      const touch = (type: string, { x, y }: typeof from) =>
        page
          .locator(".plot-box")
          .first()
          .dispatchEvent(type, { pointerType: "touch", isPrimary: true, button: 0, clientX: x, clientY: y });
      await touch("pointerdown", from);
      await tip(page).waitFor();
      await touch("pointermove", to);
      assert.match(await tip(page).innerText(), /4,000 stars/);
      assert.equal(await page.locator(".plot-selection").isVisible(), false);
      await touch("pointerup", to);
      assert.equal(await tip(page).isVisible(), true, "it stays when the finger is gone");
      assert.doesNotMatch(page.url(), /from=/);
      assert.equal(
        await page.evaluate("getComputedStyle(document.querySelector('.plot-box')).touchAction"),
        "pan-y",
        "the page still scrolls",
      );
    });

    test("show the part that is selected by dragging, in place, and the whole again", async () => {
      const page = await world.visit();
      await page.goto(STAR_TABLES, { waitUntil: "networkidle" });
      await page.evaluate("window.stayed = true");
      const whole = await drawings(page);
      const [from, to] = [await at(page, 0.7), await at(page, 0.9)];
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y, { steps: 4 });
      assert.equal(await page.locator(".plot-selection").isVisible(), true);
      await page.mouse.up();
      const shown = page.locator("[data-shown]");
      await shown.waitFor();
      assert.match(await shown.innerText(), /^Showing \d+ Apr 2026 to \d+ Apr 2026$/);
      assert.match(page.url(), /[?&]from=2026-04-2\d&to=2026-04-2\d/);
      assert.equal(await page.evaluate("window.stayed"), true);
      const plain = await world.visit({ scripts: false });
      await plain.goto(page.url());
      assert.equal(await drawings(page), drawingsIn(await plain.content()));
      assert.notEqual(await drawings(page), whole);
      await page.getByText("Snapshots of the days in the chart").waitFor();
      assert.match(
        (await page.locator(".tiles a[href*='window=']").first().getAttribute("href")) ?? "",
        /from=2026-04/,
        "the other links of the page keep the days",
      );
      await page.locator(".plot-box.live").first().focus();
      await page.keyboard.press("Home");
      assert.match(await announced(page), /Apr 2026\. 3,\d+ stars/);
      await page.getByRole("link", { name: "Reset zoom" }).press("Enter");
      await page.waitForURL((url) => !url.search.includes("from"));
      await page.waitForFunction("!document.querySelector('[data-reset]')");
      assert.equal(await drawings(page), whole);
      assert.equal(await page.evaluate("document.activeElement.classList.contains('plot-box')"), true);
      await page.goBack();
      await page.getByRole("link", { name: "Reset zoom" }).waitFor();
      assert.equal(await page.evaluate("window.stayed"), true);
    });

    test("do not take a click for a selection", async () => {
      const page = await world.visit();
      await page.goto(STAR_TABLES, { waitUntil: "networkidle" });
      const { x, y } = await at(page, 0.5);
      await page.mouse.click(x, y);
      await page.mouse.move(x + 3, y);
      assert.doesNotMatch(page.url(), /from=/);
      assert.equal(await tip(page).isVisible(), true);
    });
  });

  onSqlite("without scripts", (engine) => {
    const world = inTheBrowser(engine);

    test("show a part of the time by two dates", async () => {
      const page = await world.visit({ scripts: false });
      await page.goto(`${STAR_TABLES}?metric=forks`);
      await page.getByText("Zoom by dates").click();
      await page.getByLabel("From", { exact: true }).fill("2026-04-22");
      await page.getByLabel("To", { exact: true }).fill("2026-04-25");
      await page.getByRole("button", { name: "Show", exact: true }).click();
      await page.getByText("Showing 22 Apr 2026 to 25 Apr 2026").waitFor();
      assert.match(page.url(), /metric=forks/);
      assert.match(await drawings(page), /292 on 22 Apr 2026, 295 on 25 Apr 2026/);
    });
  });
});

/** Both drawings in the text of a page. */
function drawingsIn(html: string): string {
  return [...html.matchAll(/data-geometry="[^"]*">(<svg.*?<\/svg>)/gs)].map(([, svg]) => svg).join("");
}
