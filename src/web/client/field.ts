import { startIn } from "./base.js";
import type { Group } from "./combobox.js";

/**
 * Fields that take repositories: they complete the tracked ones, and lines of a pasted text stay apart. Without this module they
 * are plain text fields, whose forms resolve the text.
 */

/** Suggestions of a field. */
const MAX_CHOICES = 8;

/** Loaded when a field is first used. */
async function connect(input: HTMLInputElement): Promise<void> {
  const [{ Combobox }, { findSuggestions, post }] = await Promise.all([
    import("./combobox.js"),
    import("./suggestions.js"),
  ]);
  const form = input.form;
  const parent = input.closest<HTMLElement>(".field");
  if (form === null || parent === null) return;
  // A form that only opens a repository is not needed for one that is tracked.
  const opens = "opens" in form.dataset;
  const choose = (key: string) => {
    input.value = key;
    form.requestSubmit();
  };
  // A comparison is an address, which requests nothing: it is where the request leads.
  const compare = (key: string) => {
    const parameters = [...new FormData(form, null)].map(([name, value]) => [name, String(value)]);
    const chosen = parameters.filter(([name, value]) => name !== input.name || value !== input.value);
    const next = `/compare?${new URLSearchParams([...chosen, [input.name, key]])}`;
    post("/track", { repository: key, next });
  };
  const find = async (text: string, signal: AbortSignal): Promise<Group[]> => {
    // The server reads lists.
    if (text === "" || /\s/.test(text)) return [];
    const purpose = opens ? {} : { choose: (key: string) => ({ run: () => choose(key) }), track: choose };
    const track = form.dataset.compare === undefined ? {} : { track: compare };
    return findSuggestions(text, { limit: MAX_CHOICES, ...purpose, ...track }, signal);
  };
  const box = new Combobox(parent, { input, id: `${input.id}-choices`, label: "Repositories", find });
  if (document.activeElement === input && input.value !== "") void box.find();
}

/** A field of one line would join the lines of a pasted list. */
function paste(event: ClipboardEvent, input: HTMLInputElement): void {
  const text = event.clipboardData?.getData("text") ?? "";
  if (!text.trim().includes("\n")) return;
  event.preventDefault();
  input.setRangeText(
    text.trim().replaceAll(/\s+/g, " "),
    input.selectionStart ?? 0,
    input.selectionEnd ?? 0,
    "end",
  );
}

startIn((within) => {
  for (const input of within.querySelectorAll<HTMLInputElement>("input[data-repositories]")) {
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-expanded", "false");
    input.addEventListener("focus", () => void connect(input), { once: true });
    input.addEventListener("paste", (event) => paste(event, input));
    if (document.activeElement === input) void connect(input);
  }
});
