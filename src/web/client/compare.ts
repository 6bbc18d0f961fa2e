import { address } from "./base.js";

/** Known repositories as choices under the field that adds one to a comparison. Without this module it is a field to write in. */

const PAUSE_MS = 150;

interface Suggested {
  repositories: { provider: string; fullName: string }[];
}

const field = document.querySelector<HTMLInputElement>("form[data-compare] input[list]");
const known = field?.list;
let pause: ReturnType<typeof setTimeout> | undefined;
let asked: AbortController | undefined;

async function suggest(text: string, list: HTMLElement): Promise<void> {
  asked?.abort();
  asked = new AbortController();
  try {
    const query = new URLSearchParams({ q: text.slice(0, 64), limit: "8" });
    const response = await fetch(address(`/api/search/suggest?${query}`), { signal: asked.signal });
    if (!response.ok) return;
    const { data }: { data: Suggested } = await response.json();
    list.replaceChildren(
      ...data.repositories.map(({ provider, fullName }) => {
        const option = document.createElement("option");
        option.value = `${provider.toLowerCase()}:${fullName}`;
        option.label = fullName;
        return option;
      }),
    );
  } catch {
    // Typed on, or the network is away: what is written is read on the server.
  }
}

if (field && known) {
  field.addEventListener("input", () => {
    clearTimeout(pause);
    const text = field.value.trim();
    // Addresses are read on the server, and what was chosen is complete.
    if (text === "" || text.includes(":")) return;
    pause = setTimeout(() => void suggest(text, known), PAUSE_MS);
  });
}
