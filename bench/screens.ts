/**
 * Screenshots of pages, light and dark, on a desktop and a phone:
 * node dist/bench/screens.js BASE_URL FOLDER PATH...
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openBrowser } from "../test/support/browser.js";

const LOOKS = [
  { name: "light", colorScheme: "light", width: 1280 },
  { name: "dark", colorScheme: "dark", width: 1280 },
  { name: "phone-light", colorScheme: "light", width: 390 },
  { name: "phone-dark", colorScheme: "dark", width: 390 },
] as const;

const [base = "http://127.0.0.1:3000", folder = "screens", ...paths] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await openBrowser();
for (const { name, colorScheme, width } of LOOKS) {
  const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
  page.on("console", (message) => {
    if (message.type() === "error") process.stderr.write(`${page.url()}: ${message.text()}\n`);
  });
  page.on("pageerror", (error) => process.stderr.write(`${page.url()}: ${error.message}\n`));
  for (const path of paths.length > 0 ? paths : ["/"]) {
    await page.goto(new URL(path, base).href, { waitUntil: "networkidle" });
    const file = `${path.replaceAll(/[^a-z0-9]+/gi, "-").replaceAll(/^-|-$/g, "") || "home"}-${name}.png`;
    await page.screenshot({ path: join(folder, file), fullPage: true });
    const wide = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    if (wide !== 0) process.stderr.write(`${path} ${name}: ${wide} px wider than the window\n`);
  }
  await page.close();
}
await browser.close();
