import { address, readRecent, removeRecent } from "./base.js";
import { type Choice, Combobox, element, type Group } from "./combobox.js";
import { findSuggestions, post } from "./suggestions.js";
import { chooseTheme, currentTheme, THEMES } from "./theme-menu.js";

/**
 * The palette: a dialog that leads to repositories, languages, topics and pages, and runs the actions of the page. Opened by
 * Ctrl+K or Cmd+K.
 */

const MAX_SUGGESTIONS = 5;

/** A comparison that waits for another repository: its address so far. */
interface Comparing {
  name: string;
  href: string;
}

/** Links of the frame: the pages. */
function pages(): Choice[] {
  const links = document.querySelectorAll<HTMLAnchorElement>(
    ".top nav a, .top .menu a, .top .tools > a, .bottom a",
  );
  const byHref = new Map([...links].map((link) => [link.href, link.textContent?.trim() ?? ""]));
  return [...byHref].filter(([, label]) => label !== "").map(([href, label]) => ({ label, href }));
}

/** The repositories opened last, apart from this one. */
const recent = () => readRecent().filter(({ path }) => path !== location.pathname);

class Palette {
  readonly #dialog: HTMLDialogElement;
  readonly #input: HTMLInputElement;
  readonly #label: HTMLLabelElement;
  readonly #clear: HTMLButtonElement;
  readonly #combobox: Combobox;
  #comparing: Comparing | undefined;
  #opener: Element | null = null;

  constructor() {
    this.#label = element("label", { for: "palette-text" });
    this.#input = element("input", {
      id: "palette-text",
      type: "text",
      maxlength: "200",
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
    });
    const close = element("button", { type: "button", class: "plain" }, "Close");
    this.#clear = element("button", { type: "button", class: "plain" }, "Clear recent");
    const head = element("div", { class: "palette-head" }, this.#label, close);
    const foot = element(
      "p",
      { class: "palette-foot" },
      element("span", {}, element("kbd", {}, "↑"), " ", element("kbd", {}, "↓"), " move"),
      element("span", {}, element("kbd", {}, "Enter"), " open"),
      element("span", {}, element("kbd", {}, "Esc"), " close"),
      this.#clear,
    );
    const body = element("div", { class: "palette-body" });
    this.#dialog = element(
      "dialog",
      { class: "palette", "aria-label": "Go to" },
      head,
      this.#input,
      body,
      foot,
    );
    this.#combobox = new Combobox(body, {
      input: this.#input,
      id: "palette-list",
      label: "Results",
      isPalette: true,
      find: (text, signal) => this.#find(text, signal),
    });
    document.body.append(this.#dialog);
    close.addEventListener("click", () => this.#dialog.close());
    this.#clear.addEventListener("click", () => {
      removeRecent();
      this.#input.focus();
      void this.#combobox.find();
    });
    this.#dialog.addEventListener("close", () => {
      this.#combobox.close();
      if (this.#opener instanceof HTMLElement) this.#opener.focus();
    });
    // A press outside the dialog closes it.
    this.#dialog.addEventListener("click", (event) => {
      if (event.target === this.#dialog) this.#dialog.close();
    });
    this.#dialog.addEventListener("keydown", (event) => this.#key(event));
  }

  show(): void {
    if (this.#dialog.open) {
      this.#dialog.close();
      return;
    }
    this.#opener = document.activeElement;
    this.#compare(undefined);
    this.#dialog.showModal();
    this.#input.focus();
  }

  /** Starts or ends the choice of a repository to compare with. */
  #compare(comparing: Comparing | undefined): void {
    this.#comparing = comparing;
    this.#label.textContent =
      comparing === undefined
        ? "Repository, language, topic, page or action"
        : `Compare ${comparing.name} with`;
    this.#input.value = "";
    void this.#combobox.find();
  }

  async #find(text: string, signal: AbortSignal): Promise<Group[]> {
    this.#clear.hidden = this.#comparing !== undefined || text !== "" || recent().length === 0;
    if (this.#comparing !== undefined) return this.#comparable(this.#comparing, text, signal);
    if (text === "")
      return [
        ...this.#recent(),
        { name: "Actions", choices: this.#actions() },
        { name: "Pages", choices: pages() },
      ];
    const words = text.toLowerCase();
    const actions = this.#actions().filter(({ label }) => label.toLowerCase().includes(words));
    const isMeant = actions.some(({ label }) => label.toLowerCase().startsWith(words));
    const ownActions: Group = { name: "Actions", choices: actions };
    const ownPages = pages().filter(({ label }) => label.toLowerCase().includes(words));
    let found: Group[] = [];
    try {
      found = await findSuggestions(text, { limit: MAX_SUGGESTIONS, hasFacets: true }, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      // The network failed: pages and actions are here.
    }
    const ways = [...found, { name: "Pages", choices: ownPages }];
    // Who types the beginning of an action means it; otherwise repositories are first.
    const groups = isMeant ? [ownActions, ...ways] : [...ways, ownActions];
    const hasMatch = groups.some(({ choices }) => choices.length > 0);
    const search: Choice = {
      label: `${hasMatch ? "Search" : "No match: search"} descriptions for “${text}”`,
      href: address(`/explore?${new URLSearchParams({ q: text })}`),
    };
    return [...groups, { name: "Search", choices: [search] }];
  }

  /** Repositories that complete a comparison. */
  async #comparable({ href }: Comparing, text: string, signal: AbortSignal): Promise<Group[]> {
    const present = new URL(href, location.href).searchParams.getAll("repo").map((key) => key.toLowerCase());
    const comparison = (key: string) => {
      const url = new URL(href, location.href);
      url.searchParams.append("repo", key);
      return url;
    };
    const choose = (key: string) =>
      present.includes(key.toLowerCase()) ? undefined : { href: comparison(key).href };
    const track = (key: string) => {
      const { pathname, search } = comparison(key);
      post("/track", { repository: key, next: pathname.slice(address("/").length - 1) + search });
    };
    return findSuggestions(text, { limit: 2 * MAX_SUGGESTIONS, choose, track }, signal);
  }

  #recent(): Group[] {
    const choices = recent().map(({ fullName, path }) => ({
      label: fullName,
      href: path,
      forget: () => removeRecent(path),
    }));
    return [{ name: "Recent", choices }];
  }

  /** The actions of the page, and the themes. */
  #actions(): Choice[] {
    const offered = document.querySelectorAll<HTMLElement>("main [data-command]");
    const themes = THEMES.filter((theme) => theme !== currentTheme()).map((theme) => ({
      label: `Switch theme to ${theme}`,
      run: () => {
        chooseTheme(theme);
        this.#dialog.close();
      },
    }));
    return [...[...offered].map((one) => this.#actionOf(one)), ...themes];
  }

  #actionOf(offered: HTMLElement): Choice {
    const { command, compare } = offered.dataset;
    const label =
      [command, offered.textContent?.trim()].find((text) => text !== undefined && text !== "") ?? "";
    if (compare !== undefined && offered instanceof HTMLAnchorElement)
      return { label, run: () => this.#compare({ name: compare, href: offered.href }) };
    return {
      label,
      run: () => {
        // Closed first, since that moves the focus.
        this.#dialog.close();
        offered.click();
      },
    };
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Backspace" && this.#input.value === "" && this.#comparing !== undefined) {
      event.preventDefault();
      this.#compare(undefined);
    } else if (event.key === "Tab") {
      // The focus stays in the dialog, and does not visit the browser's own controls.
      const stops = [...this.#dialog.querySelectorAll<HTMLElement>("input, button")].filter(
        ({ hidden }) => !hidden,
      );
      const [first, last] = event.shiftKey ? [stops.at(-1), stops[0]] : [stops[0], stops.at(-1)];
      if (document.activeElement !== last) return;
      event.preventDefault();
      first?.focus();
    }
  }
}

let palette: Palette | undefined;

/** Opens the palette, or closes it. */
export function showPalette(): void {
  palette ??= new Palette();
  palette.show();
}
