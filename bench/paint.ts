/**
 * Weighs the main pages and measures how they paint in Chromium on a CPU slowed down four times:
 * node dist/bench/paint.js BASE_URL [--rounds 3] PATH...
 *
 * Prints a table: bytes over the network without pictures (HTML, CSS and scripts, compressed as sent) and of pictures, requests, the
 * largest contentful paint and the layout shift of a first visit, the median of the rounds. Each visit has an empty cache.
 */
import type { Browser } from "playwright-core";
import { median } from "../src/repositories/series.js";
import { openBrowser } from "../test/support/browser.js";

const SLOWDOWN = 4;
/** Time after the last request for a late paint or shift. */
const SETTLE_MS = 500;

const PATHS = ["/", "/explore", "/languages", "/topics", "/compare", "/about", "/docs", "/sign-in"];

interface Visit {
  bytes: number;
  pictureBytes: number;
  requests: number;
  paintMs: number;
  shift: number;
}

const [base = "http://127.0.0.1:3000", ...rest] = process.argv.slice(2);
const roundsAt = rest.indexOf("--rounds");
const rounds = roundsAt < 0 ? 3 : Number(rest[roundsAt + 1]);
const given = roundsAt < 0 ? rest : rest.toSpliced(roundsAt, 2);

const OBSERVE = `window.measured = { paintMs: 0, shift: 0 };
new PerformanceObserver((list) => { for (const one of list.getEntries()) window.measured.paintMs = one.startTime; })
  .observe({ type: "largest-contentful-paint", buffered: true });
new PerformanceObserver((list) => { for (const one of list.getEntries()) window.measured.shift += one.value; })
  .observe({ type: "layout-shift", buffered: true });`;

async function visit(browser: Browser, address: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
    const sizes: Promise<{ isPicture: boolean; bytes: number }>[] = [];
    page.on("requestfinished", (request) => {
      const isPicture = request.resourceType() === "image";
      sizes.push(
        request.sizes().then(({ responseBodySize: body, responseHeadersSize: head }) => {
          return { isPicture, bytes: body + head };
        }),
      );
    });
    await page.addInitScript(OBSERVE);
    await page.goto(address, { waitUntil: "networkidle" });
    await page.waitForTimeout(SETTLE_MS);
    const measured: Pick<Visit, "paintMs" | "shift"> = await page.evaluate("window.measured");
    const all = await Promise.all(sizes);
    const sum = (ofPictures: boolean) =>
      all.reduce((total, { isPicture, bytes }) => total + (isPicture === ofPictures ? bytes : 0), 0);
    return { ...measured, bytes: sum(false), pictureBytes: sum(true), requests: all.length };
  } finally {
    await context.close();
  }
}

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1);

const browser = await openBrowser();
process.stdout.write(
  `| Page | Page kB | Pictures kB | Requests | Largest paint, ms | Layout shift |\n| --- | ---: | ---: | ---: | ---: | ---: |\n`,
);
for (const path of given.length > 0 ? given : PATHS) {
  const visits: Visit[] = [];
  for (let round = 0; round < rounds; round++) visits.push(await visit(browser, new URL(path, base).href));
  const of = (name: keyof Visit) => median(visits.map((one) => one[name]));
  const cells = [
    path,
    kilobytes(of("bytes")),
    kilobytes(of("pictureBytes")),
    String(of("requests")),
    of("paintMs").toFixed(0),
    of("shift").toFixed(4),
  ];
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}
await browser.close();
