/** Shared components. */
export const PARTS = `
.soft { color: var(--soft); }
.small { font-size: var(--small); }
.number { text-align: right; white-space: nowrap; }
.rise { color: var(--rise); }
.fall { color: var(--fall); }
.lead { font-size: var(--large); color: var(--soft); max-width: 56rem; margin-bottom: var(--s5); }
.lead time { white-space: nowrap; }
.read { max-width: var(--read); }
.scroll { overflow-x: auto; position: relative; }
.note { background: var(--note); border-left: 3px solid var(--star); border-radius: 0 var(--round) var(--round) 0; padding: var(--s3) var(--s4); margin: 0 0 var(--s5); }
.facts-line + .note { margin-top: var(--s4); }
.note > :last-child { margin-bottom: 0; }
.note.wrong { border-left-color: var(--fall); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: var(--round); padding: var(--s4); }
.card > :first-child { margin-top: 0; }
.card > :last-child { margin-bottom: 0; }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s2) var(--s4); }
.apart { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: var(--s1) var(--s4); }
.apart > h2 { margin-bottom: var(--s2); }
.grid { display: grid; gap: var(--s5) var(--s6); grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); }
.grid > * { min-width: 0; }
.facts { display: flex; flex-wrap: wrap; gap: var(--s3) var(--s6); margin: 0 0 var(--s4); padding: 0; }
.facts > div { min-width: 6rem; }
.facts dt { color: var(--soft); font-size: var(--small); }
.facts dd { margin: 0; font-size: var(--title); line-height: 1.25; }
.facts dd small { display: block; font-size: var(--small); }
.language { white-space: nowrap; color: var(--soft); font-size: var(--small); }
.tags { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s2); margin: 0 0 var(--s3); padding: 0; list-style: none; }
.tags li { max-width: 100%; }
.tags a { overflow-wrap: anywhere; display: block; padding: .1rem var(--s2); border: 1px solid var(--line); border-radius: 1rem; font-size: var(--small); text-decoration: none; background: var(--card); }
.tags a:hover { border-color: var(--edge); }
.badge { display: inline-block; padding: 0 .5em; border: 1px solid var(--edge); border-radius: 1rem; font-size: var(--small); color: var(--soft); white-space: nowrap; }
.badge.caution { border-color: var(--star); color: var(--star); }
.list td { padding-top: .4rem; padding-bottom: .4rem; }
.list .rank { color: var(--soft); width: 2.25rem; text-align: right; padding-right: var(--s3); }
.list .name { width: 99%; max-width: 0; }
/* Its columns have their widths before its rows have arrived, so that nothing moves while the page loads. */
.list.short { table-layout: fixed; }
.short .name { width: auto; max-width: none; }
.short col.rank { width: 2.25rem; }
.short col.spark-column { width: 6.75rem; }
.short col.count { width: 4.25rem; }
.short col.gain { width: 5.5rem; }
.short col.action { width: 2.25rem; }
.list .name > div { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.list .name a { font-weight: 500; text-decoration: none; }
.list .name a:hover { text-decoration: underline; }
.list .name > .named { display: flex; align-items: baseline; gap: var(--s2); }
.named > a, .list .about a { line-height: 1.5rem; }
.list .about a { display: inline-block; }
.named > a { min-width: 0; overflow: hidden; text-overflow: ellipsis; }
.named > .badge { flex: none; }
.list .about > span { margin-right: var(--s2); }
.counted { display: block; color: var(--soft); font-size: var(--small); }
.list .about { color: var(--soft); font-size: var(--small); }
.list tbody tr:hover { background: color-mix(in srgb, var(--bar) 35%, transparent); }
.spark { width: 6rem; height: 1.5rem; }
.spark polyline { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
.spark .chart-1 { stroke: var(--chart-1); }
.spark .still-held { stroke-dasharray: .1 3; stroke-linecap: round; }
.spark .chart-end { fill: var(--chart-1); }
td.spark-cell { padding-top: 0; padding-bottom: 0; vertical-align: middle; width: 6.75rem; }
.bars { margin: 0; padding: 0; list-style: none; }
.bars li { display: grid; grid-template-columns: 1fr auto auto; gap: 0 var(--s3); align-items: center; padding: .3rem 0; border-bottom: 1px solid var(--line); }
.bars li:last-child { border-bottom: 0; }
.bars svg { grid-column: 1 / -1; width: 100%; height: 3px; margin-top: .2rem; }
.bars rect { fill: var(--chart-1); opacity: .55; }
.tabs { display: inline-flex; border: 1px solid var(--edge); border-radius: var(--round); overflow: hidden; background: var(--card); }
.tabs a { padding: .2rem .75rem; color: var(--soft); text-decoration: none; border-left: 1px solid var(--line); }
.tabs a:first-child { border-left: 0; }
.tabs a:hover { color: var(--ink); }
.tabs a[aria-current] { background: var(--bar); color: var(--ink); font-weight: 500; }
.tabs a:focus-visible { outline-offset: -3px; }
.pager { display: flex; gap: var(--s4); align-items: baseline; margin-top: var(--s4); }
input, select, textarea, button, .button { font: inherit; color: inherit; }
input, select, textarea { background: var(--card); border: 1px solid var(--edge); border-radius: var(--round); padding: .35rem .6rem; min-height: 2.25rem; max-width: 100%; }
input[type="checkbox"], input[type="radio"] { min-height: 0; width: 1rem; height: 1rem; padding: 0; accent-color: var(--press); vertical-align: -.15em; margin: 0 .4em 0 0; }
input::placeholder { color: var(--soft); opacity: 1; }
button, .button { display: inline-block; padding: .35rem .9rem; min-height: 2.25rem; border: 1px solid var(--edge); border-radius: var(--round); background: var(--card); cursor: pointer; text-decoration: none; line-height: 1.5; }
button:hover, .button:hover { border-color: var(--link); }
button.press, .button.press { background: var(--press); border-color: var(--press); color: var(--on-press); font-weight: 500; }
button.danger { color: var(--fall); border-color: var(--fall); }
button.plain { border: 0; background: none; padding: 0; min-height: 0; color: var(--link); text-decoration: underline; }
label { display: block; }
.field { margin: 0 0 var(--s3); }
.field > label, fieldset > legend { color: var(--soft); font-size: var(--small); margin-bottom: .15rem; padding: 0; }
.field .wrong { color: var(--fall); font-size: var(--small); }
fieldset { border: 0; padding: 0; margin: 0 0 var(--s3); min-width: 0; }
form.inline { display: inline; }
#suggestions { position: absolute; left: 0; right: 0; top: calc(100% + .3rem); z-index: 9; max-height: 70vh; overflow-y: auto; padding: var(--s2) 0;
  background: var(--card); border: 1px solid var(--edge); border-radius: var(--round); box-shadow: 0 .5rem 1.5rem rgb(0 0 0 / .18); }
#suggestions .group { padding: var(--s1) var(--s3); color: var(--soft); font-size: var(--small); }
#suggestions a { display: flex; justify-content: space-between; gap: var(--s3); padding: var(--s1) var(--s3); color: inherit; text-decoration: none; }
#suggestions a span:first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
#suggestions a span:last-child { white-space: nowrap; }
#suggestions a:hover, #suggestions a[aria-selected="true"] { background: var(--bar); }
#suggestions a[aria-selected="true"] { outline: 2px solid var(--link); outline-offset: -2px; }
@media (max-width: 46rem) { .roomy { display: none; } .facts { gap: var(--s3) var(--s5); } }
@media (max-width: 34rem) {
  .spare { display: none; }
  .short col.rank { width: 1.75rem; }
  .short col.count { width: 3.5rem; }
  .short col.gain { width: 4.75rem; }
  .short col.action { width: 2rem; }
  .counted { white-space: normal; }
  .about > .badge { font-size: .6875rem; padding: 0 .35em; }
  .list.short .rank { padding-right: var(--s2); }
}
`;
