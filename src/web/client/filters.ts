import { announce } from "./base.js";
import { suggest } from "./suggestions.js";

/**
 * The filters of lists: leaves empty fields of the form out of the address, suggests languages and topics while typing, and brings the
 * focus back to the filter that was chosen with the keyboard.
 */

const filters = document.querySelector<HTMLDetailsElement>("details.filters");
const form = document.querySelector<HTMLFormElement>("form[data-filters]");

type Field = HTMLInputElement | HTMLSelectElement;

/** Fields without a value. */
function emptyFields(within: HTMLFormElement): Field[] {
  return [...within.querySelectorAll<Field>("input[name], select[name]")].filter(
    (field) => field.value.trim() === "",
  );
}

/** Typing within this time sends one request. */
const PAUSE_MS = 150;
/** Names suggested for a field. */
const MAX_NAMES = 20;

/** Suggests names that start with the text of a field. */
function suggestFor(field: HTMLInputElement): void {
  const kind = field.dataset.suggest === "topic" ? "topics" : "languages";
  const { list } = field;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let pending: AbortController | undefined;
  const update = async () => {
    pending?.abort();
    const text = field.value.trim();
    if (text === "") return;
    pending = new AbortController();
    try {
      const names = (await suggest(text, MAX_NAMES, pending.signal))[kind].map(({ name }) => name);
      // The name is complete: a suggestion would only cover the form.
      if (names.includes(text)) return;
      list?.replaceChildren(...names.map((name) => new Option("", name)));
    } catch {
      // Superseded, or the network failed: any name can still be typed.
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => void update(), PAUSE_MS);
  });
}

const STORED = "sidereal.filters";

/** Stores the choice that leads to the next page. */
function keepFocus(key: string): void {
  try {
    sessionStorage.setItem(STORED, key);
  } catch {
    // Without storage, the focus begins at the top of the page.
  }
}

function takeFocus(): string | undefined {
  try {
    const key = sessionStorage.getItem(STORED) ?? undefined;
    sessionStorage.removeItem(STORED);
    return key;
  } catch {
    return undefined;
  }
}

/** Focuses a choice, in whatever folds it is. */
function focusAgain(within: HTMLElement, key: string): void {
  const choices = [...within.querySelectorAll<HTMLElement>("a[data-choice]")];
  const wanted = choices.find(({ dataset }) => dataset.choice === key);
  if (wanted === undefined) return;
  for (
    let fold = wanted.closest("details");
    fold !== null;
    fold = fold.parentElement?.closest("details") ?? null
  )
    fold.open = true;
  wanted.focus();
}

if (form) {
  let disabled: readonly Field[] = [];
  form.addEventListener("submit", () => {
    disabled = emptyFields(form);
    for (const field of disabled) field.disabled = true;
  });
  // The browser may show this page again when the user goes back.
  window.addEventListener("pageshow", () => {
    for (const field of disabled) field.disabled = false;
  });
  for (const field of form.querySelectorAll<HTMLInputElement>("input[data-suggest]")) suggestFor(field);
}

if (filters) {
  filters.addEventListener("click", ({ target, detail }) => {
    const link = target instanceof Element ? target.closest<HTMLElement>("a[data-choice]") : null;
    // A click with the keyboard has no detail.
    if (link !== null) keepFocus(detail === 0 ? (link.dataset.choice ?? "") : "");
  });
  const key = takeFocus();
  if (key !== undefined) {
    announce(document.querySelector("#found")?.textContent ?? "");
    focusAgain(filters, key);
  }
}
