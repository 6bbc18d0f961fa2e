import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where the systems we know put their Chromium. That without windows comes first: it takes a fifth of the time for a page. */
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The Chromium to use: the one that `CHROMIUM` names, which must be there then, else one that is installed. */
export const CHROMIUM: string | undefined = process.env.CHROMIUM || PLACES.find((path) => existsSync(path));

/** Why tests in a browser are left out; false where they run. */
export const NO_CHROMIUM =
  CHROMIUM === undefined ? "no Chromium is installed; install it, or name one by CHROMIUM" : false;

/** Opens the browser without its own traffic. */
export function openBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error("no Chromium is installed");
  return chromium.launch({
    executablePath: CHROMIUM,
    timeout: 0,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--hide-scrollbars",
    ],
  });
}
