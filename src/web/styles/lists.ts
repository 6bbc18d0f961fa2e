/** Lists of repositories and of languages and topics, with their badges. */
export const LISTS = `
.badge { display: inline-block; padding: 0 .5em; border: 1px solid var(--edge); border-radius: 1rem; font-size: var(--small); color: var(--soft); overflow-wrap: anywhere; }
.badge.caution { border-color: var(--star); color: var(--star); }
a.badge { text-decoration: none; line-height: 1.5rem; }
a.badge:hover { text-decoration: underline; }
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
.named { display: flex; flex-wrap: wrap; align-items: center; gap: 0 .6rem; line-height: 1.625rem; }
.named > a:first-child { min-width: 0; font-size: var(--large); }
.named .badge { line-height: 1.375rem; }
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
.places .here a { font-weight: 600; }
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
.list .hidden { margin-left: -1px; }
/* The first page: a story and two cards over rows and short lists, all on one grid. */
.front, .home { display: grid; grid-template-columns: minmax(0, 1fr) 23rem; gap: var(--s5); }
.front { margin-bottom: var(--s2); }
.cards { display: grid; gap: var(--s4); }
.yours { margin-bottom: var(--s5); }
.yours > .cards { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: var(--s5); }
.yours > .apart p { margin: 0; }
.story { display: grid; grid-template-columns: minmax(0, 1fr) 27rem; gap: var(--s5); padding: var(--s5); min-height: 22.25rem; }
.story > :first-child { display: flex; flex-direction: column; }
.story > :last-child { align-self: end; }
.story p { margin: var(--s2) 0 0; }
.story .hero { margin-top: var(--s4); }
.story .buttons { margin: auto 0 0; padding-top: var(--s3); }
.story-head { display: flex; gap: var(--s3); align-items: center; }
.story-head > :last-child, .story > * { min-width: 0; }
.story-head .place { width: 1.75rem; font-size: var(--title); text-align: center; }
.story-head h2 { margin: 0; font-size: var(--title); }
a:has(> .title) { min-width: 0; overflow-wrap: anywhere; text-decoration: none; }
a:hover > .title { text-decoration: underline; }
:is(h2, h3) .owner { font-weight: 400; }
.small-card { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s2); align-content: space-between; padding: var(--s4); }
.small-card:has(> .place) { grid-template-columns: 1.75rem minmax(0, 1fr); }
.small-card > .place { text-align: center; }
.small-card > :last-child { grid-column: -2; display: flex; gap: var(--s4); align-items: end; justify-content: space-between; }
.small-card h3 { display: flex; gap: var(--s2); align-items: center; margin: 0; font: 600 var(--large)/1.2 var(--sans); }
.small-card .about { margin-top: var(--s1); -webkit-line-clamp: 2; }
.small-card .days { width: 10.5rem; height: 3.5rem; flex: 0 1 auto; min-width: 0; }
.small-card > :last-child p { margin: 0; text-align: right; white-space: nowrap; line-height: 1.35; }
.small-card b > .rise { font-size: var(--head); }
.small-card small { display: block; font-size: var(--small); color: var(--soft); }
.home > * { min-width: 0; }
.home > section > .apart { padding-top: var(--s3); }
.home aside h2 { font-size: var(--large); line-height: 1.5rem; margin: 0; padding: var(--s3) 0 var(--s1); border-bottom: 1px solid var(--edge); }
.home aside h2 a { text-decoration: none; }
.home aside h2 a:hover { text-decoration: underline; }
.home aside section + section h2 { padding-top: var(--s5); }
.side { list-style: none; margin: 0; padding: 0; }
.side li { display: flex; gap: 10px; align-items: center; height: 2.25rem; border-bottom: 1px solid var(--line); }
.side li:last-child { border-bottom: 0; }
.side a:has(> .title) { display: flex; flex: 1; min-width: 0; line-height: 1.75rem; white-space: nowrap; }
.side a:has(> .title) > * { overflow: hidden; text-overflow: ellipsis; }
.side .owner { flex: 0 99 auto; min-width: 1.5em; }
.side .soft { font-size: var(--small); }
.side .times { min-width: 46px; text-align: center; }
.side .language { white-space: nowrap; min-width: 6.5rem; max-width: 70%; overflow: hidden; text-overflow: ellipsis; }
.side .language a { color: var(--ink); font-size: var(--body); line-height: 1.75rem; display: inline-block; }
.side svg:not(.dot) { flex: 1; height: 8px; min-width: 0; }
.side .language + svg + * { min-width: 4rem; text-align: right; font-weight: 600; white-space: nowrap; }
.milestone { width: 3rem; color: var(--star); font: 600 var(--large) var(--serif); }
/* A catalogue of one's own: all together, then each with its life. */
.row-form.add { flex: 0 1 27rem; flex-wrap: nowrap; margin: 0; }
.add label { position: absolute; clip-path: inset(50%); }
.add input { width: 100%; }
.totals { display: grid; grid-template-columns: minmax(0, 1fr) 35rem; gap: 2.5rem; align-items: center; padding: 1.25rem var(--s5) var(--s4); }
.totals .facts { justify-content: space-between; flex-wrap: nowrap; gap: var(--s3); margin: 0; }
:is(.totals, .own) .facts > div { min-width: 0; }
.totals .facts dd { font: 600 var(--display)/1.1 var(--serif); letter-spacing: -.01em; }
.totals dd small { font: 400 var(--small)/1.4 var(--sans); letter-spacing: 0; }
.totals dd:not(:has(small)) { padding-bottom: 18px; }
.totals .facts .record { color: var(--star); }
.own { list-style: none; display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: var(--s5); margin: var(--s5) 0 0; padding: 0; }
.own:has(> :last-child:nth-child(2)) { grid-template-columns: repeat(2, minmax(0, 1fr)); }
.own:has(> :only-child) { grid-template-columns: minmax(0, 1fr); }
.own > li { display: flex; flex-direction: column; min-height: 21.5rem; padding: 1.25rem 22px var(--s4); }
.own h2 { font: 600 var(--large)/1.3 var(--sans); margin: 0; }
.own .about { min-height: 1.25rem; margin: 2px 0 0; }
.own-now { display: flex; align-items: baseline; justify-content: space-between; margin: var(--s3) 0 var(--s1); }
.own-now b { font: 600 var(--display)/1.1 var(--serif); }
.own-now .rise, .own-now .fall { font-weight: 600; }
.own .facts { justify-content: space-between; gap: var(--s2); margin: auto 0 0; padding-top: var(--s3); border-top: 1px solid var(--line); }
.own .facts dd { font-size: var(--small); line-height: 1.45; }
.elsewhere { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: var(--s4); margin-top: var(--s6); padding-top: var(--s5); border-top: 1px solid var(--line); }
.elsewhere h2, .elsewhere p { margin: 0; }
.elsewhere > p { display: flex; flex-wrap: wrap; gap: var(--s2); }
@media (max-width: 68rem) {
  .front, .home, .totals { grid-template-columns: minmax(0, 1fr); }
  .front > .cards, .yours > .cards { grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
  .own { grid-template-columns: repeat(2, minmax(0, 1fr)); }
}
@media (max-width: 46rem) {
  .front, .cards, .yours > .cards, .own { gap: var(--s3); }
  .story, .own { grid-template-columns: minmax(0, 1fr); }
  .story { gap: var(--s4); padding: var(--s4); min-height: 0; }
  .story .buttons { display: none; }
  .story-head :is(h2, .place) { font-size: var(--head); }
  .story .hero { margin-top: var(--s3); }
  .small-card .days { width: 8.25rem; }
  .row-form.add { flex: 1 1 auto; }
  .totals { gap: var(--s4); padding: var(--s4); }
  .totals .facts { display: grid; grid-template-columns: 1fr 1fr; }
  .totals .facts dd { font-size: var(--title); padding: 0 !important; }
  .own { margin-top: var(--s3); }
  .own > li { padding: var(--s4); }
}
@media (max-width: 46rem) {
  .repositories, .repositories :is(thead, tbody) { display: block; }
  .repositories thead { position: absolute; clip-path: inset(50%); }
  .repositories tbody > tr { display: grid; grid-template: "place name gain" auto "place name usual" 1fr / 1.75rem minmax(0, 1fr) auto; gap: 0 var(--s2);
    height: auto; min-height: 5rem; padding: 7px 0; align-items: center; border-bottom: 1px solid var(--line); }
  .repositories.unranked tbody > tr { grid-template-columns: 0 minmax(0, 1fr) auto; }
  .repositories tbody > tr > * { border: 0; padding: 0; }
  .repositories .place { grid-area: place; width: auto; }
  .repositories .name { grid-area: name; width: auto; max-width: none; }
  .repositories .of-gain { grid-area: gain; min-width: 0; }
  .repositories .of-usual { grid-area: usual; }
  .repositories tr:not(:has(.times)) .of-gain { grid-row: 1 / 3; }
  .repositories :is(.of-days, .spare, .action, .language, .forge, .owner-image, .of-gain small) { display: none; }
  .row-name { display: block; }
  .named { max-height: none; line-height: 1.3; }
  .named .owner { font-size: var(--small); }
  .about { -webkit-line-clamp: 2; line-height: 1.35; }
}
@media (max-width: 24rem) { .repositories .about { -webkit-line-clamp: 1; } }
`;
