/** Design tokens; docs/DESIGN-LANGUAGE.md explains them and their contrasts. */
export const TOKENS = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf6; --card: #ffffff; --sunk: #f2f0e8; --ink: #1a2030; --soft: #545d6e;
  --line: #e3e0d6; --edge: #c4bfb0; --link: #1c4f8f; --star: #8a5a00; --rise: #1b6b3a; --fall: #a8321f;
  --note: #fff4d6; --bar: #dde6f2; --press: #1c4f8f; --on-press: #ffffff;
  --chart-1: #1c4f8f; --chart-2: #b4530a; --chart-3: #1b7a4b; --chart-4: #8a3ea8; --chart-5: #b0255f; --chart-6: #4a5568;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, Charter, "Noto Serif", Georgia, serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono", monospace;
  --small: .8125rem; --body: .9375rem; --large: 1.125rem; --title: 1.375rem; --display: 1.875rem;
  --s1: .25rem; --s2: .5rem; --s3: .75rem; --s4: 1rem; --s5: 1.5rem; --s6: 2.5rem;
  --round: .375rem; --wide: 78rem; --read: 44rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0e131d; --card: #141b28; --sunk: #1a2332; --ink: #e7eaf1; --soft: #a5aebd;
    --line: #263145; --edge: #44526b; --link: #8fbcf2; --star: #f0b860; --rise: #6fcf97; --fall: #f59383;
    --note: #2d2611; --bar: #24334e; --press: #8fbcf2; --on-press: #0e131d;
    --chart-1: #7fb2f0; --chart-2: #f0a35e; --chart-3: #67c794; --chart-4: #cf9be6; --chart-5: #f08db4; --chart-6: #a9b4c6;
  }
}
`;
