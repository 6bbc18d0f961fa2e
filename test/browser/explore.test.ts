import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { updateDerived } from "../../src/modules.js";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";
import { daily, observation } from "../support/world.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Names of languages and topics that are hard to lay out. */
const HARD = ["x".repeat(100), "لغة البرمجة للمبتدئين", "程序设计语言", "a-b".repeat(33)];

const PATH = "/explore?sort=stars&language=Rust&minStars=1000";

/** Opens every fold of the page but the menus. */
const unfold = (page: Page) =>
  page.evaluate(
    "document.querySelectorAll('.filters, .filters details').forEach((fold) => { fold.open = true })",
  );

const resultsOf = async (page: Page) => (await page.locator("#found").innerText()).split(/\s/)[0];

/** Whether the focus is on a choice of this name. */
const isFocused = (page: Page, choice: string) =>
  page.evaluate(`document.activeElement?.dataset.choice === ${JSON.stringify(choice)}`);

describe("The page /explore in a browser", { skip: NO_CHROMIUM }, () => {
  onSqlite("with many filters", (engine) => {
    const world = inTheBrowser(engine);
    before(async () => {
      const { modules } = world;
      await modules.catalog.record(
        HARD.map((name, i) =>
          observation(`hard/name-${i}`, daily(5_000, 5_001 + i), {
            facts: { language: name, topics: [name.toLowerCase()], license: "MIT" },
          }),
        ),
      );
      await updateDerived(modules);
    });

    for (const width of [320, 390, 1024, 1440]) {
      test(`fits a window ${width} wide, folded and unfolded, without accessibility violations`, async () => {
        const page = await world.visit({ width, colorScheme: width === 390 ? "dark" : "light" });
        const hard = HARD.map((name) => `language=${encodeURIComponent(name)}`).join("&");
        for (const path of [
          "/explore",
          PATH,
          `/explore?sort=stars&${hard}`,
          "/explore?q=nothing-is+called-so",
        ]) {
          await page.goto(path);
          for (const state of ["folded", "unfolded"]) {
            if (state === "unfolded") await unfold(page);
            const [inner = 0, outer = 0]: number[] = await page.evaluate(
              "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
            );
            assert.ok(inner <= outer, `${path}, ${state}, is ${inner} px wide in a window of ${outer}`);
          }
          await page.evaluate(AXE);
          const found: { id: string; nodes: { html: string }[] }[] = await page.evaluate(
            "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
          );
          assert.deepEqual(
            found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
            [],
            path,
          );
        }
      });
    }

    test("has checkboxes next to their labels, and a button to apply within the window", async () => {
      for (const width of [320, 1440]) {
        const page = await world.visit({ width, scripts: false });
        await page.goto(PATH);
        if (width === 320) await page.getByText("Filters (2)").click();
        await page.getByText("More filters").click();
        const checkbox = page.locator('.exact input[type="checkbox"][name="language"]');
        const [box, label] = [await checkbox.boundingBox(), await checkbox.locator("..").boundingBox()];
        assert.ok(box && label && box.width <= 24 && label.height < 40, `${box?.width} by ${label?.height}`);
        assert.ok(box.x - label.x < 8, "at the begin of its label");
        await page.getByLabel("Keywords").focus();
        const button = await page.getByRole("button", { name: "Apply" }).boundingBox();
        assert.ok(button && button.y + button.height <= 900, `the button ends at ${button?.y}`);
      }
    });

    test("is filtered by links without scripts", async () => {
      const page = await world.visit({ scripts: false });
      await page.goto("/explore?sort=stars");
      const all = await resultsOf(page);
      const link = page.locator('a[data-choice="language Python"]');
      const count = (await link.locator(".soft").innerText()).trim();
      await link.click();
      await page.waitForURL(/language=Python/);
      assert.equal(await resultsOf(page), count);
      assert.equal(await link.getAttribute("aria-current"), "true");
      await link.click();
      await page.waitForURL((url) => !url.search.includes("language"));
      assert.equal(await resultsOf(page), all);
      await page.getByText("Sort: Stars").click();
      await page.getByRole("link", { name: "Forks", exact: true }).first().click();
      await page.waitForURL(/sort=forks/);
      await page.getByText("Sort: Forks").waitFor();
    });

    test("keeps the focus on a filter that is chosen with the keyboard, and announces the results", async () => {
      const page = await world.visit();
      await page.goto("/explore?sort=stars");
      await page.locator('a[data-choice="language Python"]').focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(/language=Python/);
      await page.locator('[role="status"]', { hasText: /repositor/ }).waitFor({ state: "attached" });
      assert.ok(await isFocused(page, "language Python"));
      await page.goto("/explore");
      assert.equal(await isFocused(page, "language Python"), false, "only after a filter");
    });

    test("applies the fields of the form, without the empty ones, and goes back", async () => {
      const page = await world.visit();
      await page.goto("/explore?sort=stars");
      const all = await resultsOf(page);
      await page.getByText("More filters").click();
      await page.getByLabel("Min. stars").fill("5000");
      await page.getByLabel("Archived").selectOption("any");
      await page.getByRole("button", { name: "Apply" }).click();
      await page.waitForURL(/minStars=5000/);
      assert.match(page.url(), /archived=any/);
      assert.doesNotMatch(page.url(), /maxStars|language=/, "without empty fields");
      assert.notEqual(await resultsOf(page), all);
      await page.goBack();
      await page.waitForURL((url) => !url.search.includes("minStars"));
      assert.equal(await resultsOf(page), all);
      await page.goForward();
      await page.waitForURL(/minStars=5000/);
      assert.equal(await page.locator("#minStars").inputValue(), "5000");
    });
  });
});
