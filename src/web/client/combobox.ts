/**
 * A text field with a list of choices, following the WAI-ARIA combobox pattern: the field keeps the focus, arrow keys move through
 * the list, Enter opens a choice, Escape closes the list.
 */

export interface Choice {
  label: string;
  detail?: string;
  /** The owner, whose image or initial is shown before the label. */
  owner?: { name: string; image: string | null };
  /** Whether Enter takes it, though nobody selected it. */
  isTaken?: boolean;
  /** The address it leads to, or its action. */
  href?: string;
  run?: () => void;
  /** Removes it from the list for good; the key Delete does so. */
  forget?: () => void;
}

export interface Group {
  name: string;
  choices: readonly Choice[];
}

export interface ComboboxOptions {
  input: HTMLInputElement;
  /** Starts the ids of the list and its choices. */
  id: string;
  label: string;
  /** The choices for a text; rejects when it is aborted. */
  find: (text: string, signal: AbortSignal) => Promise<readonly Group[]>;
  /** Whether the list is always open, and its first choice selected. */
  isPalette?: boolean;
}

/** Typing within this time sends one request. */
const PAUSE_MS = 120;

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

function imageOf({ name, image }: NonNullable<Choice["owner"]>): HTMLElement {
  const picture =
    image === null
      ? []
      : [element("img", { src: image, alt: "", width: "24", height: "24", loading: "lazy" })];
  const initial = name.charAt(0).toUpperCase();
  const attributes = { class: "owner-image tint-1 size-24", "data-initial": initial, "aria-hidden": "true" };
  return element("span", attributes, ...picture);
}

export class Combobox {
  readonly #input: HTMLInputElement;
  readonly #options: ComboboxOptions;
  readonly #status = element("div", { class: "hidden", role: "status" });
  readonly list: HTMLDivElement;
  #shown: { option: HTMLElement; choice: Choice }[] = [];
  #active = -1;
  /** Whether the selection is the choice that Enter takes without a step to it: the first step leads to the first choice. */
  #isTaken = false;
  #pending: AbortController | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;
  /** Whether the list is still that of an earlier text. */
  #isWaiting = false;
  /** Whether Enter was pressed while waiting: the first choice opens when it arrives. */
  #isEntered = false;

  /** Appends the list to `parent`. */
  constructor(parent: HTMLElement, options: ComboboxOptions) {
    const { input, id, label } = options;
    this.#input = input;
    this.#options = options;
    this.list = element("div", { id, class: "choices-list", role: "listbox", "aria-label": label });
    this.list.hidden = true;
    const attributes = {
      role: "combobox",
      "aria-expanded": "false",
      "aria-controls": id,
      "aria-autocomplete": "list",
    };
    for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
    parent.append(this.list, this.#status);
    input.addEventListener("input", () => {
      // The selection belongs to another text.
      this.#choose(-1);
      this.#findSoon();
    });
    input.addEventListener("keydown", (event) => this.#key(event));
    // A press on a choice must not move the focus before the click.
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    if (options.isPalette !== true) {
      input.addEventListener("focus", () => this.#findSoon());
      input.addEventListener("blur", () => this.close());
    }
  }

  get isOpen(): boolean {
    return !this.list.hidden;
  }

  /** Shows the choices for the present text. */
  async find(): Promise<void> {
    clearTimeout(this.#pause);
    this.#pending?.abort();
    this.#choose(-1);
    const controller = new AbortController();
    this.#pending = controller;
    this.#isWaiting = true;
    try {
      const groups = await this.#options.find(this.#input.value.trim(), controller.signal);
      if (!controller.signal.aborted) this.#show(groups.filter(({ choices }) => choices.length > 0));
    } catch {
      // Superseded, or the network failed.
      if (!controller.signal.aborted) this.#stop();
    }
  }

  close(): void {
    this.#stop();
    this.list.hidden = true;
    this.#active = -1;
    this.#status.textContent = "";
    this.#input.setAttribute("aria-expanded", "false");
    this.#input.removeAttribute("aria-activedescendant");
  }

  /** Waits for no choices any more. */
  #stop(): void {
    clearTimeout(this.#pause);
    this.#pending?.abort();
    this.#isWaiting = false;
    this.#isEntered = false;
  }

  #findSoon(): void {
    this.#stop();
    this.#isWaiting = true;
    this.#pause = setTimeout(() => void this.find(), PAUSE_MS);
  }

  #show(groups: readonly Group[]): void {
    this.#shown = [];
    this.list.replaceChildren(
      ...groups.map(({ name, choices }) =>
        element(
          "div",
          { role: "group", "aria-label": name },
          element("div", { class: "group", role: "presentation" }, name),
          ...choices.map((choice) => this.#optionOf(choice)),
        ),
      ),
    );
    const count = this.#shown.length;
    this.list.hidden = count === 0;
    this.#input.setAttribute("aria-expanded", String(count > 0));
    this.#status.textContent =
      count === 0 ? "No suggestions" : `${count} ${count === 1 ? "suggestion" : "suggestions"}`;
    const taken = this.#shown.findIndex(({ choice }) => choice.isTaken === true);
    this.#choose(this.#options.isPalette === true && count > 0 ? Math.max(0, taken) : taken);
    this.#isTaken = taken >= 0 && this.#options.isPalette !== true;
    const isEntered = this.#isEntered;
    this.#isWaiting = false;
    this.#isEntered = false;
    if (isEntered) this.#shown[this.#active]?.option.click();
  }

  #optionOf(choice: Choice): HTMLElement {
    const { label, detail, owner, href, run } = choice;
    const attributes = {
      id: `${this.#options.id}-${this.#shown.length}`,
      role: "option",
      tabindex: "-1",
      "aria-selected": "false",
    };
    const parts = [
      ...(owner === undefined ? [] : [imageOf(owner)]),
      element("span", { class: "name" }, label),
      ...(detail === undefined ? [] : [element("span", { class: "soft" }, detail)]),
    ];
    const option =
      href === undefined
        ? element("div", attributes, ...parts)
        : element("a", { ...attributes, href }, ...parts);
    if (run !== undefined) option.addEventListener("click", run);
    this.#shown.push({ option, choice });
    return option;
  }

  /** Moves by `step` through the choices and the field itself; in a palette only through the choices. */
  #move(step: number): void {
    const count = this.#shown.length;
    if (!this.isOpen || count === 0) {
      this.#findSoon();
      return;
    }
    // Choices that arrive now would replace the one that is being chosen.
    this.#stop();
    if (this.#isTaken) this.#active = -1;
    if (this.#options.isPalette === true)
      this.#choose(this.#active === -1 && step < 0 ? count - 1 : (this.#active + step + count) % count);
    else this.#choose(((this.#active + 1 + step + count + 1) % (count + 1)) - 1);
  }

  /** Selects a choice; -1: none, so that keys edit the text again. */
  #choose(index: number): void {
    this.#active = index;
    this.#isTaken = false;
    for (const [i, { option }] of this.#shown.entries())
      option.setAttribute("aria-selected", String(i === index));
    const active = this.#shown[index]?.option;
    if (active === undefined) this.#input.removeAttribute("aria-activedescendant");
    else {
      this.#input.setAttribute("aria-activedescendant", active.id);
      active.scrollIntoView({ block: "nearest" });
    }
  }

  #key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const { key } = event;
    const active = this.#shown[this.#active];
    const isPalette = this.#options.isPalette === true;
    if (key === "ArrowDown" || key === "ArrowUp") {
      event.preventDefault();
      this.#move(key === "ArrowDown" ? 1 : -1);
    } else if (key === "Enter" && this.isOpen && active !== undefined) {
      event.preventDefault();
      active.option.click();
    } else if (key === "Enter" && isPalette && this.#isWaiting) {
      event.preventDefault();
      this.#isEntered = true;
    } else if (key === "Delete" && active?.choice.forget !== undefined && this.#input.value === "") {
      event.preventDefault();
      active.choice.forget();
      void this.find();
    } else if (key === "Escape" && !isPalette) {
      event.preventDefault();
      // The first press closes the list, the second clears the field.
      if (this.isOpen) this.close();
      else this.#input.value = "";
    } else if (isPalette && (key === "Home" || key === "End")) {
      event.preventDefault();
      this.#choose(key === "Home" ? 0 : this.#shown.length - 1);
    } else if (!isPalette && /^(?:Home|End|ArrowLeft|ArrowRight)$/.test(key)) {
      // These keys edit the text.
      this.#choose(-1);
    }
  }
}
