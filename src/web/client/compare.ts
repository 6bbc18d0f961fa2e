import { show } from "./zoom.js";

/** Changes a comparison without loading the page again: names, and the choices of its chart. Without this module it is loaded. */

/** The comparison that a link or form is in, if it stays on the page. */
function wholeOf(element: Element, address: string): HTMLElement | undefined {
  const isHere = new URL(address, location.href).pathname === location.pathname;
  return (isHere ? element.closest<HTMLElement>("[data-whole]") : null) ?? undefined;
}

document.addEventListener("click", (event) => {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || !isPlain || event.defaultPrevented || link.hash === "#content") return;
  const whole = wholeOf(link, link.href);
  if (whole === undefined) return;
  event.preventDefault();
  void show(new URL(link.href), whole);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== "get") return;
  const whole = wholeOf(form, form.action);
  if (whole === undefined) return;
  event.preventDefault();
  const url = new URL(form.action);
  const fields = [...new FormData(form)].filter(
    ([, value]) => typeof value === "string" && value.trim() !== "",
  );
  url.search = new URLSearchParams(fields as [string, string][]).toString();
  void show(url, whole);
});
