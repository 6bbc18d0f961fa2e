import { suggest } from "./suggestions.js";

/** Suggestions for the field that adds a repository to a comparison. Without this module it is a plain text field. */

const PAUSE_MS = 150;

const field = document.querySelector<HTMLInputElement>("form[data-compare] input[list]");
const known = field?.list;
let pause: ReturnType<typeof setTimeout> | undefined;
let pending: AbortController | undefined;

async function fill(text: string, list: HTMLElement): Promise<void> {
  pending?.abort();
  pending = new AbortController();
  try {
    const { repositories } = await suggest(text, 8, pending.signal);
    list.replaceChildren(
      ...repositories.map(({ provider, fullName }) => {
        const option = document.createElement("option");
        option.value = `${provider.toLowerCase()}:${fullName}`;
        option.label = fullName;
        return option;
      }),
    );
  } catch {
    // Superseded, or the network failed: the server reads any name.
  }
}

if (field && known) {
  field.addEventListener("input", () => {
    clearTimeout(pause);
    const text = field.value.trim();
    // The server reads URLs, and a chosen suggestion is complete.
    if (text === "" || text.includes(":")) return;
    pause = setTimeout(() => void fill(text, known), PAUSE_MS);
  });
}
