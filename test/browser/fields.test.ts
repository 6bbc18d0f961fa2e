import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser, signInByMail } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";

const KNOWN = "github:almanac/star-tables";
const OTHER = "github:almanac/sundial";
const NEW = "github:acme/rocket";

/** What people write, and the repositories that every field reads in it: tracked ones, and those that it requests. */
const INPUTS: readonly (readonly [text: string, known: readonly string[], asked: readonly string[]])[] = [
  ["almanac/star-tables", [KNOWN], []],
  ["ALMANAC/Star-Tables", [KNOWN], []],
  ["github:almanac/star-tables", [KNOWN], []],
  ["https://github.com/almanac/star-tables", [KNOWN], []],
  ["https://github.com/almanac/star-tables/issues/5", [KNOWN], []],
  ["https://github.com/almanac/star-tables/blob/main/src/a.ts#L3", [KNOWN], []],
  ["http://www.github.com/almanac/star-tables/?tab=readme", [KNOWN], []],
  ["github.com/almanac/star-tables/", [KNOWN], []],
  ["git@github.com:almanac/star-tables.git", [KNOWN], []],
  ["git clone https://github.com/almanac/star-tables.git", [KNOWN], []],
  ["https://api.github.com/repos/almanac/star-tables", [KNOWN], []],
  ["<https://github.com/almanac/star-tables>", [KNOWN], []],
  ["  almanac/star-tables  ", [KNOWN], []],
  ["star-tables", [KNOWN], []],
  ["acme/rocket", [], [NEW]],
  ["https://github.com/acme/rocket/issues/5", [], [NEW]],
  ["git@github.com:acme/rocket.git", [], [NEW]],
  ["almanac/star-tables almanac/sundial", [KNOWN, OTHER], []],
  ["almanac/star-tables, almanac/sundial", [KNOWN, OTHER], []],
  ["almanac/star-tables sundial", [KNOWN, OTHER], []],
  ["- almanac/star-tables\n- almanac/sundial", [KNOWN, OTHER], []],
  ["almanac/star-tables nonsense almanac/sundial", [KNOWN, OTHER], []],
  ["almanac/star-tables acme/rocket", [KNOWN], [NEW]],
  ["https://github.com/almanac/sundial almanac/star-tables almanac/sundial", [KNOWN, OTHER], []],
  ["nonsense", [], []],
];

/** What came of a text: the repository that it opened, or how many tracked ones it found. */
interface Outcome {
  opened?: string;
  known?: number;
}

const keyOf = (page: Page): string =>
  new URL(page.url()).pathname.replace(/^\/repos\/github\//, "github:").replace(/^\/track.*|^\/explore/, "");

/** What a field that opens repositories led to. */
async function opened(page: Page): Promise<Outcome> {
  const key = keyOf(page);
  if (key !== "") return { opened: key };
  const before = page.locator("dt", { hasText: "Tracked before" }).locator("+ dd");
  return { known: (await before.count()) === 0 ? 0 : Number(await before.innerText()) };
}

/** Fills in a field of a form, and submits it by Enter. */
async function enter(page: Page, field: Locator, text: string): Promise<void> {
  await field.fill(text);
  await Promise.all([page.waitForNavigation(), field.press("Enter")]);
}

describe("The fields for repositories", { skip: NO_CHROMIUM }, () => {
  onSqlite("on eight pages, by 25 texts", (engine) => {
    const mailbox = openMailbox();
    const world = inTheBrowser(engine, () => ({
      ...mailbox.settings,
      SIDEREAL_TRACK: "everyone",
      SIDEREAL_PROVIDERS: "github",
    }));
    const database = () => world.modules.database.write;
    const requested = async () => {
      const rows = await database()
        .selectFrom("wanted")
        .select("text")
        .where("kind", "=", "repository")
        .execute();
      return rows.map(({ text }) => `github:${text}`);
    };

    const inForm = (path: string) => async (page: Page, text: string) => {
      if (!page.url().endsWith(path)) await page.goto(path);
      await enter(page, page.locator("main [data-repositories]").first(), text);
      return opened(page);
    };
    /** Enter takes the suggestion that is selected, if one is. */
    const bySuggestion = async (page: Page, field: Locator, text: string, list: string) => {
      await field.fill(text);
      await page.locator(`${list} [aria-selected=true]`).waitFor();
      await Promise.all([page.waitForNavigation(), field.press("Enter")]);
      return opened(page);
    };
    const onList = async (page: Page, text: string): Promise<Outcome> => {
      await enter(page, page.locator("main [data-repositories]").first(), text);
      return { known: await page.locator("table.list input[type=checkbox]").count() };
    };
    const fields: Readonly<Record<string, (page: Page, text: string) => Promise<Outcome>>> = {
      "the form": inForm("/track"),
      "a page that does not exist": inForm("/no/such/page"),
      "a repository that is not tracked": inForm("/repos/github/no/body"),
      "the palette": async (page, text) => {
        await page.goto("/about");
        await page.keyboard.press("Control+k");
        return bySuggestion(page, page.locator("#palette-text"), text, "#palette-list");
      },
      "the header": async (page, text) => {
        await page.goto("/about");
        if (text === "star-tables" || text === "nonsense") {
          await enter(page, page.locator("#search"), text);
          return { known: text === "nonsense" ? 0 : 1 };
        }
        return bySuggestion(page, page.locator("#search"), text, "#suggestions");
      },
      "a comparison": async (page, text) => {
        await page.goto("/compare");
        await enter(page, page.locator("main [data-repositories]").first(), text);
        const track = page.getByRole("button", { name: "Track acme/rocket" });
        const known = await page.locator(".chosen li").count();
        if ((await track.count()) > 0) await Promise.all([page.waitForNavigation(), track.click()]);
        return { known };
      },
      "a watchlist": async (page, text) => {
        await database().deleteFrom("watchlist_items").execute();
        await page.goto("/watchlist");
        return onList(page, text);
      },
      "a shared list": async (page, text) => {
        await page.goto("/watchlists");
        await page.locator("#repositories").fill(text);
        await page.getByRole("button", { name: "Create list" }).click();
        await page.getByRole("link", { name: "Open the list" }).click();
        await page.getByRole("heading", { level: 1, name: "Watchlist" }).waitFor();
        return { known: await page.locator("table.list input[type=checkbox]").count() };
      },
    };
    for (const [name, field] of Object.entries(fields))
      test(`${name} reads them alike`, async () => {
        const page = await world.visit();
        if (name === "a watchlist") await signInByMail(page, mailbox, "/watchlist");
        for (const [text, known, asked] of INPUTS) {
          await database().deleteFrom("wanted").execute();
          const outcome = await field(page, text);
          const [one] = [...known, ...asked];
          const expected =
            outcome.opened === undefined
              ? { known: known.length }
              : { opened: known.length + asked.length === 1 ? one : "" };
          assert.deepEqual(outcome, expected, text);
          assert.deepEqual(await requested(), asked, text);
        }
      });
  });
});
