import { startIn } from "./base.js";

/** Choosing rows of a list: all of them at once, and how many are chosen. Without this module each is chosen by itself. */

const formIn = (within: ParentNode) => within.querySelector<HTMLFormElement>("form[data-choice]");

function show(form: HTMLFormElement | null): void {
  const [all, output] = [form?.querySelector<HTMLInputElement>("[data-all]"), form?.querySelector("output")];
  const boxes = [...(form?.querySelectorAll<HTMLInputElement>("[name=repo]") ?? [])];
  const chosen = boxes.filter(({ checked }) => checked).length;
  if (output) output.value = `${chosen} chosen`;
  if (!all) return;
  all.checked = chosen === boxes.length;
  all.indeterminate = chosen > 0 && chosen < boxes.length;
}

document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.form !== formIn(document)) return;
  if (target.dataset.all !== undefined)
    for (const box of target.form?.querySelectorAll<HTMLInputElement>("[name=repo]") ?? [])
      box.checked = target.checked;
  show(target.form);
});
startIn((within) => show(formIn(within)));
// A browser that comes back to the page restores what was chosen.
addEventListener("pageshow", () => show(formIn(document)));
