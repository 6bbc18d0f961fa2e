import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser, signInByMail } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";

const STAR_TABLES = "/repos/github/almanac/star-tables";

/** Opens the palette, once the page answers to keys. */
async function openPalette(page: Page): Promise<Locator> {
  await page.waitForLoadState("networkidle");
  await page.keyboard.press("Control+k");
  const dialog = page.getByRole("dialog", { name: "Go to" });
  await dialog.getByRole("option").first().waitFor();
  return dialog;
}

/** The selected option, once its text fits. */
const selected = (dialog: Locator, text: string | RegExp) =>
  dialog.locator("[aria-selected=true]", { hasText: text });

const themeOf = (page: Page): Promise<string | null> => page.locator("html").getAttribute("data-theme");

describe("The palette", { skip: NO_CHROMIUM }, () => {
  onSqlite("by keyboard alone", (engine) => {
    const mailbox = openMailbox();
    const world = inTheBrowser(engine, () => mailbox.settings);

    test("leads to a repository, with its language and its gain", async () => {
      const page = await world.visit();
      await page.goto("/");
      const dialog = await openPalette(page);
      await page.keyboard.type("sundial");
      await selected(dialog, "almanac/sundial").waitFor();
      assert.match(
        (await selected(dialog, "almanac/sundial").innerText()) ?? "",
        /★ 420 · Go · \+320 in 7 days/,
      );
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "almanac/sundial" }).waitFor();
    });

    test("moves with arrows, Home and End, keeps Tab inside, and gives the focus back", async () => {
      const page = await world.visit();
      await page.goto("/about");
      await page.getByRole("link", { name: "Explore", exact: true }).first().focus();
      const dialog = await openPalette(page);
      const options = dialog.getByRole("option");
      const isSelected = (i: number) => options.nth(i).and(dialog.locator("[aria-selected=true]")).waitFor();
      const last = (await options.count()) - 1;
      await isSelected(0);
      await page.keyboard.press("ArrowUp");
      await isSelected(last);
      await page.keyboard.press("ArrowDown");
      await isSelected(0);
      await page.keyboard.press("End");
      await isSelected(last);
      await page.keyboard.press("Home");
      await isSelected(0);
      for (let presses = 0; presses < 6; presses++) {
        await page.keyboard.press("Tab");
        assert.equal(await page.evaluate("document.activeElement.closest('dialog') !== null"), true);
      }
      await page.keyboard.press("Shift+Tab");
      assert.equal(await page.evaluate("document.activeElement.closest('dialog') !== null"), true);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      assert.equal(await page.evaluate("document.activeElement.textContent"), "Explore");
    });

    test("compares the repository of the page with another one", async () => {
      const page = await world.visit();
      await page.goto(STAR_TABLES);
      const dialog = await openPalette(page);
      await page.keyboard.type("compare with");
      await selected(dialog, "Compare with…").waitFor();
      await page.keyboard.press("Enter");
      await dialog.getByLabel("Compare almanac/star-tables with").waitFor();
      await page.keyboard.type("sundial");
      await selected(dialog, "almanac/sundial").waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/compare\?/);
      assert.deepEqual(new URL(page.url()).searchParams.getAll("repo"), [
        "github:almanac/star-tables",
        "github:almanac/sundial",
      ]);
    });

    test("saves the repository of the page", async () => {
      const page = await world.visit();
      await signInByMail(page, mailbox, STAR_TABLES);
      await page.goto(STAR_TABLES);
      const dialog = await openPalette(page);
      await page.keyboard.type("save");
      await selected(dialog, /^Save$/).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: /^Saved/ }).waitFor();
      const again = await openPalette(page);
      await again.getByRole("option", { name: "API keys" }).waitFor();
    });

    test("offers a search of descriptions, also when no name fits", async () => {
      const page = await world.visit();
      await page.goto("/");
      const dialog = await openPalette(page);
      await page.keyboard.type("qqqq zzzz");
      await selected(dialog, "No match: search descriptions for “qqqq zzzz”").waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/explore\?q=qqqq/);
    });

    test("opens what was typed, however soon Enter is pressed", async () => {
      const page = await world.visit();
      for (const path of [STAR_TABLES, "/about"]) {
        await page.goto(path);
        await page.waitForLoadState("networkidle");
      }
      await openPalette(page);
      await page.keyboard.type("sundial");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "almanac/sundial" }).waitFor();
    });

    test("remembers what was opened last, until it is removed", async () => {
      const page = await world.visit();
      for (const path of ["/repos/gitlab/group/sub/deep", STAR_TABLES, "/about"]) {
        await page.goto(path);
        await page.waitForLoadState("networkidle");
      }
      const dialog = await openPalette(page);
      const recent = dialog.getByRole("group", { name: "Recent" }).getByRole("option");
      assert.deepEqual(await recent.allInnerTexts(), ["almanac/star-tables", "group/sub/deep"]);
      await page.keyboard.press("Delete");
      await recent.nth(1).waitFor({ state: "detached" });
      assert.deepEqual(await recent.allInnerTexts(), ["group/sub/deep"]);
      await dialog.getByRole("button", { name: "Clear recent" }).click();
      await recent.first().waitFor({ state: "detached" });
      assert.equal(await page.evaluate("localStorage.getItem('sidereal.recent')"), null);
    });

    test("switches the theme, which the next page has from its first paint", async () => {
      const page = await world.visit({ colorScheme: "light" });
      await page.goto("/about");
      const paper = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
      const light = await paper();
      const dialog = await openPalette(page);
      await page.keyboard.type("switch theme to d");
      await selected(dialog, "Switch theme to dark").waitFor();
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "hidden" });
      assert.equal(await themeOf(page), "dark");
      const dark = await paper();
      assert.notEqual(dark, light);
      await page.goto("/docs", { waitUntil: "commit" });
      await page.locator("h1").waitFor();
      assert.deepEqual([await themeOf(page), await paper()], ["dark", dark]);

      await page.waitForLoadState("networkidle");
      await page.locator("summary[aria-label=Theme]").focus();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Dark", exact: true, pressed: true }).waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "System", exact: true, pressed: true }).waitFor();
      assert.deepEqual([await themeOf(page), await paper()], [null, light]);
      await page.keyboard.press("Escape");
      assert.equal(await page.evaluate("document.activeElement.ariaLabel"), "Theme");
    });
  });

  onSqlite("and themes without scripts", (engine) => {
    const world = inTheBrowser(engine);

    test("have no button that does nothing", async () => {
      const page = await world.visit({ scripts: false });
      await page.goto(STAR_TABLES);
      assert.equal(await page.locator("[data-palette]").isVisible(), false);
      assert.equal(await page.locator("[data-themes]").isVisible(), false);
      await page.getByRole("searchbox").fill("sundial");
      await page.getByRole("searchbox").press("Enter");
      await page.getByRole("link", { name: "almanac/sundial" }).first().waitFor();
    });
  });
});
