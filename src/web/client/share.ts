import { announce, REPLACED, startIn } from "./base.js";

/**
 * The panel with pictures: opens it as a dialog instead of its page, shows each choice as it is made, and copies pictures. Without this
 * module the panel is a page with a form.
 */

const PAUSE_MS = 300;
/** How long a button shows its result. */
const SHOWN_MS = 2_000;
const PANEL = "share";
/** The parts that the server renders again: the choices only if there may be others, so that no field loses what is typed. */
const [RESULT, OPTIONS] = ["share-result", "share-options"];

let dialog: HTMLDialogElement | undefined;
let pause: ReturnType<typeof setTimeout> | undefined;
let pending: AbortController | undefined;

/** A page of ours; null if it cannot be read, undefined if it is superseded. */
async function read(url: string): Promise<Document | null | undefined> {
  pending?.abort();
  pending = new AbortController();
  const { signal } = pending;
  try {
    const response = await fetch(url, { signal, headers: { Accept: "text/html" } });
    return new DOMParser().parseFromString(await response.text(), "text/html");
  } catch {
    return signal.aborted ? undefined : null;
  }
}

async function open(url: string): Promise<void> {
  const page = await read(url);
  if (page === undefined) return;
  const panel = page?.getElementById(PANEL);
  if (!panel) return location.assign(url);
  if (dialog === undefined) {
    dialog = document.createElement("dialog");
    dialog.className = "share-dialog";
    dialog.setAttribute("aria-label", "Share");
    // A press outside the dialog closes it.
    dialog.addEventListener("click", ({ target }) => {
      if (target === dialog) dialog?.close();
    });
    dialog.innerHTML =
      '<div class="apart"><h2>Share</h2><button type="button" class="plain">Close</button></div><div></div>';
    dialog.querySelector("button")?.addEventListener("click", () => dialog?.close());
    document.body.append(dialog);
  }
  dialog.lastElementChild?.replaceWith(document.adoptNode(panel));
  panel.dispatchEvent(new Event(REPLACED, { bubbles: true }));
  dialog.showModal();
  panel.querySelector<HTMLElement>("input:checked")?.focus();
}

document.addEventListener("click", (event) => {
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const link =
    event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[data-share]") : null;
  if (link === null || !isPlain) return;
  event.preventDefault();
  void open(link.href);
});

/** The address of the panel with the choices of its form. */
function addressOf(form: HTMLFormElement): string {
  const fields = [...new FormData(form)].flatMap(([name, value]): [string, string][] =>
    typeof value === "string" && value.trim() !== "" ? [[name, value]] : [],
  );
  return `${form.action.split("?")[0]}?${new URLSearchParams(fields)}`;
}

function replace(id: string, from: Document): void {
  const [old, next] = [document.getElementById(id), from.getElementById(id)];
  if (old === null || next === null) return;
  const isOpen = [...old.querySelectorAll("details")].map((one) => one.open);
  const focused = old.contains(document.activeElement) ? document.activeElement?.id : "";
  old.replaceWith(document.adoptNode(next));
  for (const [i, one] of next.querySelectorAll("details").entries()) one.open = isOpen[i] ?? false;
  if (focused) document.getElementById(focused)?.focus();
  next.dispatchEvent(new Event(REPLACED, { bubbles: true }));
}

async function update(form: HTMLFormElement, hasOthers: boolean): Promise<void> {
  const url = addressOf(form);
  const page = await read(url);
  if (!page) return;
  if (page.getElementById(RESULT) === null) return form.requestSubmit();
  if (hasOthers) replace(OPTIONS, page);
  replace(RESULT, page);
  if (dialog?.open !== true) history.replaceState(null, "", url);
  announce("Preview updated");
}

document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) return;
  const { form } = target;
  if (form?.dataset.choices === undefined) return;
  const isTyped = !target.matches("select, [type=radio], [type=checkbox]");
  clearTimeout(pause);
  pause = setTimeout(() => void update(form, !isTyped), isTyped ? PAUSE_MS : 0);
});

/** The picture as it arrives: browsers must be asked to copy while the press of the button counts. */
async function picture(url: string): Promise<Blob> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`no picture at ${url}`);
  return response.blob();
}

async function copy(button: HTMLButtonElement): Promise<string> {
  try {
    const png = picture(button.dataset.image ?? "");
    await navigator.clipboard.write([new ClipboardItem({ "image/png": png })]);
    return "Copied";
  } catch {
    // The connection is not encrypted, the browser denies access, or there is no picture.
    return "Not copied. Save it as PNG.";
  }
}

startIn((within) => {
  for (const button of within.querySelectorAll<HTMLButtonElement>("button[data-image]")) {
    const label = button.textContent;
    button.addEventListener("click", async () => {
      button.setAttribute("aria-busy", "true");
      button.textContent = await copy(button);
      button.removeAttribute("aria-busy");
      announce(button.textContent);
      setTimeout(() => {
        button.textContent = label;
      }, SHOWN_MS);
    });
  }
});
