import { chartColours } from "../../charts/charts.js";

/**
 * Design tokens; docs/DESIGN-LANGUAGE.md explains them and their contrasts. Each colour is written here once for light and once
 * for dark; those of charts are the same as in embeds.
 */
export const COLOURS = {
  light: {
    paper: "#fbfaf6",
    card: "#ffffff",
    sunk: "#f2f0e8",
    ink: "#1a2030",
    soft: "#545d6e",
    line: "#e3e0d6",
    edge: "#c4bfb0",
    link: "#1c4f8f",
    star: "#8a5a00",
    rise: "#1b6b3a",
    fall: "#a8321f",
    note: "#fff4d6",
    done: "#e4f3e8",
    bar: "#dde6f2",
    press: "#1c4f8f",
    "on-press": "#ffffff",
    past: "#7391bd",
    now: "#c97a00",
    warm: "#fdebc8",
    hot: "#8a5a00",
    "on-hot": "#ffffff",
    tint: "#eef2f7",
    ...chartColours("light"),
  },
  dark: {
    paper: "#0e131d",
    card: "#141b28",
    sunk: "#1a2332",
    ink: "#e7eaf1",
    soft: "#a5aebd",
    line: "#263145",
    edge: "#44526b",
    link: "#8fbcf2",
    star: "#f0b860",
    rise: "#6fcf97",
    fall: "#f59383",
    note: "#2d2611",
    done: "#13291d",
    bar: "#24334e",
    press: "#8fbcf2",
    "on-press": "#0e131d",
    past: "#56779f",
    now: "#f0b860",
    warm: "#33290f",
    hot: "#f0b860",
    "on-hot": "#1a1406",
    tint: "#172133",
    ...chartColours("dark"),
  },
} as const;

/** The properties of one theme. */
export function properties(theme: Readonly<Record<string, string>>): string {
  return Object.entries(theme)
    .map(([name, colour]) => `--${name}:${colour};`)
    .join("");
}

const DARK = properties(COLOURS.dark);

/** The theme follows the system, unless the reader has chosen one (client/theme.ts). */
export const TOKENS = `
:root {
  color-scheme: light dark;
  ${properties(COLOURS.light)}
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, Charter, "Noto Serif", Georgia, serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono", monospace;
  --tiny: .75rem; --small: .8125rem; --body: .9375rem; --large: 1.0625rem; --head: 1.25rem; --title: 1.625rem; --display: 2.25rem; --hero: 3rem;
  --s1: .25rem; --s2: .5rem; --s3: .75rem; --s4: 1rem; --s5: 1.5rem; --s6: 2rem;
  --round: .5rem; --rounder: .75rem; --wide: 78rem; --read: 44rem; --control: 2.25rem;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; ${DARK} }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${DARK} } }
`;
