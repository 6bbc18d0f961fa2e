/** The colour scheme of a standalone picture; `auto` follows the reader's setting. */
export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

interface Palette {
  background: string;
  border: string;
  grid: string;
  text: string;
  muted: string;
  /** Line colours, in the order of the series. */
  lines: readonly string[];
}

/** Contrast with the background is at least 3:1 for lines and 4.5:1 for text (WCAG 2.2, 1.4.11 and 1.4.3). */
export const PALETTES: Readonly<Record<"light" | "dark", Palette>> = {
  light: {
    background: "#ffffff",
    border: "#d8dfe6",
    grid: "#e4e9ee",
    text: "#17222d",
    muted: "#566472",
    lines: ["#1c4f8f", "#c8480f", "#0c7a55", "#8a3ac2", "#c21a66", "#8a6800"],
  },
  dark: {
    background: "#12181f",
    border: "#2f3b48",
    grid: "#26313c",
    text: "#e8eef4",
    muted: "#a0aebc",
    lines: ["#7fb2f0", "#ff9b5e", "#45c795", "#c799ff", "#ff85b5", "#dcba3c"],
  },
};

/** Maximum number of series in a chart: the number of line colours and marker shapes. */
export const MAX_SERIES = 6;

/** The line colours as the tokens `chart-1` to `chart-6` of pages, so that a page and an embed have the same. */
export function chartColours(scheme: keyof typeof PALETTES): Record<string, string> {
  return Object.fromEntries(PALETTES[scheme].lines.map((colour, i) => [`chart-${i + 1}`, colour]));
}

function rules(palette: Palette): string {
  const { background, border, grid, text, muted, lines } = palette;
  const fixed = [
    `.chart-bg{fill:${background};stroke:${border}}`,
    `.chart-grid{stroke:${grid};fill:none}`,
    `.chart-text{fill:${text}}`,
    `.chart-muted{fill:${muted}}`,
    `.chart-hint{stroke:${muted};fill:none}`,
    `.chart-mark{stroke:${background}}`,
    `.chart-ring{fill:${background};stroke:${text}}`,
    `.chart-halo{stroke:${background};stroke-width:4;stroke-linejoin:round;paint-order:stroke}`,
  ];
  const coloured = lines.map((colour, i) => {
    const n = i + 1;
    return `.chart-line-${n}{stroke:${colour};fill:none}.chart-mark-${n},.chart-area-${n}{fill:${colour}}`;
  });
  return [...fixed, ...coloured].join("");
}

/** A style sheet in a theme: the rules of its colours, or of both with the reader's setting. */
export function themed(theme: Theme, rulesOf: (scheme: "light" | "dark") => string): string {
  if (theme !== "auto") return rulesOf(theme);
  return `${rulesOf("light")}@media (prefers-color-scheme: dark){${rulesOf("dark")}}`;
}

/** The style sheet of a standalone picture. */
export function styleOf(theme: Theme): string {
  return themed(theme, (scheme) => rules(PALETTES[scheme]));
}

/**
 * The style rules a page needs for charts drawn with the theme `page`. Colours come from the custom properties
 * --chart-line-1 to --chart-line-6, --chart-grid, --chart-text, --chart-muted and --chart-bg.
 */
export const CHART_PAGE_STYLES = rules({
  background: "var(--chart-bg)",
  border: "var(--chart-grid)",
  grid: "var(--chart-grid)",
  text: "var(--chart-text)",
  muted: "var(--chart-muted)",
  lines: Array.from({ length: MAX_SERIES }, (_, i) => `var(--chart-line-${i + 1})`),
});
