import { announce } from "./base.js";
import { suggest } from "./suggestions.js";

/**
 * The filters of lists: applies a change of the form when its field is left, leaves empty fields out of the address, suggests
 * languages and topics while typing, and brings the focus back to where it was before the list was loaded again. Without this
 * module the form has a button, with a longer address.
 */

const filters = document.querySelector<HTMLDetailsElement>("details.filters");
const form = document.querySelector<HTMLFormElement>("form[data-filters]");

type Field = HTMLInputElement | HTMLSelectElement;

function isField(target: EventTarget | null): target is Field {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
}

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

/** Where the focus is among the filters, for the next page: a field by its name, a link by its value. */
function focusKey(element: Element | null): string | undefined {
  if (element instanceof HTMLAnchorElement)
    return element.dataset.choice && `choice ${element.dataset.choice}`;
  return isField(element) && element.name !== "" ? `field ${element.name} ${element.type}` : undefined;
}

const STORED = "sidereal.filters";

/** Stores for the next page that a filter leads to it, and the focus. */
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

/** Focuses an element of the filters, in whatever folds it is. */
function focusAgain(within: HTMLElement, key: string): void {
  const elements = within.querySelectorAll<HTMLElement>("a[data-choice], input[name], select[name]");
  const wanted = [...elements].find((element) => focusKey(element) === key);
  if (wanted === undefined) return;
  for (
    let fold = wanted.closest("details");
    fold !== null;
    fold = fold.parentElement?.closest("details") ?? null
  )
    fold.open = true;
  wanted.focus();
}

/** The content of a form, by the names of its fields. */
function valuesOf(of: HTMLFormElement): Map<string, string[]> {
  const entries = [...new FormData(of)].flatMap(([name, value]) =>
    typeof value === "string" && value.trim() !== "" ? [{ name, value }] : [],
  );
  const byName = Map.groupBy(entries, ({ name }) => name);
  return new Map([...byName].map(([name, group]) => [name, group.map(({ value }) => value)]));
}

/** The link that is being pressed: it takes typed values along, so the form is not submitted. */
let pressed: HTMLAnchorElement | null = null;

const choiceAt = (target: EventTarget | null): HTMLAnchorElement | null =>
  target instanceof Element ? target.closest<HTMLAnchorElement>("a[data-choice]") : null;

/** Adds changed fields to the address of a link while it is followed. */
function takeAlong(link: HTMLAnchorElement, before: Map<string, string[]>, of: HTMLFormElement): void {
  const now = valuesOf(of);
  const address = link.href;
  const url = new URL(address);
  const here = new URL(location.href).searchParams;
  for (const name of new Set([...before.keys(), ...now.keys()])) {
    const values = now.get(name) ?? [];
    if (JSON.stringify(values) === JSON.stringify(before.get(name) ?? [])) continue;
    // The link itself may add a value of this name, or remove one.
    const [present, wanted] = [here.getAll(name), url.searchParams.getAll(name)];
    const kept = values.filter((value) => wanted.includes(value) || !present.includes(value));
    const added = wanted.filter((value) => !present.includes(value));
    url.searchParams.delete(name);
    for (const value of new Set([...kept, ...added])) url.searchParams.append(name, value);
  }
  link.href = url.href;
  setTimeout(() => {
    link.href = address;
  });
}

/** Applies changes without the button: of a checkbox or with the mouse immediately, others when their field is left. */
function applyChanges(within: HTMLFormElement): void {
  const contentOf = () => JSON.stringify([...new FormData(within)].filter(([, value]) => value !== ""));
  let applied = contentOf();
  let isTyping = false;
  const apply = (focused: Element | null) => {
    if (contentOf() === applied) return;
    applied = contentOf();
    keepFocus(focusKey(focused) ?? "");
    within.requestSubmit();
  };
  within.addEventListener("pointerdown", () => {
    isTyping = false;
  });
  within.addEventListener("keydown", () => {
    isTyping = true;
  });
  within.addEventListener("change", ({ target }) => {
    if (!isField(target)) return;
    const isCheckbox = target.type === "checkbox";
    // With the keyboard, a list or a date changes on the way to the wanted value.
    if (isCheckbox || (target instanceof HTMLSelectElement && !isTyping)) apply(target);
  });
  within.addEventListener("focusout", ({ target, relatedTarget }) => {
    // The button and the links of the form do what they say.
    if (relatedTarget instanceof HTMLElement && relatedTarget.closest(".apply") !== null) return;
    if (pressed !== null) return;
    if (isField(target)) apply(relatedTarget instanceof Element ? relatedTarget : null);
  });
  for (const note of within.querySelectorAll<HTMLElement>("[data-scripted]")) note.hidden = false;
}

if (form) {
  let disabled: readonly Field[] = [];
  form.addEventListener("submit", () => {
    disabled = emptyFields(form);
    for (const field of disabled) field.disabled = true;
  });
  // The browser may restore this page, or its fields, when the user goes back: they are those of the address again.
  window.addEventListener("pageshow", () => {
    for (const field of disabled) field.disabled = false;
    form.reset();
  });
  form.reset();
  applyChanges(form);
  for (const field of form.querySelectorAll<HTMLInputElement>("input[data-suggest]")) suggestFor(field);
}

if (filters) {
  const before = form && valuesOf(form);
  document.addEventListener(
    "pointerdown",
    ({ target }) => {
      pressed = filters.contains(target instanceof Node ? target : null) ? choiceAt(target) : null;
    },
    true,
  );
  filters.addEventListener("click", (event) => {
    const link = choiceAt(event.target);
    if (link !== null && form && before) takeAlong(link, before, form);
    const key = focusKey(link);
    // A click with the keyboard has no detail.
    if (key !== undefined) keepFocus(event.detail === 0 ? key : "");
  });
  const key = takeFocus();
  if (key !== undefined) {
    announce(document.querySelector("#found")?.textContent ?? "");
    focusAgain(filters, key);
  }
}
