import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { violations } from "../support/axe.js";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";

const REPOSITORY = "/repos/github/almanac/star-tables";
const PANEL = "/embed?repo=github:almanac/star-tables&repo=github:almanac/sundial";

/** The type of what is on the clipboard, and the size of the picture. */
const COPIED = `navigator.clipboard.read().then(async ([item]) => {
  const { width, height } = await createImageBitmap(await item.getType("image/png"));
  return [...item.types, width, height].join(" ");
})`;

describe("Sharing pictures", { skip: NO_CHROMIUM }, () => {
  onSqlite("in a browser", (engine) => {
    const world = inTheBrowser(engine);
    const picture = (page: Page, part: string) => page.locator(`#share-result img[src*="${part}"]`);

    test("a picture is on the clipboard after three clicks, and the page is where it was", async () => {
      const page = await world.visit();
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.goto(REPOSITORY);
      await page.getByRole("link", { name: "Share", exact: true }).dblclick();
      const dialog = page.getByRole("dialog", { name: "Share" });
      await dialog.getByText("Square").click();
      await picture(page, "shape=square").waitFor();
      await dialog.getByRole("button", { name: "Copy image" }).click();
      await dialog.getByRole("button", { name: "Copied" }).waitFor();
      assert.equal(await page.evaluate(COPIED), "image/png 1080 1080");
      assert.equal(new URL(page.url()).pathname, REPOSITORY);
    });

    test("the dialog is used by keyboard alone, and gives the focus back", async () => {
      const page = await world.visit();
      await page.goto(REPOSITORY);
      await page.getByRole("link", { name: "Share", exact: true }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Share" }).waitFor();
      assert.equal(await page.evaluate("document.activeElement.id"), "share-kind-post");
      await page.keyboard.press("ArrowLeft");
      await picture(page, "/api/embed/card.png").waitFor();
      await page.keyboard.press("ArrowRight");
      await picture(page, "shape=post").waitFor();
      for (const [colorScheme, width] of [
        ["light", 1280],
        ["dark", 390],
      ] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: 900 });
        assert.deepEqual(await violations(page), [], colorScheme);
      }
      await page.keyboard.press("Escape");
      await page.getByRole("dialog", { name: "Share" }).waitFor({ state: "hidden" });
      assert.equal(await page.evaluate("document.activeElement.textContent"), "Share");
    });

    test("each choice is shown without loading the page again, and keeps the focus", async () => {
      const page = await world.visit();
      await page.goto(PANEL);
      await page.waitForLoadState("networkidle");
      await page.evaluate("window.isSame = true");
      await page.getByText("Badge", { exact: true }).click();
      await page.focus("#share-badge");
      await page.selectOption("#share-badge", "trending");
      await picture(page, "kind=trending").first().waitFor();
      assert.equal(await page.evaluate("document.activeElement.id"), "share-badge");
      await page.fill("#share-label", "我们");
      await picture(page, encodeURIComponent("我们")).first().waitFor();
      assert.equal(await page.evaluate("document.activeElement.id"), "share-label");
      assert.equal(await page.evaluate("window.isSame"), true);
      const code = (await page.locator("#embed-url").textContent()) ?? "";
      assert.match(code, /badge\.svg\?repo=github:almanac\/star-tables&kind=trending&window=7d&label=/);
      // The address is that of the choices.
      await page.reload();
      await picture(page, encodeURIComponent("我们")).first().waitFor();
    });

    test("a picture that cannot be copied is saved", async () => {
      const page = await world.visit();
      await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
      await page.goto(`${PANEL}&kind=post`);
      await page.getByRole("button", { name: "Copy image" }).click();
      await page.getByRole("button", { name: "Not copied. Save it as PNG." }).waitFor();
      const saved = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download PNG" }).click();
      assert.equal((await saved).suggestedFilename(), "star-tables-vs-sundial-1y.png");
    });

    test("without scripts the panel is a page with a form", async () => {
      const page = await world.visit({ scripts: false });
      await page.goto(REPOSITORY);
      await page.getByRole("link", { name: "Share", exact: true }).click();
      await page.getByText("README", { exact: true }).click();
      await page.fill("#share-title", "My stars");
      await page.getByRole("button", { name: "Update" }).click();
      await picture(page, "title=My%20stars").waitFor();
      assert.equal(await page.getByRole("img", { name: "My stars" }).count(), 1);
      assert.equal(await page.getByRole("button", { name: "Copy image" }).count(), 0);
      await page.getByText("Code").click();
      assert.ok(await page.locator("#embed-html").isVisible());
    });
  });
});
