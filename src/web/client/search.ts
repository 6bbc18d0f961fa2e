import { address } from "./base.js";

/**
 * Suggestions below the search box, following the WAI-ARIA combobox pattern: the box keeps the focus, arrow keys move through
 * the list, Enter opens a suggestion, Escape closes the list and then clears the box. Without this module the box is a plain
 * search form.
 */

interface Suggestions {
  repositories: { provider: string; fullName: string; description: string | null; stars: number | null }[];
  languages: { name: string; repositoryCount: number }[];
  topics: { name: string; repositoryCount: number }[];
}

interface Choice {
  label: string;
  detail: string;
  href: string;
}

/** Typing within this time sends one request. */
const PAUSE_MS = 120;
const count = new Intl.NumberFormat("en-US", { notation: "compact" });

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>>,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

function groupsOf({ repositories, languages, topics }: Suggestions): [string, Choice[]][] {
  const path = (parts: string[]) => parts.map(encodeURIComponent).join("/");
  const facet = (section: string) => (one: { name: string; repositoryCount: number }) => ({
    label: one.name,
    detail: `${count.format(one.repositoryCount)} repositories`,
    href: address(`/${section}/${path([one.name])}`),
  });
  return [
    [
      "Repositories",
      repositories.map(({ provider, fullName, stars }) => ({
        label: fullName,
        detail: stars === null ? "" : `★ ${count.format(stars)}`,
        href: address(`/repos/${path([provider.toLowerCase(), ...fullName.split("/")])}`),
      })),
    ],
    ["Languages", languages.map(facet("languages"))],
    ["Topics", topics.map(facet("topics"))],
  ];
}

class SearchBox {
  readonly #input: HTMLInputElement;
  readonly #list = element("div", {
    id: "suggestions",
    role: "listbox",
    "aria-label": "Suggestions",
    hidden: "",
  });
  readonly #status = element("div", { class: "hidden", role: "status" });
  #active = -1;
  #pending: AbortController | undefined;
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(form: HTMLFormElement, input: HTMLInputElement) {
    this.#input = input;
    const attributes = {
      role: "combobox",
      "aria-expanded": "false",
      "aria-controls": "suggestions",
      "aria-autocomplete": "list",
    };
    for (const [name, value] of Object.entries(attributes)) input.setAttribute(name, value);
    form.append(this.#list, this.#status);
    input.addEventListener("input", () => this.#suggestSoon());
    input.addEventListener("focus", () => this.#suggestSoon());
    input.addEventListener("keydown", (event) => this.#key(event));
    // A press on a suggestion must not move the focus before the click.
    this.#list.addEventListener("mousedown", (event) => event.preventDefault());
    input.addEventListener("blur", () => this.#close());
  }

  get #options(): HTMLAnchorElement[] {
    return [...this.#list.querySelectorAll("a")];
  }

  #suggestSoon(): void {
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => void this.#suggest(), PAUSE_MS);
  }

  async #suggest(): Promise<void> {
    this.#pending?.abort();
    const text = this.#input.value.trim();
    if (text === "") return this.#close();
    const controller = new AbortController();
    this.#pending = controller;
    try {
      const query = new URLSearchParams({ q: text.slice(0, 64), limit: "6" });
      const response = await fetch(address(`/api/search/suggest?${query}`), { signal: controller.signal });
      if (!response.ok) return this.#close();
      const { data }: { data: Suggestions } = await response.json();
      if (document.activeElement === this.#input) this.#show(groupsOf(data));
    } catch {
      // Superseded, or the network failed: the form still works.
    }
  }

  #show(groups: [string, Choice[]][]): void {
    this.#active = -1;
    this.#input.removeAttribute("aria-activedescendant");
    this.#list.replaceChildren(
      ...groups
        .filter(([, choices]) => choices.length > 0)
        .map(([name, choices]) =>
          element(
            "div",
            { role: "group", "aria-label": name },
            element("div", { class: "group", role: "presentation" }, name),
            ...choices.map(({ label, detail, href }) =>
              element(
                "a",
                { role: "option", href, tabindex: "-1", "aria-selected": "false" },
                element("span", {}, label),
                element("span", { class: "soft" }, detail),
              ),
            ),
          ),
        ),
    );
    const options = this.#options;
    for (const [i, option] of options.entries()) option.id = `suggestion-${i}`;
    this.#list.hidden = options.length === 0;
    this.#input.setAttribute("aria-expanded", String(options.length > 0));
    this.#status.textContent =
      options.length === 0
        ? "No suggestions"
        : `${options.length} ${options.length === 1 ? "suggestion" : "suggestions"}`;
  }

  #close(): void {
    clearTimeout(this.#pause);
    this.#pending?.abort();
    this.#list.hidden = true;
    this.#active = -1;
    this.#status.textContent = "";
    this.#input.setAttribute("aria-expanded", "false");
    this.#input.removeAttribute("aria-activedescendant");
  }

  #move(step: number): void {
    const options = this.#options;
    if (this.#list.hidden || options.length === 0) {
      this.#suggestSoon();
      return;
    }
    // Suggestions that arrive now would replace the one that is being chosen.
    clearTimeout(this.#pause);
    this.#pending?.abort();
    // One more position than options: the box itself.
    this.#choose(((this.#active + 1 + step + options.length + 1) % (options.length + 1)) - 1);
  }

  /** Selects an option; -1: none, so that keys edit the text again. */
  #choose(index: number): void {
    const options = this.#options;
    this.#active = index;
    for (const [i, option] of options.entries())
      option.setAttribute("aria-selected", String(i === this.#active));
    const active = options[this.#active];
    if (active === undefined) this.#input.removeAttribute("aria-activedescendant");
    else {
      this.#input.setAttribute("aria-activedescendant", active.id);
      active.scrollIntoView({ block: "nearest" });
    }
  }

  #key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const isOpen = !this.#list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.#move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && isOpen && this.#active >= 0) {
      event.preventDefault();
      this.#options[this.#active]?.click();
    } else if (event.key === "Escape") {
      event.preventDefault();
      // The first press closes the list, the second clears the box.
      if (isOpen) this.#close();
      else this.#input.value = "";
    } else if (/^(?:Home|End|ArrowLeft|ArrowRight)$/.test(event.key)) {
      // These keys edit the text.
      this.#choose(-1);
    }
  }
}

/** Whether a key press goes to a field. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

const form = document.querySelector<HTMLFormElement>("form[data-search]");
const input = form?.querySelector("input");
if (form && input) {
  new SearchBox(form, input);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

// The user menu closes on a click outside and on Escape.
const menu = document.querySelector<HTMLDetailsElement>("details[data-menu]");
if (menu) {
  document.addEventListener("click", (event) => {
    if (event.target instanceof Node && !menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
}
