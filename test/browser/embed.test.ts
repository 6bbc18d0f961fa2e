import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";

const PATH = "/embed?repo=github:almanac/star-tables&repo=github:almanac/sundial";

describe("The page for pictures on other sites", { skip: NO_CHROMIUM }, () => {
  onSqlite("in a browser", (engine) => {
    const mailbox = openMailbox();
    const world = inTheBrowser(engine, () => mailbox.settings);

    const preview = (page: Page, part: string) => page.locator(`#embed-result img[src*="${part}"]`);

    test("shows each choice without loading the page again, and keeps the focus", async () => {
      const page = await world.visit();
      await page.goto(PATH);
      await page.waitForLoadState("networkidle");
      await page.evaluate("window.isSame = true");
      await page.focus("#kind");
      await page.selectOption("#kind", "trending");
      await preview(page, "kind=trending").first().waitFor();
      assert.equal(await page.evaluate("document.activeElement.id"), "kind");
      await page.locator("#scope").waitFor();
      await page.fill("#label", "我们");
      await preview(page, encodeURIComponent("我们")).first().waitFor();
      assert.equal(await page.evaluate("document.activeElement.id"), "label");
      assert.equal(await page.evaluate("window.isSame"), true);
      const code = (await page.locator("#embed-url").textContent()) ?? "";
      assert.match(code, /badge\.svg\?repo=github:almanac\/star-tables&kind=trending&window=7d&label=/);
      assert.ok(await page.locator("#embed-result button[data-copy=embed-html]").isVisible());
      // The address is that of the choices.
      await page.reload();
      await preview(page, encodeURIComponent("我们")).first().waitFor();
    });

    test("shows pictures that load, of their own size", async () => {
      const page = await world.visit();
      await page.goto(PATH);
      const picture = page.locator("#embed-result img").first();
      await picture.waitFor();
      await page.waitForLoadState("networkidle");
      const size = await page.evaluate(
        "(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight].join(' '))(document.querySelector('#embed-result img'))",
      );
      assert.equal(size, "600 380");
    });
  });
});
