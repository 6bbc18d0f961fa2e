import { CHART_PAGE_STYLES } from "../../charts/charts.js";

/** Charts, and the pages of repositories. */
export const PLOTS = `
.plot, .course { --chart-grid: var(--line); --chart-text: var(--ink); --chart-muted: var(--soft); --chart-bg: var(--paper); }
.plot { margin: var(--s3) 0 var(--s2); }
.plot, .plot-legend, .course, .compared, .examples { --chart-line-1: var(--chart-1); --chart-line-2: var(--chart-2); --chart-line-3: var(--chart-3);
  --chart-line-4: var(--chart-4); --chart-line-5: var(--chart-5); --chart-line-6: var(--chart-6); }
${CHART_PAGE_STYLES}
.plot-box { position: relative; aspect-ratio: 1152 / 432; overflow: hidden; margin: 0; }
.plot-box > * { position: absolute; inset: 0; }
.plot-box svg { width: 100%; height: 100%; }
.plot-narrow { display: none; }
.plot-box.live { cursor: crosshair; touch-action: pan-y; user-select: none; overflow: visible; }
.plot-box:focus-visible { outline-offset: 0; }
.plot-empty { padding: var(--s5) 0; }
.plot-box.plot-empty { display: grid; place-items: center; background: var(--tint); border-radius: var(--round); }
.plot .unread { fill: var(--tint); }
.plot .record { fill: var(--star); }
.plot-legend { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s5); margin: var(--s2) 0 0; padding: 0; list-style: none; }
.plot-legend svg { display: inline-block; width: 26px; height: 12px; margin-right: var(--s2); }
.plot-box > :is(.plot-cursor, .plot-dot, .plot-tip, .plot-selection, .plot-cover) { inset: auto; pointer-events: none; }
.plot-cover { background: var(--tint); transform-origin: left; }
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
main > section:not(.scroll), #comparison > section + section { margin-top: var(--s6); }
.chart-foot { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s1) var(--s5); }
.chart-foot p, .chart-frame .chart-dates { margin: 0; }
.chart-frame .chart-foot summary:not(.button) { list-style: none; font-size: var(--body); color: var(--link); text-decoration: underline; }
.chart-frame .chart-foot summary::-webkit-details-marker { display: none; }
.chart-frame .menu:not(.chart-options) > summary::after { content: none; }
.chart-foot > :has(> details[open]:not(.menu)), .chart-foot > details[open]:not(.menu) { flex: 1 0 100%; }
.facts-line { margin: 0; padding: 0; list-style: none; gap: var(--s1) var(--s4); }
.headline { font: 600 var(--title)/1.25 var(--serif); letter-spacing: -.01em; margin: 0 0 1.25rem; text-wrap: pretty; }
.headline .soft { font-weight: 400; }
.headline small { font: var(--body)/1.5 var(--sans); letter-spacing: 0; }
.chart-frame { padding: 1.25rem var(--s5) 0; }
.chart-frame .plot { --chart-bg: var(--card); margin: 0; }
.chart-head { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: var(--s2) var(--s4); min-height: 3.25rem; margin-bottom: var(--s1); }
.chart-head .chart-controls { gap: var(--s2); }
.figure { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1.125rem; margin: 0; font-size: var(--large); font-weight: 600; }
.chart-frame .chart-foot { min-height: 3.75rem; margin: var(--s3) calc(-1 * var(--s5)) 0; padding: var(--s2) var(--s5); border-top: 1px solid var(--line); }
.pass-on, .reading .chart-foot > a { margin-left: auto; gap: var(--s2); }
.reading > svg { width: 100%; height: 3px; background: var(--line); }
.chart-frame .reading > svg { width: calc(100% + 2 * var(--s5)); margin: var(--s3) calc(-1 * var(--s5)) 0; }
.chart-frame .reading > .chart-foot { margin-top: 0; border: 0; min-height: calc(3.75rem - 3px); }
.tiles { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: var(--s4); margin-top: var(--s4); }
.tile { display: grid; grid-template: auto auto / 1fr auto; align-items: end; height: 5.25rem; padding: .875rem 1.25rem; color: inherit; text-decoration: none; }
a.tile:hover { border-color: var(--link); }
.tile[aria-current] { border-color: var(--link); background: var(--bar); }
.tile > span, .tile > small { color: var(--soft); font-size: var(--small); }
.tile > strong { grid-row: 2; font: 600 var(--title)/1.2 var(--serif); }
.tile > .record { color: var(--star); }
.tile > small { grid-area: 2 / 2; padding-bottom: 4px; }
.tile > svg { grid-area: 1 / 2 / 3 / 3; height: 2.25rem; }
.halves { display: grid; grid-template-columns: minmax(0, 7fr) minmax(0, 5fr); gap: var(--s5); margin-top: var(--s5); }
.halves > * { padding: 1.375rem var(--s5); }
.halves > :only-child { grid-column: 1 / -1; }
.halves h2 { margin: 0; }
.halves .say { margin: 6px 0 var(--s3); line-height: 1.5; }
.places-head { display: flex; justify-content: end; gap: var(--s5); }
.halves .places li { grid-template-columns: 1.25rem minmax(0, 12.5rem) minmax(2rem, 1fr) 4.5rem 4rem; gap: var(--s3); height: 2.75rem; border-top: 1px solid var(--line); }
.halves .places svg { height: 1.25rem; }
.events { list-style: none; margin: 10px 0 0; padding: 0; }
.events > li { position: relative; display: grid; grid-template-columns: 1.5rem 6rem minmax(0, 1fr); align-items: center; min-height: 2.5rem; }
.events > li::before { content: ""; z-index: 1; width: 11px; height: 11px; border: 2.5px solid var(--chart-1); border-radius: 50%; background: var(--card); }
.events > .now::before { background: var(--now); border-color: var(--now); }
.events > .quiet::before { border-color: var(--edge); }
.events > li:not(:last-child)::after { content: ""; position: absolute; left: 5px; top: calc(50% + 6px); height: calc(100% - 11px); border-left: 1px solid var(--edge); }
.kind { margin-top: var(--s6); }
.kin { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: var(--s5); margin: var(--s3) 0 0; padding: 0; list-style: none; }
.kin a { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 6px var(--s3); align-items: end; padding: var(--s4) 1.25rem; color: inherit; text-decoration: none; }
.kin a:hover { border-color: var(--link); }
.kin a > :nth-child(-n+2) { grid-column: 1 / -1; }
.kin .row-name { display: grid; grid-template-columns: 24px minmax(0, 1fr); gap: 10px; }
.kin .row-name > :last-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.kin .about { min-height: 1.25rem; }
.kin .life { max-width: 166px; }
.kin b { font: 600 var(--head)/1.2 var(--serif); }
.repository-facts { margin: var(--s5) 0; }
.repository-facts .tags { margin: 0; }
main > .chart-controls .chart-options { margin-left: auto; }
.chart-options > div { padding: var(--s3); display: grid; gap: var(--s3); }
.strong { font-weight: 600; }
.facts .words { font-size: var(--body); line-height: 1.75; }
.terms { margin-bottom: var(--s4); }
.share { width: 100%; max-width: 16rem; height: 3px; margin-top: .2rem; background: var(--line); }
.share rect { fill: var(--chart-1); }
.ranks { width: auto; min-width: min(100%, 22rem); }
.line-mark { display: inline-block; flex: none; width: 26px; height: 12px; }
.facts-line a, .numbers p a { display: inline-block; padding: .15rem 0; }
.numbers table { width: auto; min-width: min(100%, 32rem); }
details > summary { padding: .15rem 0; }
/* The panel with pictures: its choices next to the picture, which stays at its place whatever its shape is. */
.share-panel { display: grid; gap: var(--s5); grid-template-columns: minmax(0, 21rem) minmax(0, 1fr); }
.share-panel:not(:has(form)) { grid-template-columns: minmax(0, 48rem); }
.share-panel form { margin: 0; }
.share-panel .row { margin: 0 0 var(--s3); }
.share-panel :is(.field input, select) { width: 100%; display: block; }
.share-picture { display: flex; flex-wrap: wrap; gap: var(--s2); place-content: center; align-items: center; height: 26rem; margin: 0 0 var(--s3); padding: var(--s4); overflow: auto; background: var(--sunk); border-radius: var(--rounder); }
.share-picture[data-look="light"] { background: #f6f8fa; }
.share-picture[data-look="dark"] { background: #151b23; }
.share-picture img { max-width: 100%; max-height: 100%; width: auto; height: auto; }
.share-picture img[height="20"] { height: 20px; }
.share-picture + .buttons { flex-wrap: wrap; margin-bottom: var(--s3); }
.share-chart { margin-bottom: var(--s3); }
.share-chart > div { display: grid; gap: 0 var(--s3); grid-template-columns: repeat(2, minmax(0, 1fr)); margin-top: var(--s3); }
.radios { display: flex; flex-wrap: wrap; margin: 0 0 var(--s4); padding: 0; border: 1px solid var(--edge); border-radius: var(--round); overflow: hidden; background: var(--card); }
.radios label { flex: 1 0 auto; display: grid; place-items: center; height: calc(var(--control) - 2px); padding: 0 .5rem; color: var(--soft); cursor: pointer; border-left: 1px solid var(--line); }
.radios label:first-of-type { border-left: 0; }
.radios input { position: absolute; opacity: 0; min-height: 0; }
.radios label:has(:checked) { background: var(--bar); color: var(--ink); font-weight: 600; }
.radios label:has(:focus-visible) { outline: 2px solid var(--link); outline-offset: -3px; border-radius: var(--round); }
:root[data-scripts] .unscripted { display: none; }
.share-dialog { width: min(66rem, 100% - 2rem); max-width: none; max-height: calc(100dvh - 2rem); padding: var(--s5); overflow: auto; color: inherit; background: var(--paper); border: 1px solid var(--edge); border-radius: var(--rounder); }
.share-dialog::backdrop { background: rgb(0 0 0 / .4); }
.share-dialog > .apart { margin-bottom: var(--s3); }
@media (max-width: 48rem) {
  .share-panel { grid-template-columns: minmax(0, 1fr); gap: var(--s4); }
  .share-panel > form { display: contents; }
  .share-panel .radios { margin: 0; }
  #share-options { order: 1; display: grid; gap: var(--s3); }
  .share-picture { height: auto; min-height: 12rem; padding: var(--s3); }
  .share-dialog { padding: var(--s4); }
  .radios label { padding: 0 .25rem; }
}
.snippet .apart { min-height: 1.75rem; align-items: center; }
.snippet button { min-height: 1.5rem; padding: 0 var(--s2); }
.snippet pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.snippet pre code { overflow-wrap: anywhere; }
@media (max-width: 34rem) {
  .plot .plot-box { aspect-ratio: 342 / 320; }
  .plot-wide { display: none; }
  .plot-narrow { display: block; }
}
@media (max-width: 22rem) { .tile > :is(svg, small) { display: none; } }
@media (max-width: 60rem) {
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: var(--s3); margin-top: var(--s3); }
  .halves, .kin { grid-template-columns: minmax(0, 1fr); gap: var(--s3); margin-top: var(--s3); }
}
@media (max-width: 46rem) {
  .headline { font-size: var(--head); margin-bottom: var(--s3); }
  .chart-frame { --s5: .875rem; margin: 0 -6px; padding-top: .875rem; display: grid; grid-template-columns: minmax(0, 1fr); }
  .chart-frame > * { min-width: 0; }
  .chart-head { display: contents; }
  /* Room for the words that come with the history. */
  .repository-head + .chart-frame .figure { align-content: start; min-height: 4.75rem; }
  .figure > .rise { flex-basis: 100%; }
  .figure .rise { font-size: var(--body); }
  .chart-frame .plot { order: 1; margin-top: var(--s2); }
  .chart-frame .chart-controls { order: 2; margin-top: var(--s2); }
  .chart-frame > :is(.chart-foot, .reading) { order: 3; }
  .pass-on { margin-left: 0; }
  .tile { height: 4.5rem; padding: .625rem .875rem; }
  .tile > strong { font-size: var(--head); }
  .tile > svg { width: 3.5rem; }
  .halves > * { padding: var(--s4); }
  .halves .places li { grid-template-columns: 1rem minmax(0, 1fr) 4.375rem 3.5rem; gap: 0 10px; height: auto; padding: var(--s2) 0; }
  .halves .places svg { grid-area: 2 / 2 / 3 / 5; height: 1rem; }
  .halves .places .owner { display: none; }
  .events > li { grid-template-columns: 1.375rem 5.625rem minmax(0, 1fr); }
}
@media (forced-colors: active) {
  .tile[aria-current] { outline: 2px solid Highlight; }
  .plot, .plot-legend, .course, .line-mark, .examples { --tint: Canvas; --past: GrayText; --now: CanvasText; --star: CanvasText; --chart-bg: Canvas; --chart-grid: GrayText; --chart-text: CanvasText; --chart-muted: CanvasText;
    --chart-line-1: CanvasText; --chart-line-2: CanvasText; --chart-line-3: CanvasText; --chart-line-4: CanvasText;
    --chart-line-5: CanvasText; --chart-line-6: CanvasText; }
  .plot-box svg, .plot-legend svg, .plot-tip svg, .line-mark { forced-color-adjust: none; }
  .plot-dot { background: Highlight; forced-color-adjust: none; }
  .plot-selection { background: none; border-color: Highlight; border-width: 1px; }
}
@media print {
  .chart-frame { margin: 0; }
  .chart-controls, .chart-dates { display: none; }
  .plot { break-inside: avoid; }
}
`;
