import { announce, REPLACED } from "./base.js";

/** Shows a part of a chart in place: requests the page with `from` and `to`, and replaces only the parts that depend on the days. */

const DAY_MS = 86_400_000;

/** The address whose chart is shown, without its fragment. */
let shown = addressOf(location);
let pending: AbortController | undefined;

/** Other parts that depend on the days: the snapshots, and links that keep them. */
const DEPENDENT = [".part", ".tiles"];

function addressOf({ pathname, search }: { pathname: string; search: string }): string {
  return pathname + search;
}

/** Shows the days from one time to another, in seconds since 1970. */
export async function showPart(chart: HTMLElement, first: number, last: number): Promise<void> {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const from = day(first * 1_000);
  const until = day(last * 1_000);
  const url = new URL(location.href);
  url.searchParams.set("from", from);
  // A range has at least two days.
  url.searchParams.set("to", until > from ? until : day(first * 1_000 + DAY_MS));
  await show(url, chart.closest<HTMLElement>("[data-chart]"));
}

/** Replaces this part of the page by the same part of the page at an address. */
export async function show(url: URL, section: HTMLElement | null, isBack = false): Promise<void> {
  if (section === null) return location.assign(url);
  pending?.abort();
  const request = new AbortController();
  pending = request;
  section.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(url, { signal: request.signal, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const next = page.getElementById(section.id);
    // A comparison says itself which names lead nowhere.
    const isShown = response.ok || "whole" in section.dataset;
    if (!isShown || next === null) throw new Error(`no chart at ${url}`);
    const hadFocus = section.contains(document.activeElement);
    // Its scripts do not run, and are not meant to: they are data.
    section.replaceWith(document.adoptNode(next));
    for (const selector of DEPENDENT) {
      const part = page.querySelector(selector);
      if (part !== null) document.querySelector(selector)?.replaceWith(document.adoptNode(part));
    }
    document.title = page.title;
    if (!isBack) history.pushState(null, "", url);
    shown = addressOf(url);
    next.dispatchEvent(new Event(REPLACED, { bubbles: true }));
    // Otherwise the next press of Tab would begin at the top of the page.
    if (hadFocus) next.querySelector<HTMLElement>(".plot-box")?.focus({ preventScroll: true });
    const words = next.querySelector("[data-shown]")?.textContent;
    announce(words ?? "Showing the whole chart");
  } catch {
    // The page itself names the problem.
    if (!request.signal.aborted) location.assign(url);
  }
}

addEventListener("popstate", () => {
  const section =
    document.querySelector<HTMLElement>("[data-whole]") ?? document.querySelector("[data-chart]");
  if (addressOf(location) !== shown && section !== null) void show(new URL(location.href), section, true);
});

document.addEventListener("click", (event) => {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const link =
    event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[data-reset]") : null;
  if (link === null || !isPlain) return;
  event.preventDefault();
  void show(new URL(link.href), link.closest<HTMLElement>("[data-chart]"));
});
