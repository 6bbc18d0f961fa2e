import { announce, REPLACED } from "./base.js";

/** Updates the preview and the code when a choice changes. Without this module the button of the form does. */

const PAUSE_MS = 300;
/** The parts that the server renders again: the options only if the kind of picture changes, so that no field loses the focus. */
const [RESULT, OPTIONS] = ["embed-result", "embed-options"];

const form = document.querySelector<HTMLFormElement>("form[data-embed]");
let pause: ReturnType<typeof setTimeout> | undefined;
let pending: AbortController | undefined;

/** The address of the page with the choices of the form. */
function addressOf(of: HTMLFormElement): string {
  const fields = [...new FormData(of)].flatMap(([name, value]): [string, string][] =>
    typeof value === "string" && value.trim() !== "" ? [[name, value]] : [],
  );
  return `${of.action.split("?")[0]}?${new URLSearchParams(fields)}`;
}

function replace(id: string, from: Document): void {
  const [old, next] = [document.getElementById(id), from.getElementById(id)];
  if (old === null || next === null) return;
  old.replaceWith(document.adoptNode(next));
  next.dispatchEvent(new Event(REPLACED, { bubbles: true }));
}

async function update(of: HTMLFormElement, isOtherKind: boolean): Promise<void> {
  pending?.abort();
  pending = new AbortController();
  const address = addressOf(of);
  try {
    const response = await fetch(address, { signal: pending.signal, headers: { Accept: "text/html" } });
    const type = response.headers.get("Content-Type") ?? "";
    if (!type.startsWith("text/html")) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (page.getElementById(RESULT) === null) return of.requestSubmit();
    replace(RESULT, page);
    if (isOtherKind) replace(OPTIONS, page);
    history.replaceState(null, "", address);
    announce("Preview updated");
  } catch {
    // Superseded, or the network failed: the button remains.
  }
}

if (form !== null) {
  form.addEventListener("input", ({ target }) => {
    // A name is complete when the form is submitted: until then there is nothing to show.
    if (target instanceof HTMLInputElement && target.name === "repo") return;
    const isOtherKind = target instanceof HTMLSelectElement && target.name === "kind";
    clearTimeout(pause);
    pause = setTimeout(() => void update(form, isOtherKind), isOtherKind ? 0 : PAUSE_MS);
  });
}
