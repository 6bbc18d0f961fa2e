import { address } from "./base.js";

/**
 * The form of filters: what is left empty stays out of the address, and names of languages and topics are suggested
 * while they are typed. Without this module the form does the same with a longer address.
 */

const form = document.querySelector<HTMLFormElement>("form[data-filters]");

/** Fields that send nothing of their own. */
function emptyFields(within: HTMLFormElement): (HTMLInputElement | HTMLSelectElement)[] {
  return [
    ...within.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input[name], select[name]"),
  ].filter((field) => field.value.trim() === "");
}

/** What is typed within this time is asked for at once. */
const PAUSE_MS = 150;

/** Keeps the suggestions of a field to what begins as it does. */
function suggestFor(field: HTMLInputElement): void {
  const kind = field.dataset.suggest === "topic" ? "topics" : "languages";
  const { list } = field;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let asked: AbortController | undefined;
  const ask = async () => {
    asked?.abort();
    const text = field.value.trim();
    if (text === "") return;
    asked = new AbortController();
    try {
      const query = new URLSearchParams({ q: text.slice(0, 64), limit: "20" });
      const response = await fetch(address(`/api/search/suggest?${query}`), { signal: asked.signal });
      if (!response.ok) return;
      const { data }: { data: Record<typeof kind, { name: string }[]> } = await response.json();
      const names = data[kind].map(({ name }) => name);
      // A list that holds just what was typed would only stand in the way.
      if (names.includes(text)) return;
      list?.replaceChildren(...names.map((name) => new Option("", name)));
    } catch {
      // Typed on, or the network is away: any name may still be written.
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => void ask(), PAUSE_MS);
  });
}

if (form) {
  form.addEventListener("submit", () => {
    const empty = emptyFields(form);
    for (const field of empty) field.disabled = true;
    // The browser may show this very page again when somebody goes back.
    window.addEventListener("pagehide", () => {
      for (const field of empty) field.disabled = false;
    });
  });
  for (const field of form.querySelectorAll<HTMLInputElement>("input[data-suggest]")) suggestFor(field);
}
