import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { updateDerived } from "../../src/modules.js";
import { violations } from "../support/axe.js";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";
import { OPEN_PAGES } from "../support/open-pages.js";
import { daily, observation, snapshot } from "../support/world.js";

const STAR_TABLES = "/repos/github/almanac/star-tables";
const HEBREW = "/repos/gitlab/שלום/עולם-הקוד";
const FALLEN = "/repos/github/almanac/fallen";
const LONG = `/repos/github/${"o".repeat(39)}/${"n".repeat(100)}`;

/** Public pages with whatever makes a page wide: long names, names in other scripts, many columns, errors. */
const PAGES = [
  ...OPEN_PAGES,
  "/explore?q=o&sort=stars-gained&window=30d",
  "/explore?minStars=many&createdAfter=never",
  STAR_TABLES,
  `${STAR_TABLES}?metric=forks&range=30d&window=30d`,
  FALLEN,
  HEBREW,
  LONG,
  `/compare?repo=github:almanac/star-tables&repo=github:${"o".repeat(39)}/${"n".repeat(100)}&repo=gitlab:שלום/עולם-הקוד`,
  "/topics",
  "/languages/Rust",
  "/topics/cli",
  "/embed?repo=github:almanac/star-tables",
  "/docs",
  "/sign-in",
  "/watchlists",
  "/repos/github/no/such",
  "/there/is/nothing",
];

const WIDTHS = [320, 390, 768, 1024, 1440, 1920];

/** Pages looked at closely: in each look a few, as axe takes its time. */
const SAMPLED = ["/", STAR_TABLES, FALLEN, "/explore?q=o"];

/** The part of an A4 page between margins of 1.5 cm, in CSS pixels. */
const PRINTED_WIDTH = 680;

/**
 * What sticks out of the window, or is cut by an element around it that does not scroll: links, fields, buttons and cells. In the
 * form "what, by how many pixels".
 */
const CLIPPED = `(() => {
  const width = document.documentElement.clientWidth;
  const found = [];
  const over = document.documentElement.scrollWidth - width;
  if (over > 0) found.push("the page, " + over);
  for (const one of document.querySelectorAll("a, button, input, select, summary, h1, td.number")) {
    const box = one.getBoundingClientRect();
    if (box.width === 0 || !one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) continue;
    let [left, right] = [0, width];
    let isHidden = false;
    for (let around = one; around !== null && around !== document.body; around = around.parentElement) {
      const { overflowX, clipPath, position } = getComputedStyle(around);
      if (clipPath !== "none" || around.classList.contains("skip")) isHidden = true;
      if (around === one) continue;
      if (overflowX === "auto" || overflowX === "scroll") isHidden = !window.isPrinted || isHidden;
      if (overflowX !== "hidden" && overflowX !== "clip") continue;
      const edge = around.getBoundingClientRect();
      [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
    }
    const cut = Math.max(left - box.left, box.right - right);
    if (!isHidden && cut > 1) found.push(one.outerHTML.slice(0, 80) + ", " + Math.round(cut));
  }
  return found;
})()`;

const clippedIn = (page: Page): Promise<string[]> => page.evaluate(CLIPPED);

describe("The layout of pages in a browser", { skip: NO_CHROMIUM }, () => {
  onSqlite("of a catalogue with awkward names", (engine) => {
    const world = inTheBrowser(engine);

    before(async () => {
      const { catalog } = world.modules;
      await catalog.record([
        observation("שלום/עולם-הקוד", daily(900, 1_000, 1_400), {
          provider: "GITLAB",
          facts: {
            description: "ספרייה לבניית ממשקים (React) — מהדורה 2.0!",
            topics: ["שלום", "cli"],
            language: "Rust",
          },
        }),
        observation(`${"o".repeat(39)}/${"n".repeat(100)}`, daily(9_000, 9_100, 19_400), {
          facts: {
            description: `مكتبة \u202egnol\u202c ${"w".repeat(300)} \u2067.`,
            topics: ["t".repeat(100)],
            license: "L".repeat(100),
            homepage: `https://${"h".repeat(60)}.example/`,
          },
        }),
        observation(
          "almanac/fallen",
          [111_560, 111_568, 89_312, 111_600, 111_610].map((stars, i) =>
            snapshot(24 * (4 - i), stars, { forks: 5_000 + i, openIssues: 1_200 - i }),
          ),
        ),
      ]);
      await updateDerived(world.modules);
    });

    test("fits windows from 320 to 1920 pixels, and cuts nothing that can be used", async () => {
      const page = await world.visit({ width: 1280 });
      const found: string[] = [];
      for (const path of PAGES) {
        await page.goto(path);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          for (const what of await clippedIn(page)) found.push(`${path}, ${width} wide: ${what}`);
        }
      }
      assert.deepEqual(found, []);
    });

    test("fits on paper, in light colours, with no table or chart cut off", async () => {
      const page = await world.visit({ colorScheme: "dark", width: PRINTED_WIDTH });
      await page.emulateMedia({ media: "print" });
      await page.addInitScript("window.isPrinted = true;");
      const found: string[] = [];
      for (const path of PAGES) {
        await page.goto(path);
        for (const what of await clippedIn(page)) found.push(`${path}: ${what}`);
        const paper = await page.evaluate("getComputedStyle(document.body).backgroundColor");
        assert.equal(paper, "rgb(255, 255, 255)", path);
      }
      assert.deepEqual(found, []);
      await page.goto(STAR_TABLES);
      const after = await page.evaluate(
        `getComputedStyle(document.querySelector('a[rel~="nofollow"]'), "::after").content`,
      );
      assert.equal(after, '" (https://github.com/almanac/star-tables)"', "where the forge is");
      const pdf = await page.pdf({ format: "A4", preferCSSPageSize: true });
      assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    });

    test("in forced colours shows what is current, keeps its lines, and has no accessibility violations", async () => {
      const page = await world.visit({ width: 1024 });
      await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
      for (const path of SAMPLED) {
        await page.goto(path);
        assert.deepEqual(await violations(page), [], path);
        const moving: string[] =
          await page.evaluate(`[...document.querySelectorAll("a, button, summary, svg *")]
          .filter((one) => getComputedStyle(one).transitionDuration !== "0s" || getComputedStyle(one).animationName !== "none")
          .map((one) => one.outerHTML.slice(0, 80))`);
        assert.deepEqual(moving, [], `${path} moves though the reader prefers it not to`);
      }
      await page.goto(STAR_TABLES);
      const looks: Record<string, string> = await page.evaluate(`(() => {
        const look = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
        const colour = (name) => { const one = document.createElement("i"); one.style.color = name; document.body.append(one);
          const found = getComputedStyle(one).color; one.remove(); return found; };
        return { tab: look(".tabs a[aria-current]", "backgroundColor"), selected: colour("Highlight"), other: look(".tabs a:not([aria-current])", "backgroundColor"),
          line: look(".chart .chart-line-1", "stroke"), text: colour("CanvasText"), badge: look(".badge", "borderTopStyle") };
      })()`);
      assert.equal(looks.tab, looks.selected);
      assert.notEqual(looks.other, looks.selected);
      assert.equal(looks.line, looks.text);
      assert.equal(looks.badge, "solid");
    });

    test("at other widths and in the dark has no accessibility violations", async () => {
      for (const [colorScheme, width] of [
        ["dark", 1024],
        ["light", 320],
      ] as const) {
        const page = await world.visit({ colorScheme, width });
        for (const path of [HEBREW, FALLEN]) {
          await page.goto(path);
          assert.deepEqual(await violations(page), [], `${path}, ${colorScheme}`);
        }
      }
    });

    test("a name or description in another script keeps what is around it in order", async () => {
      const page = await world.visit({ width: 1280 });
      await page.goto(HEBREW);
      const directions = await page.evaluate(`["h1", "h1 bdi", ".titled .about"].map((selector) =>
        getComputedStyle(document.querySelector(selector)).direction)`);
      assert.deepEqual(directions, ["ltr", "rtl", "rtl"]);
      const [owner, name] = await page.locator("h1 bdi").all();
      const [first, second] = [await owner?.boundingBox(), await name?.boundingBox()];
      assert.ok((first?.x ?? 0) < (second?.x ?? 0), "the owner stays before the name");
      // Were the controls of direction in the description to leak, the facts below it would be reversed.
      await page.goto(LONG);
      const parts = await page.locator(".gain-summary .tally > *").all();
      const places = await Promise.all(parts.map(async (part) => (await part.boundingBox())?.x ?? 0));
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      );
    });
  });
});
