/** The colour scheme of a standalone picture; `auto` follows the reader's setting. */
export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

interface Palette {
  background: string;
  /** The edge of a picture, and the floor of its lines. */
  border: string;
  grid: string;
  text: string;
  muted: string;
  /** The sign of the service, places in rankings. */
  star: string;
  rise: string;
  fall: string;
  /** Line colours, in the order of the series. */
  lines: readonly string[];
}

/** Contrast with the background is at least 4.5:1 (WCAG 2.2, 1.4.3): names are written in the colours of their lines. */
export const PALETTES: Readonly<Record<"light" | "dark", Palette>> = {
  light: {
    background: "#fbfaf6",
    border: "#c4bfb0",
    grid: "#e3e0d6",
    text: "#1a2030",
    muted: "#545d6e",
    star: "#8a5a00",
    rise: "#1b6b3a",
    fall: "#a8321f",
    lines: ["#1c4f8f", "#b8400b", "#0c7a55", "#8a3ac2", "#c21a66", "#8a6800"],
  },
  dark: {
    background: "#0e131d",
    border: "#44526b",
    grid: "#263145",
    text: "#e7eaf1",
    muted: "#a5aebd",
    star: "#f0b860",
    rise: "#6fcf97",
    fall: "#f59383",
    lines: ["#7fb2f0", "#ff9b5e", "#45c795", "#c799ff", "#ff85b5", "#dcba3c"],
  },
};

/** Maximum number of series in a chart: the number of line colours and marker shapes. */
export const MAX_SERIES = 6;

/** The line colours as the tokens `chart-1` to `chart-6` of pages, so that a page and an embed have the same. */
export function chartColours(scheme: keyof typeof PALETTES): Record<string, string> {
  return Object.fromEntries(PALETTES[scheme].lines.map((colour, i) => [`chart-${i + 1}`, colour]));
}

type DrawnColours = Pick<Palette, "background" | "grid" | "text" | "muted" | "lines">;

/** The rules that charts on pages and pictures share. */
function rules({ background, grid, text, muted, lines }: DrawnColours): string {
  const fixed = [
    `.chart-grid{stroke:${grid};fill:none}`,
    `.chart-text{fill:${text}}`,
    `.chart-muted{fill:${muted}}.chart-paper{fill:${background}}`,
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

/** Those of pictures alone. */
function pictureRules(palette: Palette): string {
  const { background, border, text, star, rise, fall, lines } = palette;
  return [
    rules(palette),
    `.chart-bg{fill:${background};stroke:${border}}`,
    `.chart-edge{stroke:${border};fill:none}.chart-ink{stroke:${text};fill:none}`,
    `.chart-rise{fill:${rise}}.chart-fall{fill:${fall}}.chart-loss{stroke:${fall}}`,
    `.chart-star{fill:${star}}.chart-circle{stroke:${star};fill:none}`,
    ...lines.map((colour, i) => `.chart-stop-${i + 1}{stop-color:${colour}}`),
  ].join("");
}

/** A style sheet in a theme: the rules of its colours, or of both with the reader's setting. */
export function themed(theme: Theme, rulesOf: (scheme: "light" | "dark") => string): string {
  if (theme !== "auto") return rulesOf(theme);
  return `${rulesOf("light")}@media (prefers-color-scheme: dark){${rulesOf("dark")}}`;
}

/** The fonts of names. The renderer of PNG has the last one that is named. */
const SERIF = `"Iowan Old Style","Palatino Linotype",Palatino,Charter,"Noto Serif",Georgia,"DejaVu Serif",serif`;
/** Rims and halos have the colour of the background, so a clear picture has neither. */
const CLEAR = ".chart-mark,.chart-halo{stroke:none}";

/** The style sheet of a standalone picture. */
export function styleOf(theme: Theme, isClear = false): string {
  const colours = themed(theme, (scheme) => pictureRules(PALETTES[scheme]));
  return `.sf{font-family:${SERIF}}${colours}${isClear ? CLEAR : ""}`;
}

/**
 * The style rules a page needs for charts drawn with the theme `page`. Colours come from the custom properties
 * --chart-line-1 to --chart-line-6, --chart-grid, --chart-text, --chart-muted and --chart-bg.
 */
export const CHART_PAGE_STYLES = rules({
  background: "var(--chart-bg)",
  grid: "var(--chart-grid)",
  text: "var(--chart-text)",
  muted: "var(--chart-muted)",
  lines: Array.from({ length: MAX_SERIES }, (_, i) => `var(--chart-line-${i + 1})`),
});
