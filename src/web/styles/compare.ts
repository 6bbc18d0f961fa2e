/** Comparisons. */
export const COMPARE = `
.crumb { margin: 0; }
.crumb a { padding: .2rem 0; }
#comparison h1 { max-width: 64rem; margin: 0; text-wrap: balance; line-height: 1.2; }
#comparison > .say { margin: 6px 0 1.25rem; }
/* The chosen ones and the choices of their chart are one line, as far as there is room. */
.compare-bar { display: flex; flex-wrap: wrap; justify-content: space-between; gap: var(--s2); margin: 1.25rem 0 var(--s3); }
.compare-bar > .row { gap: var(--s2) 6px; min-width: 0; }
.compare-bar .chart-controls { gap: var(--s2) 6px; }
.compare-bar form, .compare-bar .field { margin: 0; }
.compare-bar > .row:only-child, .compare-bar > .row:only-child > form:only-child { flex: 0 1 36rem; }
.chosen { display: contents; }
.compare-bar .line-mark { width: 18px; margin: 0; }
.clause { display: inline-block; }
.chosen li { display: inline-flex; align-items: center; gap: 6px; height: var(--control); max-width: 100%; padding: 0 2px 0 8px; border: 1px solid var(--edge); border-radius: 1.125rem; background: var(--card); }
.chosen li > a:first-of-type { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; line-height: 1.75rem; color: var(--ink); font-weight: 600; text-decoration: none; }
.chosen li > a:first-of-type:hover { text-decoration: underline; }
.chosen .out { display: grid; place-items: center; width: 24px; height: 24px; color: var(--soft); font-size: var(--large); text-decoration: none; }
.chosen ~ form label { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.chosen ~ form input:not([type="hidden"]) { width: 6.25rem; border-radius: 1.125rem; }
.chosen ~ form input:focus { width: 18rem; }
.menu > summary.button { display: block; max-width: none; color: inherit; padding: .35rem .75rem; border: 1px solid var(--edge); }
.compare-bar .tabs a { padding: 0 .75rem; }
.menu > summary.press::after { content: none !important; }
.menu > summary.press { color: var(--on-press); border-color: var(--press); }
.menu > div > a[aria-current] { font-weight: 600; background: var(--bar); }
.compared-chart { padding: 1.25rem var(--s5) var(--s3); }
.compared-chart .plot { --chart-bg: var(--card); margin: 0; }
.compared-chart .ring { display: inline; width: 12px; height: 12px; fill: none; stroke: var(--soft); stroke-width: 2; vertical-align: -1px; }
.compared { margin-top: var(--s5); }
.compared tbody tr { height: 3.5rem; }
.compared tbody th { white-space: normal; overflow-wrap: anywhere; width: 99%; max-width: 0; }
.compared .overtakes { padding-left: var(--s5); white-space: normal; overflow-wrap: anywhere; min-width: 16rem; }
.compared :is(th, td) { padding: 0 0 0 var(--s4); white-space: nowrap; vertical-align: middle; }
.compared :is(th, td):first-child { padding-left: 0; }
.compared thead th { height: var(--control); }
.compared a { text-decoration: none; }
.compared a:hover .title { text-decoration: underline; }
.compared .line-mark { margin-right: var(--s3); }
.compared .strong { font-weight: 600; }
.compared .weeks svg { width: 120px; height: 28px; margin-left: auto; }
.compared-chart .chart-foot { align-items: center; }
.compared-chart .chart-foot > * { margin: 0; }
@media (max-width: 68rem) { .compared :is(.weeks, .window) { display: none; } }
.examples { list-style: none; margin: var(--s3) 0 0; padding: 0; display: grid; gap: var(--s5); grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
.examples .card { display: flex; flex-direction: column; gap: var(--s3); height: 100%; padding: var(--s4) 1.25rem; color: inherit; text-decoration: none; }
.examples .card:hover { border-color: var(--link); }
.examples h3 { margin: 0; font-size: var(--large); flex: 1; }
.examples p { display: flex; flex-wrap: wrap; gap: 0 var(--s4); margin: 0; }
.lines { width: 100%; height: auto; }
.lines path { fill: none; stroke-width: 2; stroke-linejoin: round; }
@media (max-width: 46rem) {
  #comparison > .say { margin-bottom: .875rem; }
  .compare-bar > .row, .compare-bar .chart-controls { flex-wrap: nowrap; }
  .compare-bar > .row { position: relative; overflow-x: auto; max-width: calc(100% + var(--s4)); margin-right: calc(-1 * var(--s4)); padding-right: var(--s4); }
  .compare-bar > .row > *, .chosen > li { flex: none; }
  .compare-bar .pass-on { order: -1; }
  /* In a line that scrolls, what a menu opens would be cut. */
  .compare-bar .menu > div { position: fixed; inset: auto 1rem 1rem; max-height: 70vh; overflow: auto; }
  .compared-chart { padding: .875rem 10px 10px; margin: 0 -6px; }
  .compared thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .compared, .compared tbody { display: block; }
  .compared tbody tr { display: grid; grid-template: "a b" auto "c d" auto / minmax(0, 1fr) auto; gap: 0 var(--s3); height: auto; padding: 10px 0; border-bottom: 1px solid var(--line); }
  .compared tbody tr > * { border: 0; padding: 0; }
  .compared tbody tr > td { display: none; }
  .compared tbody tr > .strong, .compared tbody tr > .gained { display: block; }
  .compared tbody tr > .gained { grid-area: d; }
  .compared .gained > :not(:first-child) { display: none; }
  .compared tbody th { width: auto; max-width: none; }
  .compared tbody tr > .overtakes { display: block; min-width: 0; grid-area: c; width: auto; padding-left: 38px; white-space: normal; color: var(--soft); font-size: var(--small); }
}
@media (forced-colors: active) {
  .chart-line-2 { stroke-dasharray: 8 3; }
  .chart-line-3 { stroke-dasharray: 3 3; }
  .chart-line-4 { stroke-dasharray: 12 3 3 3; }
  .chart-line-5 { stroke-dasharray: 6 6; }
  .chart-line-6 { stroke-dasharray: 1 4; }
}
`;
