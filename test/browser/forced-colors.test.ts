import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser, signInByMail } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";

/** Runs in a page: where the texts of a part of it are that can be seen. */
const TEXTS = `(part) => {
  const isCut = (element, box) => {
    if (element === document.body) return false;
    const { clipPath, overflow } = getComputedStyle(element);
    const { top, bottom } = element.getBoundingClientRect();
    const isOutside = overflow !== "visible" && (box.y < top || box.bottom > bottom);
    return clipPath !== "none" || isOutside || isCut(element.parentElement, box);
  };
  const walker = document.createTreeWalker(document.querySelector(part), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    const text = node.data.trim();
    const element = node.parentElement;
    if (!/\\w/.test(text) || !element.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const [box] = range.getClientRects();
    if (box === undefined || box.x < 0 || isCut(element, box)) continue;
    const { x, y, width, height } = box;
    // The middle of the line: letters are there, and the plate reaches beyond it.
    found.push({ name: element.className + ": " + text.slice(0, 40), x, y: y + scrollY + height * 0.35, width, height: height * 0.35 });
  }
  return found;
}`;

/** Runs in an empty page: those of the boxes of a picture in which nothing contrasts with the ground, by WCAG 2.2. */
const UNREADABLE = `async ({ picture, boxes }) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const luminance = (r, g, b) => {
    const [x, y, z] = [r, g, b].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const isReadable = ({ x, y, width, height }) => {
    const { data } = context.getImageData(x, y, Math.max(1, width), Math.max(1, height));
    const lights = [];
    for (let i = 0; i < data.length; i += 4) lights.push(luminance(data[i], data[i + 1], data[i + 2]));
    const counts = Map.groupBy(lights, (light) => light);
    const ground = [...counts].reduce((most, one) => (one[1].length > most[1].length ? one : most))[0];
    const contrasting = lights.filter((light) => (Math.max(light, ground) + 0.05) / (Math.min(light, ground) + 0.05) >= 4.5);
    return contrasting.length > lights.length / 100;
  };
  return boxes.filter((box) => !isReadable(box)).map(({ name }) => name);
}`;

const STAR_TABLES = "/repos/github/almanac/star-tables";
/** Pages with all kinds of primary buttons, badges, chips, tabs and charts. */
const PAGES = [
  "/",
  "/explore?language=Rust",
  STAR_TABLES,
  "/compare?repo=github:almanac/star-tables&repo=github:almanac/sundial",
  "/embed?repo=github:almanac/star-tables",
  "/sign-in",
  "/watchlist",
  "/watchlists",
  "/there/is/nothing",
];
const OWN_PAGES = ["/account/keys", "/account/passkeys", "/operator", "/operator/tokens"];

describe("With forced colours", { skip: NO_CHROMIUM }, () => {
  onSqlite("in the browser", (engine) => {
    const mailbox = openMailbox();
    const world = inTheBrowser(engine, () => ({
      ...mailbox.settings,
      SIDEREAL_BASE_URL: "http://localhost:0",
      // Whoever signs in below.
      SIDEREAL_OPERATORS: Array.from({ length: 50 }, (_, i) => `reader-${i}@example.org`).join(","),
      SIDEREAL_TOKEN_KEY: "k".repeat(40),
    }));
    let buttons = 0;

    /** Asserts that each text on a page can be read, light and dark, as it is painted: the plate behind a text is in no style. */
    const check = async (page: Page, what: string, part = "body"): Promise<void> => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, forcedColors: "active", reducedMotion: "reduce" });
        const boxes: { name: string }[] = await page.evaluate(`(${TEXTS})(${JSON.stringify(part)})`);
        assert.ok(boxes.length > 2, `${what}: ${boxes.length} texts`);
        buttons += boxes.filter(({ name }) => /press/.test(name)).length;
        const bytes = await page.screenshot({ fullPage: true });
        const picture = `data:image/png;base64,${bytes.toString("base64")}`;
        const blank = await page.context().newPage();
        const unreadable = await blank.evaluate(`(${UNREADABLE})(${JSON.stringify({ picture, boxes })})`);
        await blank.close();
        assert.deepEqual(unreadable, [], `${what}, ${colorScheme}`);
      }
    };

    test("every text can be read, those of primary buttons too", async () => {
      const page = await world.visit();
      for (const path of PAGES) {
        await page.goto(path);
        await check(page, path);
      }
      await signInByMail(page, mailbox, "/account");
      for (const path of OWN_PAGES) {
        await page.goto(path);
        await check(page, path);
      }
      assert.ok(buttons >= 2 * 9, `${buttons} primary buttons`);
    });

    test("what is selected can be read in a theme of the reader too, and shows the focus", async () => {
      const page = await world.visit();
      await page.goto(STAR_TABLES, { waitUntil: "networkidle" });
      await page.locator("[data-themes] > summary").click();
      await page.getByRole("button", { name: "Dark" }).click();
      await page.locator("html[data-theme=dark]").waitFor();
      await check(page, "the menu of themes", "[data-themes]");
      await page.keyboard.press("Control+k");
      const dialog = page.getByRole("dialog", { name: "Go to" });
      await dialog.getByRole("option").first().waitFor();
      await page.keyboard.type("sundial");
      await dialog.locator("[aria-selected=true]", { hasText: "almanac/sundial" }).waitFor();
      await check(page, "the palette", "dialog");
      await page.keyboard.press("Escape");
      await page.locator(".tabs a[aria-current]").first().focus();
      const [outline, ground]: string[] = await page.evaluate(
        "(({ outlineColor, backgroundColor }) => [outlineColor, backgroundColor])(getComputedStyle(document.activeElement))",
      );
      assert.ok(outline !== undefined && outline !== ground, outline);
    });
  });
});
