import { REPLACED } from "./base.js";

/**
 * Updates the parts of a page that are marked with `data-live`, so that all other parts stay as the reader has them. A part with
 * `data-seconds` is updated more often than the page is loaded again without this module.
 */

function secondsOf(page: Document): number {
  const part = page.querySelector<HTMLElement>("[data-live]");
  if (part === null) return 0;
  const content = page.querySelector<HTMLMetaElement>('meta[name="live-seconds"]')?.content;
  return content === undefined ? 0 : Number(part.dataset.seconds ?? content);
}

/** Whether the reader is in a field, or has changed one. */
function isFilledIn(): boolean {
  if (document.activeElement?.matches("input, select, textarea") === true) return true;
  return [...document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input, textarea")].some(
    (field) =>
      field.value !== field.defaultValue ||
      (field instanceof HTMLInputElement && field.checked !== field.defaultChecked),
  );
}

/** Requests the page again, and replaces the parts that have changed. Returns whether to go on. */
async function update(): Promise<boolean> {
  if (document.hidden) return true;
  const response = await fetch(location.href, { cache: "no-store" }).catch(() => undefined);
  // If the service is unavailable or limits requests, they are sent again later.
  if (response === undefined || response.status === 429 || response.status >= 500) return true;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const parts = [...document.querySelectorAll<HTMLElement>("[data-live]")];
  const next = parts.map((part) => page.querySelector(`[data-live="${part.dataset.live}"]`));
  if (response.redirected || next.includes(null)) {
    if (isFilledIn()) return true;
    location.replace(response.url);
    return false;
  }
  let isLeft = false;
  for (const [i, part] of parts.entries()) {
    const changed = next[i];
    // Nothing moves under somebody's hands.
    const isInUse = part.contains(document.activeElement) && document.activeElement !== document.body;
    isLeft ||= isInUse;
    if (!changed || isInUse || changed.isEqualNode(part)) continue;
    part.replaceChildren(...changed.childNodes);
    part.dispatchEvent(new Event(REPLACED, { bubbles: true }));
  }
  return isLeft || secondsOf(page) > 0;
}

const seconds = secondsOf(document);
async function follow(): Promise<void> {
  do {
    await new Promise((resolve) => setTimeout(resolve, 1_000 * seconds));
  } while (await update());
}
if (seconds > 0) void follow();
