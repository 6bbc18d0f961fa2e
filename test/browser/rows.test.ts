import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { updateDerived } from "../../src/modules.js";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";
import { daily, observation } from "../support/world.js";

/** Widths of small and large phones, a tablet, a laptop, and a wide screen. */
const WIDTHS = [320, 390, 768, 1024, 1440, 1920];
const LONG = "a-name-that-goes-on".repeat(6).slice(0, 100);

/** The names on a page, those of which a part is not visible, and by how much the page is wider than the window. */
interface Layout {
  names: number;
  cut: string[];
  excess: number;
  /** Dots and images that are far too large. */
  large: number;
}

const LAYOUT = `(() => {
  const { clientWidth, scrollWidth } = document.documentElement;
  const names = [...document.querySelectorAll(".named .title, .named .owner")];
  const isCut = (name) => name.scrollWidth > name.clientWidth + 1 && getComputedStyle(name).display !== "inline";
  const isOutside = (name) => {
    const { left, right } = name.getBoundingClientRect();
    return left < 0 || right > clientWidth + 1;
  };
  return {
    names: names.length,
    cut: names.filter((name) => isCut(name) || isOutside(name)).map((name) => name.textContent),
    excess: scrollWidth - clientWidth,
    // Pictures that a rule for their size does not reach fill their column.
    large: [...document.querySelectorAll("svg.dot, .named svg, .named img")].filter((one) => one.clientWidth > 40).length,
  };
})()`;

describe("Rows of lists", { skip: NO_CHROMIUM }, () => {
  onSqlite("in a browser", (engine) => {
    const world = inTheBrowser(engine);

    before(async () => {
      const facts = { language: "x".repeat(100), description: "שלום עולם ".repeat(20), archived: false };
      await world.modules.catalog.record([
        observation(`${LONG.slice(0, 39)}/${LONG}`, daily(40, 9_000), { facts }),
        observation("lab/rtl-name", daily(50, 8_000), { facts }),
      ]);
      await updateDerived(world.modules);
    });

    test("show every name in full, at every width, and never widen the page", async () => {
      const page = await world.visit();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        for (const path of [
          "/",
          "/explore?sort=stars-gained",
          "/languages",
          `/languages/${"x".repeat(100)}`,
        ]) {
          await page.goto(new URL(path, world.url).href);
          const found = await page.evaluate<Layout>(LAYOUT);
          assert.deepEqual(
            { ...found, names: 0 },
            { names: 0, cut: [], excess: 0, large: 0 },
            `${path} at ${width} px`,
          );
          assert.equal(found.names > 0, path !== "/languages", `${path} at ${width} px has names`);
        }
      }
    });

    test("on a phone have the gain next to the name", async () => {
      const page = await world.visit({ width: 390 });
      await page.goto(new URL("/explore", world.url).href);
      const row = page.locator("table.repositories tbody tr").first();
      const boxOf = async (selector: string) =>
        (await row.locator(selector).boundingBox()) ?? assert.fail(selector);
      const name = await boxOf(".name");
      const { x, y } = await boxOf(".of-gain");
      assert.ok(x >= name.x + name.width - 1 && y < name.y + name.height);
    });

    test("have heads that sort without scripts and say by what the list is sorted", async () => {
      const page = await world.visit({ scripts: false });
      await page.goto(new URL("/explore", world.url).href);
      await page.getByRole("columnheader", { name: "24 h" }).getByRole("link").click();
      assert.equal(new URL(page.url()).search, "?sort=stars-gained");
      const head = page.locator("th[aria-sort]");
      assert.equal(await head.getAttribute("aria-sort"), "descending");
      await head.getByRole("link").click();
      assert.equal(new URL(page.url()).searchParams.get("order"), "asc");
      assert.equal(await page.locator("th[aria-sort]").getAttribute("aria-sort"), "ascending");
    });
  });
});
