import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Locator, Page, Request } from "playwright-core";
import { NO_CHROMIUM } from "../support/browser.js";
import { type BrowserWorld, inTheBrowser, sendLink, signInByMail } from "../support/browser-world.js";
import { onSqlite, onSqliteAndLong } from "../support/engines.js";
import { type Mailbox, openMailbox } from "../support/mail.js";

const STAR_TABLES = "/repos/github/almanac/star-tables";

/** Asks the API as a program does, with a key. */
async function askWithKey(world: BrowserWorld, key: string, path: string): Promise<number> {
  const response = await fetch(world.url + path, { headers: { Authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  return response.status;
}

/** The number that a fact of a page shows. */
async function fact(page: Page, name: string): Promise<string> {
  const row = page.locator("dl.facts > div", {
    has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }),
  });
  return ((await row.first().locator("dd").innerText()) ?? "").split("\n")[0]?.trim() ?? "";
}

/** The link of a repository in a list: other links of its row name it too. */
const listed = (page: Page, fullName: string): Locator =>
  page.locator(`.named a:is([href="/repos/github/${fullName}"], [href^="/repos/github/${fullName}?"])`);

/** The first suggestion, once it is this one: those for fewer letters may begin with others. */
function firstOption(page: Page, name: RegExp): Locator {
  return page.getByRole("option").first().and(page.getByRole("option", { name }));
}

/** What works the same with scripts and without. */
function everywhere(world: BrowserWorld, mailbox: Mailbox, scripts: boolean): void {
  test("narrow the list, and share its address", async () => {
    const page = await world.visit({ scripts });
    await page.goto("/explore?sort=stars");
    await page.getByText("More filters").click();
    await page.getByLabel("Language", { exact: true }).fill("Rust");
    await page.getByLabel("Min. stars", { exact: true }).fill("3000");
    await page.getByRole("button", { name: /^(Apply|Show)/ }).click();
    await page.waitForURL(/language=Rust/);
    assert.match(page.url(), /minStars=3000/);
    const first = page.locator("table.list tbody tr").first().getByRole("link").first();
    // The owner is on a line of its own.
    const name = (await first.innerText()).replaceAll(/\s/g, "");
    const friend = await world.visit({ scripts: !scripts });
    await friend.goto(page.url());
    assert.equal(
      (await friend.locator("table.list tbody tr").first().getByRole("link").first().innerText()).replaceAll(
        /\s/g,
        "",
      ),
      name,
    );
    await first.click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.goBack();
    assert.match(page.url(), /minStars=3000/);
    assert.equal(await page.getByLabel("Min. stars", { exact: true }).inputValue(), "3000");
  });

  test("sign in by mail, create a key, use it, see its usage, revoke it, be refused", async () => {
    const page = await world.visit({ scripts });
    await signInByMail(page, mailbox, "/account/keys");
    await page.waitForURL(/\/account\/keys$/);
    await page.getByLabel(/^Name/).fill("nightly report");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = (await page.locator("#key").innerText()).trim();
    assert.match(key, /^sid_[0-9A-Za-z]{36}$/);
    assert.equal(await askWithKey(world, key, "/api/repos?limit=1"), 200);
    assert.equal(await askWithKey(world, key, "/api/home"), 200);
    assert.equal(await askWithKey(world, key, "/api/repos/github/no/such"), 404);

    await page.goto("/account/keys");
    assert.equal(await page.getByText(key).count(), 0, "a key is shown once");
    await page.getByRole("link", { name: "nightly report", exact: true }).click();
    await page.getByRole("heading", { name: "Top endpoints" }).waitFor();
    assert.equal(await fact(page, "Requests"), "3");
    assert.equal(await fact(page, "Errors"), "1");
    for (const period of ["7 days", "30 days", "90 days"]) {
      await page.getByRole("link", { name: period, exact: true }).click();
      await page.locator("a[aria-current]", { hasText: period }).waitFor();
      assert.equal(await fact(page, "Requests"), "3", period);
    }

    await page.goto("/account/keys");
    await page.getByText("Revoke", { exact: true }).click();
    await page.getByRole("button", { name: "Revoke nightly report" }).click();
    await page.getByText("The key is revoked.").waitFor();
    assert.equal(await askWithKey(world, key, "/api/home"), 401);
  });

  test("save while signed out, sign in, and find it saved", async () => {
    const page = await world.visit({ scripts });
    await page.goto(STAR_TABLES);
    await page.getByRole("button", { name: /^Save/ }).click();
    await page.waitForURL(/\/sign-in/);
    await sendLink(page, mailbox);
    await page.waitForURL(/star-tables/);
    await page.getByRole("button", { name: /^Saved/ }).waitFor();
    await page.goto("/watchlist");
    await listed(page, "almanac/star-tables").waitFor();
  });

  test("create a shared list, which the share link only shows", async () => {
    const page = await world.visit({ scripts });
    await page.goto("/watchlists");
    await page.getByLabel("Name", { exact: true }).fill("Sky & <sea>");
    await page.getByLabel(/^Repositories/).fill("almanac/star-tables\nhttps://github.com/almanac/sundial");
    await page.getByRole("button", { name: "Create list" }).click();
    await page.getByRole("heading", { name: "Sky & <sea> is ready" }).waitFor();
    const shared = new URL((await page.locator("#share-link").innerText()).trim());
    await page.getByRole("link", { name: "Open the list" }).click();
    for (const name of ["almanac/sundial", "almanac/star-tables"])
      await page.getByLabel(`Choose ${name}`).check();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.waitForURL(/\/compare\?repo=.*&repo=/);
    await page.goBack();

    const friend = await world.visit({ scripts });
    const opened = await friend.goto(shared.pathname);
    assert.equal(opened?.headers()["x-robots-tag"], "noindex");
    await friend.getByRole("heading", { level: 1, name: "Sky & <sea>" }).waitFor();
    assert.equal(await listed(friend, "almanac/sundial").count(), 1);
    assert.equal(await friend.getByRole("button", { name: /Remove|Rename|Delete/ }).count(), 0);

    if (scripts) {
      await page.getByLabel("Choose all").check();
      await page.getByText("2 chosen").waitFor();
    }
    await page.getByLabel("Choose almanac/sundial").check();
    await page.getByLabel("Choose almanac/star-tables").uncheck();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByLabel("Choose almanac/sundial").waitFor({ state: "detached" });
    await friend.reload();
    assert.equal(await listed(friend, "almanac/sundial").count(), 0);
  });
}

describe("Journeys without scripts", { skip: NO_CHROMIUM }, () => {
  onSqliteAndLong("through the pages", (engine) => {
    const mailbox = openMailbox();
    const world = inTheBrowser(engine, () => mailbox.settings);
    everywhere(world, mailbox, false);

    test("find a repository by its name, and read its numbers in a table", async () => {
      const page = await world.visit({ scripts: false });
      await page.goto("/");
      await page.getByRole("searchbox").fill("star-tables");
      await page.getByRole("searchbox").press("Enter");
      await listed(page, "almanac/star-tables").click();
      await page.getByRole("heading", { level: 1, name: "almanac/star-tables" }).waitFor();
      await page.getByText("Table", { exact: true }).click();
      await page.getByRole("cell", { name: "4,000" }).first().waitFor();
    });
  });
});

describe("Journeys with scripts", { skip: NO_CHROMIUM }, () => {
  onSqlite("through the pages", (engine) => {
    const mailbox = openMailbox();
    const world = inTheBrowser(engine, () => mailbox.settings);
    everywhere(world, mailbox, true);

    test("find a repository with the keyboard only", async () => {
      const page = await world.visit();
      await page.goto("/");
      await page.keyboard.press("/");
      await page.keyboard.type("star-ta");
      const option = firstOption(page, /almanac\/star-tables/);
      await option.waitFor();
      const box = page.getByRole("combobox");
      assert.equal(await box.getAttribute("aria-expanded"), "true");
      await page.keyboard.press("ArrowDown");
      assert.equal(await box.getAttribute("aria-activedescendant"), await option.getAttribute("id"));
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.pathname === STAR_TABLES);
    });

    test("a chosen suggestion stays chosen when later ones arrive", async () => {
      const page = await world.visit();
      let isAsked = () => {};
      const asked = new Promise<void>((resolve) => {
        isAsked = resolve;
      });
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(/suggest\?q=star-tab/, async (route) => {
        isAsked();
        await released;
        await route.continue().catch(() => {});
      });
      await page.goto("/");
      const box = page.getByRole("combobox");
      await box.pressSequentially("star-ta");
      const option = firstOption(page, /almanac\/star-tables/);
      await option.waitFor();
      await page.keyboard.type("b");
      await asked;
      // The page may cancel the request when a suggestion is chosen.
      const isLate = (request: Request) => request.url().endsWith("q=star-tab&limit=6");
      const ended = Promise.race([
        page.waitForEvent("requestfinished", isLate),
        page.waitForEvent("requestfailed", isLate),
      ]);
      await page.keyboard.press("ArrowDown");
      release();
      await ended;
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.pathname === STAR_TABLES);
    });

    test("read a chart point by point with the keyboard only", async () => {
      const page = await world.visit();
      await page.goto(STAR_TABLES);
      const chart = page.locator(".plot [tabindex='0'], .plot-box[tabindex='0']").first();
      await chart.focus();
      await page.keyboard.press("End");
      const told = page.locator("[role='status']", { hasText: "stars" }).first();
      await page.waitForFunction("/4,000/.test(document.querySelector('.plot')?.textContent ?? '')");
      await page.keyboard.press("ArrowLeft");
      await page.waitForFunction("/3,975/.test(document.querySelector('.plot')?.textContent ?? '')");
      assert.match(await told.innerText(), /3,975/);
    });

    test("take a suggestion of a field with the keyboard, and compare without loading the page again", async () => {
      const page = await world.visit();
      await page.goto("/compare?repo=github:almanac/star-tables", { waitUntil: "networkidle" });
      await page.evaluate("window.stayed = true");
      const field = page.locator("#add");
      await field.focus();
      await page.keyboard.type("almanac/sundi");
      const option = firstOption(page, /almanac\/sundial/);
      await option.waitFor();
      await page.keyboard.press("Escape");
      assert.equal(await field.getAttribute("aria-expanded"), "false");
      await page.keyboard.type("a");
      await option.waitFor();
      assert.equal(await field.getAttribute("aria-expanded"), "true");
      await page.keyboard.press("ArrowDown");
      assert.equal(await field.getAttribute("aria-activedescendant"), await option.getAttribute("id"));
      await page.keyboard.press("Enter");
      const chips = page.getByRole("list", { name: "Compared repositories" }).getByRole("listitem");
      await chips.nth(1).waitFor();
      const compared = () => new URL(page.url()).searchParams.getAll("repo");
      assert.deepEqual(compared(), ["github:almanac/star-tables", "github:almanac/sundial"]);
      assert.match(await page.title(), /star-tables, almanac\/sundial/);
      await page.locator("summary.button", { hasText: "By date" }).click();
      await page.getByRole("link", { name: "Index", exact: true }).click();
      await page.waitForURL(/align=index/);
      await page.goBack();
      await page.goBack();
      await chips.nth(1).waitFor({ state: "detached" });
      assert.deepEqual(compared(), ["github:almanac/star-tables"]);
      assert.equal(await page.evaluate("window.stayed"), true);
    });

    test("compare, save and look at the list with the keyboard only", async () => {
      const page = await world.visit();
      await page.goto("/compare?repo=github:almanac/star-tables");
      await page.waitForLoadState("networkidle");
      await page.locator("#add").focus();
      await page.keyboard.type("almanac/sundia");
      await page.keyboard.press("Enter");
      const meant = page.getByRole("alert").getByRole("link", { name: "almanac/sundial" });
      await meant.waitFor();
      await meant.focus();
      await page.keyboard.press("Enter");
      const chips = page.getByRole("list", { name: "Compared repositories" }).getByRole("listitem");
      await chips.nth(1).waitFor();
      await page.getByRole("link", { name: "Remove almanac/star-tables" }).focus();
      await page.keyboard.press("Enter");
      await chips.nth(1).waitFor({ state: "detached" });
      assert.deepEqual(new URL(page.url()).searchParams.getAll("repo"), ["github:almanac/sundial"]);

      await page.goto("/watchlist?save=1");
      await page.getByRole("link", { name: "Sign in", exact: true }).last().focus();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: /^Sign in to save / }).waitFor();
      await sendLink(page, mailbox);
      await page.waitForURL(/\/watchlist/);
      await page.locator("#repository").focus();
      await page.keyboard.type("almanac/sundial");
      await page.keyboard.press("Enter");
      await listed(page, "almanac/sundial").waitFor();
    });

    test("save and remove without leaving the page", async () => {
      const page = await world.visit();
      await signInByMail(page, mailbox, STAR_TABLES);
      await page.waitForURL(/star-tables/);
      await page.evaluate("window.stayed = true");
      await page.getByRole("button", { name: /^Save$/ }).click();
      await page.getByRole("button", { name: /^Saved/ }).click();
      await page.getByRole("button", { name: /^Save$/ }).waitFor();
      assert.equal(await page.evaluate("window.stayed"), true);
    });
  });
});
