import { address } from "./base.js";

/**
 * The filter form: leaves empty fields out of the address, and suggests languages and topics while typing. Without this
 * module the form works the same, with a longer address.
 */

const form = document.querySelector<HTMLFormElement>("form[data-filters]");

/** Fields without a value. */
function emptyFields(within: HTMLFormElement): (HTMLInputElement | HTMLSelectElement)[] {
  return [
    ...within.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input[name], select[name]"),
  ].filter((field) => field.value.trim() === "");
}

/** Typing within this time sends one request. */
const PAUSE_MS = 150;

/** Suggests names that start with the text of a field. */
function suggestFor(field: HTMLInputElement): void {
  const kind = field.dataset.suggest === "topic" ? "topics" : "languages";
  const { list } = field;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let pending: AbortController | undefined;
  const suggest = async () => {
    pending?.abort();
    const text = field.value.trim();
    if (text === "") return;
    pending = new AbortController();
    try {
      const query = new URLSearchParams({ q: text.slice(0, 64), limit: "20" });
      const response = await fetch(address(`/api/search/suggest?${query}`), { signal: pending.signal });
      if (!response.ok) return;
      const { data }: { data: Record<typeof kind, { name: string }[]> } = await response.json();
      const names = data[kind].map(({ name }) => name);
      // The name is complete: a suggestion would only cover the form.
      if (names.includes(text)) return;
      list?.replaceChildren(...names.map((name) => new Option("", name)));
    } catch {
      // Superseded, or the network failed: any name can still be typed.
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => void suggest(), PAUSE_MS);
  });
}

if (form) {
  form.addEventListener("submit", () => {
    const empty = emptyFields(form);
    for (const field of empty) field.disabled = true;
    // The browser may restore this page when the user goes back.
    window.addEventListener("pagehide", () => {
      for (const field of empty) field.disabled = false;
    });
  });
  for (const field of form.querySelectorAll<HTMLInputElement>("input[data-suggest]")) suggestFor(field);
}
