import { addRecent, address, removeRecent } from "./base.js";

/**
 * The frame of every page: suggestions below the search box, the palette, menus. Without this module the box is a plain search
 * form, menus open and close by their own button, and there is no palette.
 */

/** Suggestions of each kind. */
const MAX_SUGGESTIONS = 6;

/** Whether a key press goes to a field. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Loaded when the box is first used, as are the palette and the choice of a theme: most visits do not need them. */
async function addSuggestions(form: HTMLFormElement, input: HTMLInputElement): Promise<void> {
  const [{ Combobox }, { findSuggestions }] = await Promise.all([
    import("./combobox.js"),
    import("./suggestions.js"),
  ]);
  const box = new Combobox(form, {
    input,
    id: "suggestions",
    label: "Suggestions",
    find: async (text, signal) =>
      text === "" ? [] : findSuggestions(text, { limit: MAX_SUGGESTIONS, hasFacets: true }, signal),
  });
  // Somebody typed before this was loaded.
  if (document.activeElement === input) void box.find();
}

async function openPalette(): Promise<void> {
  const { showPalette } = await import("./palette.js");
  showPalette();
}

const form = document.querySelector<HTMLFormElement>("form[data-search]");
const input = form?.querySelector("input");
if (form && input) {
  // Known to screen readers before it is used.
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-expanded", "false");
  input.addEventListener("focus", () => void addSuggestions(form, input), { once: true });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
    return;
  event.preventDefault();
  void openPalette();
});
for (const button of document.querySelectorAll("[data-palette]")) {
  button.addEventListener("click", () => void openPalette());
  const key = button.querySelector("kbd");
  if (key !== null && /Mac|iPhone|iPad/.test(navigator.platform)) key.textContent = "⌘K";
}

/** Menus close on a click outside and on Escape. */
for (const menu of document.querySelectorAll<HTMLDetailsElement>("details[data-menu]")) {
  document.addEventListener("click", (event) => {
    if (event.target instanceof Node && !menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
}

document.querySelector("details[data-themes]")?.addEventListener(
  "toggle",
  async () => {
    const { connectThemes } = await import("./theme-menu.js");
    connectThemes();
  },
  { once: true },
);

// The next person at this browser does not see the opened pages.
for (const signOut of document.querySelectorAll('form[action$="/sign-out"]'))
  signOut.addEventListener("submit", () => removeRecent());

const opened = document.querySelector(".repository-head h1")?.textContent;
if (opened && location.pathname.startsWith(address("/repos/")))
  addRecent({ fullName: opened.replaceAll(/\s+/g, ""), path: location.pathname });
