import { address, announce } from "./base.js";

/**
 * Saves repositories without leaving the page. If that fails the form is submitted, which leads to sign-in or to a page with
 * the error.
 */

/** Submits the form without this module. */
function submitForm(button: HTMLButtonElement): void {
  button.dataset.plain = "";
  button.form?.requestSubmit(button);
}

/** Updates every button of this repository. */
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
      button.setAttribute("aria-label", isSaved ? `Remove ${name} from your watchlist` : `Save ${name}`);
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
    if (!response.ok) return submitForm(button);
    show(id, !isSaved);
    announce(isSaved ? "Removed from your watchlist" : "Saved to your watchlist");
  } catch {
    submitForm(button);
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
