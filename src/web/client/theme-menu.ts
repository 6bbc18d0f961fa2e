import { announce, readStored, store } from "./base.js";

/** The choice between light, dark, and the theme of the system. `theme.ts` applies it before the first paint. */

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const isTheme = (text: string | null | undefined): text is Theme => THEMES.some((theme) => theme === text);

export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  return isTheme(chosen) ? chosen : "system";
}

function apply(theme: Theme): void {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-choose-theme]"))
    button.setAttribute("aria-pressed", String(button.dataset.chooseTheme === theme));
}

export function chooseTheme(theme: Theme): void {
  store("theme", theme === "system" ? null : theme);
  apply(theme);
  announce(`Theme: ${theme}`);
}

/** Connects the buttons of the frame, and follows a choice made in another tab. */
export function connectThemes(): void {
  apply(currentTheme());
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-choose-theme]")) {
    const { chooseTheme: theme } = button.dataset;
    if (isTheme(theme)) button.addEventListener("click", () => chooseTheme(theme));
  }
  addEventListener("storage", ({ key }) => {
    if (key !== "sidereal.theme" && key !== null) return;
    const stored = readStored("theme");
    apply(isTheme(stored) ? stored : "system");
  });
}
