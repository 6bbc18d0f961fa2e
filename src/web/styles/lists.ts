/** Lists of repositories and of languages and topics, with their badges. */
export const LISTS = `
.badge { display: inline-block; padding: 0 .5em; border: 1px solid var(--edge); border-radius: 1rem; font-size: var(--small); color: var(--soft); overflow-wrap: anywhere; }
.badge.caution { border-color: var(--star); color: var(--star); }
a.badge { text-decoration: none; line-height: 1.5rem; }
a.badge:hover { text-decoration: underline; }
.badge-reasons { margin: 0 0 var(--s4); padding: 0; list-style: none; }
.as-of.old { color: var(--star); }
.list td { padding-top: .3rem; padding-bottom: .3rem; }
.list .rank { color: var(--soft); width: 2.25rem; text-align: right; padding-right: var(--s3); }
.list tbody tr:hover { background: color-mix(in srgb, var(--bar) 35%, transparent); }
.list thead a { color: inherit; text-decoration-color: var(--edge); line-height: 1.5rem; display: inline-block; }
.list thead [aria-sort] { color: var(--ink); }
.sorted { font-size: .625rem; margin-left: .3em; }
.counted { display: block; color: var(--soft); font-size: var(--small); }
/* Rows are as high as in every list of repositories: a name, one line about it, and bars of 30 days. */
.repositories tbody > tr { height: 4rem; }
.repositories tbody > tr > * { padding: 0 var(--s3) 0 0; vertical-align: middle; }
.repositories thead th { padding: var(--s1) var(--s3) .4rem 0; vertical-align: bottom; }
.repositories .name { width: 99%; max-width: 0; }
.place { font: 600 var(--large)/1.2 var(--serif); }
.repositories .place { width: 2.5rem; text-align: center; }
.place small { display: block; font: 500 var(--tiny)/1.3 var(--sans); color: var(--soft); }
.place small.rise { color: var(--rise); }
.place small.fall { color: var(--fall); }
.place small.new { color: var(--star); }
.row-name { display: grid; grid-template-columns: 2rem minmax(0, 1fr); gap: var(--s3); align-items: center; }
.named { display: flex; flex-wrap: wrap; align-items: center; gap: 0 .6rem; line-height: 1.625rem; max-height: 1.625rem; overflow: hidden; }
.named > a:first-child { min-width: 0; font-size: var(--large); text-decoration: none; }
.named > a:first-child:hover .title { text-decoration: underline; }
.owner { color: var(--soft); }
.title { color: var(--ink); font-weight: 600; }
.about { margin: 0; color: var(--soft); font-size: var(--small); line-height: 1.5; overflow: hidden; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 1; }
.about.doubt { color: var(--star); }
.language a, .forge { color: inherit; text-decoration: none; font-size: var(--small); }
.language a:hover { text-decoration: underline; }
.of-usual { text-align: right; white-space: nowrap; }
.times { display: inline-block; padding: 0 .5rem; border-radius: .7rem; font-size: var(--small); font-weight: 600; line-height: 1.375rem; white-space: nowrap; color: var(--star); }
.times-1 { box-shadow: inset 0 0 0 1px var(--edge); }
.times-2 { background: var(--warm); }
.times-3 { background: var(--hot); color: var(--on-hot); }
.why { position: relative; }
.why > summary { list-style: none; min-height: 1.5rem; padding: 0; }
.why > summary::-webkit-details-marker { display: none; }
.why > summary::after { content: "⌄"; content: "⌄" / ""; color: var(--soft); }
.why > div { position: absolute; right: 0; top: 100%; z-index: 7; width: min(26rem, 100vw - 2rem); padding: var(--s3) var(--s4); text-align: left; white-space: normal;
  background: var(--card); border: 1px solid var(--edge); border-radius: var(--rounder); box-shadow: 0 .5rem 1.5rem rgb(0 0 0 / .18); }
.why p { margin: 0 0 var(--s2); }
.why p:last-child { margin: var(--s2) 0 0; }
.places { list-style: none; margin: 0; padding: 0; }
.places li { display: grid; grid-template-columns: 1.5rem minmax(0, 8rem) minmax(2rem, 1fr) auto 3.5rem; gap: var(--s2); align-items: center; padding: .2rem 0; }
.places a { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--ink); text-decoration: none; }
.places .own a { font-weight: 600; }
.places svg { width: 100%; height: .875rem; }
.places li > :nth-last-child(-n+2) { text-align: right; }
.days { width: 6rem; height: 2rem; }
.past { fill: var(--past); }
.now { fill: var(--now); }
.usual { fill: var(--edge); }
.days .base { stroke: var(--line); fill: none; }
[aria-current] > .days .past, .chosen .days .past { fill: var(--chart-1); }
.day-bars, .life { width: 100%; height: auto; font: var(--small) var(--sans); overflow: visible; }
:is(.day-bars, .life) text { fill: var(--soft); }
:is(.day-bars, .life) .record { fill: var(--star); font-weight: 600; }
:is(.day-bars, .life) .base { stroke: var(--edge); fill: none; }
.life path:not(.area) { fill: none; stroke-linejoin: round; stroke-linecap: round; }
.life .line { stroke: var(--chart-1); stroke-width: 3; }
.life .other { stroke: var(--edge); stroke-width: 2; }
.life .area { fill: var(--chart-1); opacity: .12; }
.life .flag { stroke: var(--now); stroke-width: 2; }
.life .peak { fill: var(--now); stroke: var(--card); stroke-width: 2; }
.life .end { fill: var(--chart-1); stroke: var(--card); stroke-width: 2; }
.of-days { width: 6.75rem; }
.repositories .of-gain { min-width: 5rem; line-height: 1.35; }
.of-gain b { font-size: var(--large); }
.of-gain small { display: block; color: var(--soft); font-size: var(--small); }
.of-gain small > span:not(:hover) { color: inherit; }
.stale .of-gain b, .stale .of-gain b * { color: var(--soft); }
.spark { width: 6rem; height: 1.5rem; }
.spark polyline { fill: none; stroke: var(--chart-1); stroke-width: 1.5; stroke-linejoin: round; }
.list .hidden { margin-left: -1px; }
.name-link { text-decoration: none; }
.name-link:hover .title { text-decoration: underline; }
.side { list-style: none; margin: 0; padding: 0; }
.side li { display: flex; gap: 10px; align-items: center; height: 2.25rem; border-bottom: 1px solid var(--line); }
.side li:last-child { border-bottom: 0; }
.side .name-link { display: flex; flex: 1; min-width: 0; line-height: 1.75rem; white-space: nowrap; }
.side .name-link > * { overflow: hidden; text-overflow: ellipsis; }
.side .owner { flex: 0 99 auto; min-width: 1.5em; }
.home { display: grid; gap: var(--s5) var(--s6); grid-template-columns: minmax(0, 1fr); }
.home > * { min-width: 0; }
.home aside h2 { font-size: var(--large); margin: 0 0 var(--s2); }
.home aside section + section { margin-top: var(--s5); }
.brief { list-style: none; margin: 0; padding: 0; }
.brief li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 var(--s3); padding: .3rem 0; border-bottom: 1px solid var(--line); }
.brief li:last-child { border-bottom: 0; }
.brief a { font-weight: 600; text-decoration: none; line-height: 1.5rem; }
.brief .small { grid-column: 1 / -1; overflow: hidden; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; }
@media (min-width: 64rem) { .home { grid-template-columns: minmax(0, 1fr) 22rem; } }
@media (max-width: 46rem) {
  .repositories, .repositories :is(thead, tbody) { display: block; }
  .repositories thead { position: absolute; clip-path: inset(50%); }
  .repositories tbody > tr { display: grid; grid-template: "place name gain" auto "place name usual" 1fr / 1.75rem minmax(0, 1fr) auto; gap: 0 var(--s2);
    height: auto; min-height: 5rem; padding: var(--s2) 0; align-items: center; border-bottom: 1px solid var(--line); }
  .repositories.unranked tbody > tr { grid-template-columns: 0 minmax(0, 1fr) auto; }
  .repositories tbody > tr > * { border: 0; padding: 0; }
  .repositories .place { grid-area: place; width: auto; }
  .repositories .name { grid-area: name; width: auto; max-width: none; }
  .repositories .of-gain { grid-area: gain; min-width: 0; }
  .repositories .of-usual { grid-area: usual; }
  .repositories tr:not(:has(.times)) .of-gain { grid-row: 1 / 3; }
  .repositories :is(.of-days, .spare, .action, .language, .forge, .owner-image, .of-gain small) { display: none; }
  .row-name { display: block; }
  .named { max-height: none; line-height: 1.4; }
  .named .owner { font-size: var(--small); }
  .about { -webkit-line-clamp: 2; }
}
`;
