import { createHash } from "node:crypto";

/** The one style sheet: system fonts, colours for light and dark, and nothing from elsewhere. */
export const STYLES = `
:root { color-scheme: light dark; --ink: #1b2733; --soft: #51606f; --line: #d9e0e7; --paper: #fbfcfd; --card: #ffffff;
  --link: #0b5cad; --rise: #146c43; --fall: #b42318; --note: #fff6dd; --code: #eef2f6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4eaf0; --soft: #a3b1bf; --line: #2c3947; --paper: #10161d;
  --card: #161e27; --link: #7db7f5; --rise: #63c793; --fall: #f4998d; --note: #33290d; --code: #1f2934; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
header, main, footer { max-width: 64rem; margin: 0 auto; padding: 1rem 1.25rem; }
header { display: flex; gap: 1.5rem; align-items: baseline; flex-wrap: wrap; }
header strong { font-size: 1.15rem; letter-spacing: .01em; }
footer { color: var(--soft); font-size: .9rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
.note { background: var(--note); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.rise { color: var(--rise); }
.fall { color: var(--fall); }
.soft { color: var(--soft); }
code, pre { background: var(--code); border-radius: .3rem; font: .9em/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
code { padding: .1em .35em; }
pre { padding: .75rem 1rem; white-space: pre-wrap; }
pre code { padding: 0; background: none; }
details { border: 1px solid var(--line); border-radius: .5rem; background: var(--card); margin: .5rem 0; padding: .5rem .9rem; }
summary { cursor: pointer; }
.method { font: 600 .85em ui-monospace, monospace; display: inline-block; min-width: 4.2em; }
@media (max-width: 40rem) { .roomy { display: none; } }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .25rem .5rem; }
`;

/** Address of the style sheet; it changes with the content, so it may be kept for ever. */
export const STYLES_PATH = `/assets/${createHash("sha256").update(STYLES).digest("hex").slice(0, 16)}.css`;
