import { CHART_PAGE_STYLES } from "../../embeds/embeds.js";

/** Charts, and the pages of repositories. */
export const PLOTS = `
.plot { --chart-grid: var(--line); --chart-text: var(--ink); --chart-muted: var(--soft); --chart-bg: var(--paper); margin: var(--s3) 0 var(--s2); }
.plot, .plot-legend { --chart-line-1: var(--chart-1); --chart-line-2: var(--chart-2); --chart-line-3: var(--chart-3);
  --chart-line-4: var(--chart-4); --chart-line-5: var(--chart-5); --chart-line-6: var(--chart-6); }
${CHART_PAGE_STYLES}
.plot-box { position: relative; aspect-ratio: 760 / 360; overflow: hidden; }
.plot.whole .plot-box { aspect-ratio: 1160 / 440; }
.plot-box > * { position: absolute; inset: 0; }
.plot-box svg { width: 100%; height: 100%; }
.plot-narrow { display: none; }
.plot-box.live > .plot-wide, .plot-box.live > .plot-narrow { visibility: hidden; }
.plot-box:focus-visible { outline-offset: 0; }
.plot-reading { min-height: 1.5em; margin: var(--s1) 0 0; }
.plot-reading strong { color: var(--ink); }
.plot-empty { padding: var(--s5) 0; }
.plot-legend { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s5); margin: var(--s2) 0 0; padding: 0; list-style: none; }
.plot-legend svg { display: inline-block; width: 26px; height: 12px; margin-right: var(--s2); }
.plot-value { font-weight: 600; }
.u-wrap { position: relative; user-select: none; }
.u-over, .u-under, .u-axis { position: absolute; }
.u-under { overflow: hidden; }
.uplot canvas { display: block; position: relative; width: 100%; height: 100%; }
.u-legend, .u-select, .u-cursor-y { display: none; }
.u-cursor-x, .u-cursor-pt { position: absolute; left: 0; top: 0; pointer-events: none; }
.u-cursor-x { height: 100%; border-right: 1px dashed var(--soft); }
.u-cursor-pt { border-radius: 50%; border: 0 solid; background-clip: padding-box !important; }
.u-off { display: none; }
.repository-head h1 { margin: 0 0 var(--s2); overflow-wrap: anywhere; }
.repository-head .owner { font-weight: 400; color: var(--soft); }
.repository-head .row { margin-bottom: var(--s2); }
.repository-head + .lead { margin-bottom: var(--s3); }
main > section:not(.scroll) { margin-top: var(--s6); }
.facts-line { margin: 0 0 var(--s2); padding: 0; list-style: none; gap: var(--s1) var(--s4); }
.course { display: grid; gap: var(--s4) var(--s6); margin-top: var(--s5); }
.course > * { min-width: 0; }
.course h2 { margin-top: 0; }
.after { margin-top: var(--s6); }
.after h2 { margin-top: 0; }
.strong { font-weight: 600; }
.growth td small { display: block; font-size: var(--small); }
.growth abbr { text-decoration: none; }
.growth small, .pairs small, .facts .words { font-size: var(--body); line-height: 1.75; }
.terms { margin-bottom: var(--s4); }
.share { width: 100%; max-width: 16rem; height: 3px; margin-top: .2rem; background: var(--line); }
.share rect { fill: var(--chart-1); }
.ranks { width: auto; min-width: min(100%, 22rem); }
.pairs { margin: var(--s2) 0; }
.pairs > div { display: flex; gap: 0 var(--s3); flex-wrap: wrap; }
.pairs dt { min-width: 4.5rem; color: var(--soft); }
.pairs dd { margin: 0; }
.compared .number + td:not(.number), .compared .number + th:not(.number) { padding-left: var(--s4); }
.compared tbody th { white-space: nowrap; }
.compared .out a { display: inline-block; min-width: 1.5rem; font-size: var(--large); line-height: 1.5rem; text-align: center; text-decoration: none; }
.facts-line a, .numbers p a { display: inline-block; padding: .15rem 0; }
.numbers table { width: auto; min-width: min(100%, 32rem); }
details > summary { padding: .15rem 0; }
.choices { margin-bottom: var(--s4); align-items: end; }
.choices .field { margin: 0; }
.choices .field > span { display: block; }
.picture { display: block; max-width: 100%; height: auto; }
.badge-picture { height: 28px; margin-top: var(--s4); }
.snippet .apart { min-height: 1.75rem; align-items: center; }
.snippet button { min-height: 1.5rem; padding: 0 var(--s2); }
.snippet pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.snippet pre code { overflow-wrap: anywhere; }
@media (min-width: 64rem) { .course { grid-template-columns: minmax(0, 46rem) minmax(0, 1fr); } }
@media (max-width: 34rem) {
  .plot .plot-box, .plot.whole .plot-box { aspect-ratio: 358 / 280; }
  .plot-reading { min-height: 3em; }
  .growth :is(th, td) { padding-right: var(--s2); }
  .growth tbody { font-size: .875rem; }
  .plot-wide { display: none; }
  .plot-narrow { display: block; }
}
`;
