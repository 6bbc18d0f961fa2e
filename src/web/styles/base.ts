/** Plain elements, and the frame of every page. */
export const BASE = `
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--paper); color: var(--ink);
  font: var(--body)/1.5 var(--sans); font-variant-numeric: tabular-nums lining-nums; overflow-wrap: break-word; }
/* A name in another script does not change the order of the text around it. */
a, abbr, b, button, code, label, span, strong, summary, time { unicode-bidi: isolate; }
/* Names of a hundred letters without a gap; in tables they would make columns too narrow. */
h1, h2, p, li, dd, summary, .titled { overflow-wrap: anywhere; }
h1, h2, h3 { font-family: var(--serif); font-weight: 600; line-height: 1.15; text-wrap: balance; }
h1 { overflow-wrap: anywhere; font-size: var(--display); margin: 0 0 var(--s3); letter-spacing: -.01em; }
h2 { font-size: var(--head); margin: var(--s6) 0 var(--s3); }
h1 a, h2 a, h3 a { color: inherit; text-decoration-color: var(--edge); }
h1 + h2, section > h2:first-child, .apart > h2 { margin-top: 0; }
h3 { font-size: var(--large); margin: var(--s5) 0 var(--s2); }
p, ul, ol, dl { margin: 0 0 var(--s3); }
ul, ol { padding-left: 1.25rem; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: .18em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 2px; }
code, pre, kbd { font: .875em/1.5 var(--mono); }
code { background: var(--sunk); padding: .1em .3em; border-radius: .2rem; overflow-wrap: anywhere; }
pre { background: var(--sunk); padding: var(--s3) var(--s4); border-radius: var(--round); overflow-x: auto; margin: 0 0 var(--s3); }
pre code { padding: 0; background: none; overflow-wrap: normal; }
kbd { border: 1px solid var(--edge); border-bottom-width: 2px; border-radius: .25rem; padding: 0 .35em; color: var(--soft); }
svg { display: block; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--soft); padding: 0 0 var(--s2); }
th, td { text-align: left; padding: var(--s2) var(--s3) var(--s2) 0; border-bottom: 1px solid var(--line); vertical-align: baseline; }
th:last-child, td:last-child { padding-right: 0; }
th { color: var(--soft); font-weight: 500; font-size: var(--small); white-space: nowrap; }
tbody th { color: inherit; font-weight: inherit; font-size: inherit; white-space: normal; }
tr:last-child > td, tr:last-child > th { border-bottom-color: transparent; }
thead tr:last-child > th { border-bottom-color: var(--edge); }
summary { cursor: pointer; }
[hidden] { display: none !important; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -99rem; top: var(--s2); background: var(--card); padding: var(--s2) var(--s3); z-index: 9; }
.skip:focus { left: var(--s3); }
.frame { width: 100%; max-width: var(--wide); margin: 0 auto; padding: 0 var(--s5); }
main.frame { flex: 1; padding-top: var(--s5); padding-bottom: var(--s6); }
.top { border-bottom: 1px solid var(--line); background: var(--card); }
.top .frame { display: flex; align-items: center; gap: var(--s2) var(--s5); min-height: 3.5rem; }
.brand { display: flex; align-items: center; gap: var(--s2); font: 600 var(--head)/1 var(--serif); color: var(--ink); text-decoration: none; }
.brand svg { width: 26px; height: 26px; color: var(--star); }
.top nav { display: flex; gap: 1.25rem; }
.top nav a { line-height: 2rem; white-space: nowrap; }
.top nav a, .menu > summary { color: var(--soft); text-decoration: none; padding: var(--s1) 0; border-bottom: 2px solid transparent; }
.top nav a:hover, .menu > summary:hover { color: var(--ink); }
.top nav a[aria-current] { color: var(--ink); border-bottom-color: var(--star); }
.search { flex: 1 1 0; max-width: 26rem; min-width: 0; margin-left: auto; }
.search form { position: relative; margin: 0; }
.search input { width: 100%; }
:root[data-scripts] .search input { padding-right: 4rem; }
.search button { position: absolute; right: .3rem; top: 50%; transform: translateY(-50%); min-height: 1.75rem; padding: 0 .2rem; border: 0; background: none; line-height: 1; }
.search kbd { font-size: .75rem; white-space: nowrap; }
.search svg { display: none; width: 1.25rem; height: 1.25rem; color: var(--soft); }
:root:not([data-scripts]) .scripted { display: none; }
.tools { min-height: 2.25rem; display: flex; align-items: center; gap: var(--s2) var(--s4); min-width: 0; }
.menu { position: relative; min-width: 0; }
.menu > summary { list-style: none; max-width: 14rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.menu > summary::-webkit-details-marker { display: none; }
.menu:not([data-themes]) > summary::after { content: " ▾"; }
.menu[data-themes] > summary { padding: var(--s1); border: 0; }
.menu[data-themes] svg { width: 1.25rem; height: 1.25rem; }
.menu[data-themes] > div { min-width: 8rem; }
.menu button[aria-pressed="true"] { font-weight: 600; }
.menu button[aria-pressed="true"]::after { content: " ✓"; content: " ✓" / ""; color: var(--star); }
.menu > div { position: absolute; right: 0; top: 100%; z-index: 8; min-width: 13rem; padding: var(--s2) 0; background: var(--card);
  border: 1px solid var(--edge); border-radius: var(--round); box-shadow: 0 .5rem 1.5rem rgb(0 0 0 / .18); }
.menu > div > a, .menu > div button { display: block; width: 100%; padding: var(--s2) var(--s4); border: 0; border-radius: 0; background: none;
  text-align: left; color: var(--ink); text-decoration: none; font: inherit; cursor: pointer; }
.menu > div > a:hover, .menu > div button:hover { background: var(--sunk); }
.menu form { margin: 0; border-top: 1px solid var(--line); margin-top: var(--s2); padding-top: var(--s2); }
.bottom { border-top: 1px solid var(--line); color: var(--soft); font-size: var(--small); }
.bottom .frame { display: flex; flex-wrap: wrap; align-items: baseline; gap: var(--s1) var(--s5); padding-top: 1.25rem; padding-bottom: var(--s5); }
.bottom p { margin: 0; flex: 1 1 14rem; }
.bottom a { color: inherit; padding: .2rem 0; }
.bottom p a { margin-left: var(--s2); }
@media (max-width: 24rem) { .menu > summary { max-width: 8rem; } }
@media (max-width: 60rem) {
  .top .frame { flex-wrap: wrap; gap: var(--s1) var(--s3); padding-top: var(--s2); padding-bottom: var(--s1); }
  .search kbd { display: none; }
  .search svg { display: block; }
  .search { max-width: none; }
  :root[data-scripts] .search input { padding-right: 2rem; }
  /* The menu of the account stays above, the one of themes goes below, next to the pages. */
  .tools { display: contents; }
  .top nav { order: 8; flex: 1 1 80%; gap: 0 18px; overflow-x: auto; font-size: var(--small); }
  .menu[data-themes] { order: 9; }
}
@media (max-width: 46rem) {
  :root { --display: 1.625rem; --hero: 2.5rem; }
  .frame { padding: 0 var(--s4); }
}
@media (prefers-reduced-motion: no-preference) { a, button, summary { transition: color .12s, background-color .12s, border-color .12s; } }
`;
