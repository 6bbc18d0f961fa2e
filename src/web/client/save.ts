import { announce } from "./announce.js";
import { address } from "./base.js";

/**
 * Saves repositories without leaving the page. Whatever does not work is left to the form: it leads to signing in, or to a
 * page that says what is the matter.
 */

/** Sends the form as if this module were not there. */
function sendPlainly(button: HTMLButtonElement): void {
  button.dataset.plain = "";
  button.form?.requestSubmit(button);
}

/** Shows the state on every button for this repository. */
function show(id: string, isSaved: boolean): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>(
    `button[data-save="${CSS.escape(id)}"]`,
  )) {
    button.classList.toggle("saved", isSaved);
    button.formAction = address(isSaved ? "/watchlist/items/remove" : "/watchlist/items");
    const { name } = button.dataset;
    const text = button.querySelector("span");
    if (text !== null) text.textContent = isSaved ? "Saved" : "Save";
    if (name !== undefined)
      button.setAttribute("aria-label", isSaved ? `Take ${name} off your watchlist` : `Save ${name}`);
  }
}

async function toggle(button: HTMLButtonElement, id: string): Promise<void> {
  if (button.getAttribute("aria-busy") === "true") return;
  const isSaved = button.classList.contains("saved");
  button.setAttribute("aria-busy", "true");
  try {
    const response = isSaved
      ? await fetch(address(`/api/me/watchlist/${id}`), { method: "DELETE" })
      : await fetch(address("/api/me/watchlist"), {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ repositoryId: id }),
        });
    if (!response.ok) return sendPlainly(button);
    show(id, !isSaved);
    announce(isSaved ? "Taken off your watchlist" : "Saved to your watchlist");
  } catch {
    sendPlainly(button);
  } finally {
    button.removeAttribute("aria-busy");
  }
}

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!(button instanceof HTMLButtonElement)) return;
  const { save, plain } = button.dataset;
  if (save === undefined || plain !== undefined) return;
  event.preventDefault();
  void toggle(button, save);
});
