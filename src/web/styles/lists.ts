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
.repositories thead th { padding-top: var(--s1); padding-bottom: var(--s1); vertical-align: bottom; }
.facet-gains { max-width: var(--read); }
.facet-gains .bars li { grid-template-columns: minmax(0, 1fr) auto; }
.facet-gains .bars li > svg { height: 6px; }
.sorted { font-size: .625rem; margin-left: .3em; }
.counted { display: block; color: var(--soft); font-size: var(--small); }
.repositories .name { width: 99%; max-width: 0; }
.repositories tbody .name { overflow-wrap: anywhere; }
.repositories .named > a:first-child { text-decoration: none; line-height: 1.35; }
.repositories .named > a:first-child:hover .title { text-decoration: underline; }
.named .owner { color: var(--soft); line-height: 1.5rem; }
.named .owner-image { margin-right: .35em; vertical-align: middle; }
.named .title { font-weight: 600; margin-right: var(--s1); }
.named .badge { margin-left: var(--s1); }
.repositories .about { color: var(--soft); font-size: var(--small); overflow: hidden; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; }
.repositories .about a { display: inline-block; line-height: 1.5rem; }
.repositories .language { white-space: inherit; }
.repositories .about > span { margin-right: var(--s2); }
.why { position: relative; margin: 0; color: var(--soft); font-size: var(--small); }
.why p { margin: 0; }
.why > summary { width: fit-content; min-height: 1.5rem; padding: 0; }
.list tr.group th { padding-top: var(--s4); color: var(--soft); font-size: var(--small); }
.why a { color: inherit; text-decoration-color: var(--edge); display: inline-block; line-height: 1.5rem; }
.stale :is(.of-count, .of-gain) { color: var(--soft); }
.spark { width: 6rem; height: 1.5rem; }
.spark polyline, .spark line { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
.spark .chart-1 { stroke: var(--chart-1); }
.spark .chart-end { fill: var(--chart-1); }
.spark.none line { stroke: var(--edge); stroke-dasharray: 2 4; }
.spark-cell { width: 6.75rem; }
td.spark-cell { padding-top: 0; padding-bottom: 0; vertical-align: middle; }
.list .hidden { margin-left: -1px; }
.list .rank small { display: block; font-size: .6875rem; line-height: 1; }
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
  .repositories tr { display: grid; grid-template: "rank name gain action" auto "rank name count action" 1fr / 1.75rem 1fr auto auto; border-bottom: 1px solid var(--line); }
  .repositories.unranked tr { grid-template-columns: 0 1fr auto auto; }
  .repositories tr.group { display: block; }
  .repositories thead tr { grid-template: "name gain count action" auto / 1fr auto auto auto; }
  .repositories tr > * { border: 0; }
  .repositories thead :is(.rank, .name) { position: absolute; clip-path: inset(50%); }
  .repositories .rank { grid-area: rank; padding-right: 0; text-align: left; width: auto; white-space: nowrap; }
  .repositories tr > .name { grid-area: name; width: auto; max-width: none; padding-bottom: 0; }
  .repositories .spare { display: none; }
  .named .owner { font-size: var(--small); }
  .repositories .spark-cell { display: none; }
  .repositories .of-count { grid-area: count; }
  .repositories .of-gain { grid-area: gain; white-space: normal; }
  .repositories .of-gain .counted { white-space: normal; }
  .repositories .action { grid-area: action; }
}
`;
