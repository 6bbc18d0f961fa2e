import { announce, startIn } from "./base.js";

/** Buttons that copy the text of another element. */

/** How long a button shows its result. */
const SHOWN_MS = 2_000;

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The connection is not encrypted, or the browser denies access.
    return false;
  }
}

/** Selects the text for manual copying. */
function select(element: Element): void {
  element.closest("details")?.setAttribute("open", "");
  const range = document.createRange();
  range.selectNodeContents(element);
  getSelection()?.removeAllRanges();
  getSelection()?.addRange(range);
}

startIn((within) => {
  for (const button of within.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    const source = document.getElementById(button.dataset.copy ?? "");
    if (source === null) continue;
    const label = button.textContent;
    button.addEventListener("click", async () => {
      const isCopied = await copy(source.textContent ?? "");
      if (!isCopied) select(source);
      const message = isCopied ? "Copied" : "Selected. Press Ctrl+C to copy.";
      button.textContent = isCopied ? "Copied" : "Selected";
      announce(message);
      setTimeout(() => {
        button.textContent = label;
        announce("");
      }, SHOWN_MS);
    });
  }
});
