import { announce } from "./announce.js";

/** Buttons that copy the text of another element; without this module they are not shown. */

/** Time for which a button says what it has done. */
const SAID_MS = 2_000;

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not on an encrypted connection, or not allowed.
    return false;
  }
}

/** Selects the text, so that it can be copied by hand. */
function select(element: Element): void {
  const range = document.createRange();
  range.selectNodeContents(element);
  getSelection()?.removeAllRanges();
  getSelection()?.addRange(range);
}

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy ?? "");
  if (source === null) continue;
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener("click", async () => {
    const isCopied = await copy(source.textContent ?? "");
    if (!isCopied) select(source);
    const said = isCopied ? "Copied" : "Selected: copy it by keyboard";
    button.textContent = isCopied ? "Copied" : "Selected";
    announce(said);
    setTimeout(() => {
      button.textContent = label;
      announce("");
    }, SAID_MS);
  });
}
