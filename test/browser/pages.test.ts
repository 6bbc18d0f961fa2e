import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { NO_CHROMIUM } from "../support/browser.js";
import { inTheBrowser } from "../support/browser-world.js";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Pages that anybody may see. */
const PAGES = [
  "/",
  "/explore",
  "/explore?language=Rust&topic=cli&sort=stars",
  "/languages",
  "/topics/cli",
  "/about",
  "/docs",
  "/there/is/nothing",
];

/** Weighed: the first page and that of a repository. */
const WEIGHED = ["/"];

interface Violation {
  id: string;
  help: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** What axe-core finds wrong with a page. */
async function violations(page: Page): Promise<string[]> {
  // Given to the page by the browser's own channel, which its policy does not stop.
  await page.evaluate(AXE);
  const found: Violation[] = await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return found.flatMap(({ id, help, nodes }) =>
    nodes
      .slice(0, 3)
      .map(({ html, failureSummary }) => `${id}: ${help}\n${html.slice(0, 200)}\n${failureSummary}`),
  );
}

describe("Pages in a browser", { skip: NO_CHROMIUM }, () => {
  onSqlite("with scripts", (engine) => {
    const mailbox = openMailbox();
    const world = inTheBrowser(engine, () => mailbox.settings);

    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [1280, 390]) {
        test(`have nothing that stops readers, ${colorScheme}, ${width} wide`, async () => {
          const page = await world.visit({ colorScheme, width });
          for (const path of PAGES) {
            await page.goto(path, { waitUntil: "networkidle" });
            assert.deepEqual(await violations(page), [], path);
            const [inner = 0, outer = 0]: number[] = await page.evaluate(
              "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
            );
            assert.ok(inner <= outer, `${path} is ${inner} px wide in a window of ${outer}`);
          }
        });
      }
    }

    test("say nothing in the console, and load nothing from elsewhere", async () => {
      const page = await world.visit();
      const said: string[] = [];
      page.on("console", (message) => {
        if (!/status of 404/.test(message.text())) said.push(`${page.url()}: ${message.text()}`);
      });
      page.on("pageerror", (error) => said.push(`${page.url()}: ${error.message}`));
      page.on("request", (request) => {
        if (new URL(request.url()).origin !== world.url && !request.url().startsWith("data:"))
          said.push(`${page.url()} asks for ${request.url()}`);
      });
      for (const path of PAGES) await page.goto(path, { waitUntil: "networkidle" });
      assert.deepEqual(said, []);
    });

    test("weigh little, ask for little, and stay where they are", async () => {
      const page = await world.visit();
      for (const path of WEIGHED) {
        let bytes = 0;
        let requests = 0;
        page.removeAllListeners("requestfinished");
        page.on("requestfinished", async (request) => {
          requests += 1;
          const isPicture = /\.png$|\/api\/embed\//.test(new URL(request.url()).pathname);
          const { responseBodySize, responseHeadersSize } = await request.sizes();
          if (!isPicture) bytes += responseBodySize + responseHeadersSize;
        });
        await page.addInitScript(
          "window.shifts = 0; new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shifts += one.value; }).observe({ type: 'layout-shift', buffered: true });",
        );
        await page.goto(path, { waitUntil: "networkidle" });
        assert.ok(bytes > 2_000 && bytes < 60_000, `${path}: ${bytes} bytes`);
        assert.ok(requests <= 12, `${path}: ${requests} requests`);
        assert.equal(await page.evaluate("window.shifts"), 0, `${path} moves while it loads`);
        process.stdout.write(`# ${path}: ${bytes} bytes, ${requests} requests\n`);
      }
    });
  });
});
