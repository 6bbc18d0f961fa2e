import { CHART_PAGE_STYLES } from "../../charts/charts.js";

/** Charts, and the pages of repositories. */
export const PLOTS = `
.plot { --chart-grid: var(--line); --chart-text: var(--ink); --chart-muted: var(--soft); --chart-bg: var(--paper); margin: var(--s3) 0 var(--s2); }
.plot, .plot-legend, .shown-gains { --chart-line-1: var(--chart-1); --chart-line-2: var(--chart-2); --chart-line-3: var(--chart-3);
  --chart-line-4: var(--chart-4); --chart-line-5: var(--chart-5); --chart-line-6: var(--chart-6); }
${CHART_PAGE_STYLES}
.plot-box { position: relative; aspect-ratio: 1160 / 440; overflow: hidden; }
.plot-box > * { position: absolute; inset: 0; }
.plot-box svg { width: 100%; height: 100%; }
.plot-narrow { display: none; }
.plot-box.live { cursor: crosshair; touch-action: pan-y; user-select: none; overflow: visible; }
.plot-box:focus-visible { outline-offset: 0; }
.plot-reading { margin: var(--s1) 0 0; }
.plot-empty { padding: var(--s5) 0; }
.plot-legend { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s5); margin: var(--s2) 0 0; padding: 0; list-style: none; }
.plot-legend svg { display: inline-block; width: 26px; height: 12px; margin-right: var(--s2); }
.plot-value { font-weight: 600; }
.plot-box > :is(.plot-cursor, .plot-dot, .plot-tip, .plot-selection) { inset: auto; pointer-events: none; }
.plot-cursor { border-left: 1px dashed var(--soft); }
.plot-dot { width: 11px; height: 11px; margin: -5.5px 0 0 -5.5px; border: 2px solid var(--paper); border-radius: 50%; }
${[1, 2, 3, 4, 5, 6].map((n) => `.plot-dot-${n} { background: var(--chart-${n}); }`).join("\n")}
.plot-selection { background: color-mix(in srgb, var(--link) 16%, transparent); border: solid var(--link); border-width: 0 1px; }
.plot-tip { z-index: 2; width: max-content; max-width: min(20rem, 70%); padding: var(--s2) var(--s3); background: var(--card); border: 1px solid var(--edge);
  border-radius: var(--round); box-shadow: 0 .25rem 1rem rgb(0 0 0 / .12); font-size: var(--small); line-height: 1.4; overflow-wrap: anywhere; }
.plot-tip-time { color: var(--soft); }
.plot-tip-value { font-size: var(--body); font-weight: 600; }
.plot-tip-note { margin-top: var(--s1); padding-top: var(--s1); border-top: 1px solid var(--line); }
.plot-tip-row svg { display: inline-block; width: 20px; height: 10px; margin-right: var(--s1); }
.chart-controls { gap: var(--s2) var(--s3); }
.chart-controls .strip { margin: 0; }
.chart-dates { align-items: baseline; margin: var(--s2) 0; }
.chart-dates p { margin: 0; }
.chart-dates a { display: inline-block; padding: .15rem 0; }
.chart-dates form { margin: var(--s2) 0; }
.chart-dates input { min-height: 1.75rem; }
.plot-notes { margin: var(--s2) 0 0; max-width: var(--read); }
main > section:not(.scroll), .repository > section, #comparison > section + section { margin-top: var(--s6); }
.chart-foot { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 var(--s5); font-size: var(--small); }
.chart-foot > :has(> details[open]), .chart-foot > details[open] { flex: 1 0 100%; }
.facts-line { margin: 0 0 var(--s2); padding: 0; list-style: none; gap: var(--s1) var(--s4); }
.repository-lead { margin-top: var(--s4); }
.headline { font: 600 var(--title)/1.3 var(--serif); margin: 0 0 var(--s4); max-width: 56rem; text-wrap: pretty; }
.headline small { font: var(--body)/1.5 var(--sans); }
.tiles { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: var(--s3); margin-bottom: var(--s3); }
.tile { display: grid; grid-template: auto auto / 1fr auto; gap: 0 var(--s3); align-items: end; align-content: start; padding: var(--s2) var(--s3); background: var(--card);
  border: 1px solid var(--line); border-radius: var(--round); color: inherit; text-decoration: none; }
a.tile:hover { border-color: var(--link); }
.tile[aria-current] { border-color: var(--link); background: var(--bar); }
.tile > span { color: var(--soft); font-size: var(--small); }
.tile > small { grid-area: 3 / 1 / 4 / 3; }
.tile > strong { grid-row: 2; font-size: var(--large); line-height: 1.3; }
.tile small { font-weight: 400; font-size: var(--small); }
.tile > svg { grid-area: 1 / 2 / 3 / 3; width: 6rem; height: 2rem; }
.proof > summary { padding: .15rem 0; }
main .repository > #course { margin-top: var(--s4); }
.thirds { grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); margin-top: var(--s5); }
.thirds h2 { margin-top: 0; font-size: var(--large); }
.events > li { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); align-items: baseline; }
.similar th { font-size: inherit; color: inherit; }
.similar td.soft { max-width: 0; width: 60%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.chart-options { margin-left: auto; }
.chart-options > div { padding: var(--s3); display: grid; gap: var(--s3); }
.strong { font-weight: 600; }
.growth td small { display: block; font-size: var(--small); }
.growth abbr { text-decoration: none; }
.growth small, .facts .words { font-size: var(--body); line-height: 1.75; }
.terms { margin-bottom: var(--s4); }
.share { width: 100%; max-width: 16rem; height: 3px; margin-top: .2rem; background: var(--line); }
.share rect { fill: var(--chart-1); }
.ranks { width: auto; min-width: min(100%, 22rem); }
.compared .number + td:not(.number), .compared .number + th:not(.number) { padding-left: var(--s4); }
@media screen { .compared tbody th a { white-space: nowrap; } }
.chosen { gap: var(--s2); min-width: 0; }
.chosen li { display: inline-flex; align-items: center; max-width: 100%; border: 1px solid var(--edge); border-radius: 1rem; background: var(--card); padding: 0 var(--s1) 0 var(--s3); }
.chosen li > a:first-of-type { overflow-wrap: anywhere; line-height: 1.75rem; }
.line-mark { display: inline-block; flex: none; width: 26px; height: 12px; }
.shown-gains { width: auto; min-width: min(100%, 36rem); margin-top: var(--s4); }
@media (max-width: 34rem) {
  .shown-gains .line-mark { display: block; }
  .shown-gains :is(th, td) { padding-right: var(--s1); }
}
.shown-gains tbody th { overflow-wrap: break-word; }
.shown-gains :is(th, td).number { padding-left: var(--s2); white-space: normal; }
.shown-gains abbr { text-decoration: none; }
.share-chart { margin: var(--s4) 0; gap: var(--s2); }
.share-chart > * { padding: .35rem .7rem; }
.compare-head { display: flex; flex-wrap: wrap; align-items: end; gap: var(--s3) var(--s5); margin-bottom: var(--s4); }
.compare-head > * { margin: 0; }
.compare-head form { flex: 1 1 20rem; }
.chosen .out { display: inline-block; min-width: 1.5rem; font-size: var(--large); line-height: 1.5rem; text-align: center; text-decoration: none; }
.facts-line a, .numbers p a { display: inline-block; padding: .15rem 0; }
.numbers table { width: auto; min-width: min(100%, 32rem); }
details > summary { padding: .15rem 0; }
.embed-page { display: grid; gap: var(--s5) var(--s6); grid-template-columns: minmax(13rem, 17rem) minmax(0, 1fr); margin-top: var(--s4); }
@media (max-width: 48rem) {
  .embed-page { grid-template-columns: minmax(0, 1fr); }
  #embed-options { display: grid; gap: 0 var(--s3); grid-template-columns: repeat(2, minmax(0, 1fr)); align-items: end; }
}
.embed-page select, .embed-page input { width: 100%; display: block; }
.embed-page h2 { margin-top: 0; }
.embed-preview { display: flex; flex-wrap: wrap; gap: var(--s2); align-items: center; min-height: 4rem; margin: 0 0 var(--s4); }
.embed-preview img { max-width: 100%; height: auto; }
.embed-preview img[height="20"] { height: 20px; }
.snippet .apart { min-height: 1.75rem; align-items: center; }
.snippet button { min-height: 1.5rem; padding: 0 var(--s2); }
.snippet pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.snippet pre code { overflow-wrap: anywhere; }
@media (max-width: 22rem) { .tile > svg { display: none; } }
@media (max-width: 60rem) { .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
@media (max-width: 34rem) {
  .plot .plot-box { aspect-ratio: 358 / 280; }
  .growth :is(th, td) { padding-right: var(--s2); }
  .growth tbody { font-size: .875rem; }
  /* Events and the chart come before actions. */
  .repository { display: flex; flex-direction: column; }
  .repository > * { order: 3; }
  .similar :is(th, td) { padding-right: var(--s2); overflow-wrap: anywhere; }
  .repository > .repository-top { display: contents; }
  .repository > .note, .repository-head, .repository > .lead { order: 0; margin-bottom: var(--s2); }
  .repository > .lead { font-size: var(--body); }
  .repository > .repository-lead { display: contents; }
  .headline, .tiles, .repository > #course { order: 1; }
  .repository > .repository-lead > .proof { order: 2; margin-top: var(--s2); }
  main .repository > #course { margin-top: 0; }
  .repository > :is(.facts-line, .tags), .repository-actions { order: 2; margin-top: var(--s3); }
  #course { display: flex; flex-direction: column; }
  #course > .chart-controls { order: 1; margin-bottom: var(--s2); }
  #course > .chart-foot { order: 2; }
  .tile { padding: var(--s1) var(--s2); }
  .tiles { gap: var(--s2); }
  .tile > svg { width: 3.5rem; height: 1.75rem; }
  .headline { font-size: var(--large); margin-bottom: var(--s3); }
  .events > li { grid-template-columns: 5.5rem minmax(0, 1fr); }
  .plot-wide { display: none; }
  .plot-narrow { display: block; }
}
@media (forced-colors: active) {
  .tile[aria-current] { outline: 2px solid Highlight; }
  .plot, .plot-legend, .line-mark { --chart-bg: Canvas; --chart-grid: GrayText; --chart-text: CanvasText; --chart-muted: CanvasText;
    --chart-line-1: CanvasText; --chart-line-2: CanvasText; --chart-line-3: CanvasText; --chart-line-4: CanvasText;
    --chart-line-5: CanvasText; --chart-line-6: CanvasText; }
  .plot-box svg, .plot-legend svg, .plot-tip svg, .line-mark { forced-color-adjust: none; }
  .plot-dot { background: Highlight; forced-color-adjust: none; }
  .plot-selection { background: none; border-color: Highlight; border-width: 1px; }
}
@media print {
  .chart-controls, .chart-dates { display: none; }
  .plot { break-inside: avoid; }
}
`;
