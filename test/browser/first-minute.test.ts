/** The first minute: a fresh folder, the address that the start prints, a name in the field, and its chart. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { systemClock } from "../../src/lib/clock.js";
import { NO_CHROMIUM, openBrowser } from "../support/browser.js";
import { CommandWorld } from "../support/command.js";
import { ForgeCatalogue, startForge } from "../support/forge/forge.js";
import { QUIET } from "../support/forge/world.js";
import { until } from "../support/until.js";

const world = new CommandWorld();

/** Starts the service. Returns the address that lets the operator in. */
async function start(t: TestContext, settings: Record<string, string> = {}): Promise<string> {
  const { process: child } = world.start(world.newDataDir(), ["start"], { SIDEREAL_PORT: "0", ...settings });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (more: string) => {
      text += more;
    });
  const printed = () => /http:\S+\/operator\/enter\?key=\S+/.exec(text)?.[0];
  await until("the address is printed", () => printed() !== undefined);
  return printed() ?? "";
}

/** The same without settings but the address of a forge. */
async function startWithForge(t: TestContext) {
  const catalogue = new ForgeCatalogue({ seed: 3, repositories: 20, start: Date.now(), rates: QUIET });
  const forge = await startForge({ kind: "github", clock: systemClock, catalogue });
  t.after(() => forge.close());
  const address = await start(t, {
    SIDEREAL_GITHUB_URL: forge.url,
    SIDEREAL_GITHUB_PRIVATE: "true",
    // Nothing is found by itself.
    SIDEREAL_GITHUB_MIN_STARS: "100000000",
  });
  return { address, catalogue };
}

test("the line about the sample hides in the browser that wants it, on every page, and stays in others", {
  skip: NO_CHROMIUM,
}, async (t) => {
  const address = await start(t);
  const browser = await openBrowser();
  t.after(() => browser.close());
  const visit = async (scripts: boolean) =>
    (await browser.newContext({ javaScriptEnabled: scripts })).newPage();
  const { origin } = new URL(address);
  const isShown = async (page: Page, path: string) => {
    await page.goto(origin + path);
    return page.getByText("Sample data", { exact: true }).isVisible();
  };
  const [first, second] = [await visit(true), await visit(false)];
  await until("the sample is there", () => isShown(first, "/"));
  for (const page of [first, second]) {
    assert.equal(await isShown(page, "/explore"), true);
    await page.getByRole("button", { name: "Hide" }).click();
    await page.waitForURL(`${origin}/`);
    for (const path of ["/", "/explore", "/languages"]) assert.equal(await isShown(page, path), false, path);
  }
  assert.equal(await isShown(await visit(true), "/"), true);
});

for (const [device, scripts, width] of [
  ["a desktop", true, 1440],
  ["a phone without scripts", false, 390],
] as const)
  test(`the first minute on ${device}: type a name, see a chart of at least 100 points`, {
    skip: NO_CHROMIUM,
  }, async (t) => {
    const { address, catalogue } = await startWithForge(t);
    const browser = await openBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage({ javaScriptEnabled: scripts, viewport: { width, height: 844 } });
    await page.goto(address);
    assert.equal(new URL(page.url()).pathname, "/");

    const all = catalogue.ids().flatMap((_, place) => catalogue.atPlace(place, Date.now()) ?? []);
    const [{ fullName = "" } = {}] = all.toSorted((a, b) => b.stars - a.stars);
    await page.getByLabel("Type a repository, see its history").fill(fullName);
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/\/repos\/github\//i);
    const box = () => page.locator(".chart-frame .plot-box").boundingBox();
    const before = await box();
    const points = async () => {
      const data = page.locator('[data-plot] script[type="application/json"]').first();
      if ((await data.count()) === 0) return 0;
      return JSON.parse((await data.textContent()) ?? "{}").lines[0].at.length;
    };
    await until("the chart has 100 points", async () => (await points()) >= 100);
    assert.equal(await page.locator("h1").first().innerText(), fullName);
    await page.getByText("Its whole history, ").waitFor();
    assert.deepEqual(await box(), before, "nothing jumps");
    const line = await page.locator(".chart-line-1:visible").first().boundingBox();
    assert.ok((line?.y ?? 900) < 450 && (line?.width ?? 0) > 0.8 * (before?.width ?? 0), "the whole life");
    assert.doesNotMatch(await page.locator("main").innerText(), /confidence|held|position|#1/i);
  });
