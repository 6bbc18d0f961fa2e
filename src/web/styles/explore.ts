/** Lists with filters, tables of languages and topics, and texts with a table of contents. */
export const EXPLORE = `
.beside { display: grid; gap: var(--s5) var(--s6); grid-template-columns: minmax(0, 1fr); }
.beside > * { min-width: 0; }
.strip { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); margin-bottom: var(--s4); border-bottom: 1px solid var(--line); }
.strip a { color: var(--soft); text-decoration: none; padding: var(--s1) 0; border-bottom: 2px solid transparent; margin-bottom: -1px; }
.strip a:hover { color: var(--ink); }
.strip a[aria-current] { color: var(--ink); font-weight: 500; border-bottom-color: var(--star); }
h2.count { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 var(--s3); font-size: var(--large); margin: 0; }
p.ways { margin-top: var(--s4); }
.ways a { display: inline-block; padding: .15rem 0; }
h2.count small { font: var(--small)/1.5 var(--sans); color: var(--soft); }
.beside section + section, .beside .read > section { margin-top: var(--s6); }
.beside .tags { margin-top: var(--s3); }
nav.choices { display: grid; align-items: end; gap: var(--s4) var(--s5); margin-bottom: var(--s4); }
nav.choices section, nav.choices section + section { margin: 0; }
nav.choices h2 { font: 500 var(--small)/1.5 var(--sans); color: var(--soft); margin: 0; }
nav.choices ul { list-style: none; margin: 0; padding: 0; }
nav.choices a { display: flex; justify-content: space-between; gap: var(--s2); padding: .1rem var(--s2); margin: 0 calc(-1 * var(--s2)); min-height: 1.625rem;
  border-radius: var(--round); color: inherit; text-decoration: none; }
nav.choices a > span:first-child { min-width: 0; overflow-wrap: anywhere; }
nav.choices a > .soft { font-size: var(--small); line-height: 1.7; }
nav.choices a:hover { background: var(--sunk); }
nav.choices a[aria-current] { background: var(--bar); font-weight: 500; }
nav.choices a[aria-current] > .soft { color: inherit; }
nav.choices summary, .exact > summary { color: var(--link); font-size: var(--small); padding: .2rem 0; }
.exact { border-top: 1px solid var(--line); padding-top: var(--s2); }
.exact > summary { margin-bottom: var(--s2); }
.exact .field > label, .exact legend { font-size: var(--small); }
.exact input:not([type="checkbox"]), .exact select { width: 100%; }
.exact label:has(> input) { display: flex; align-items: baseline; color: inherit; font-size: inherit; padding: .15rem 0; overflow-wrap: anywhere; }
.exact label > input[type="checkbox"] { flex: none; display: block; width: 1rem; }
.exact :is(input, select) { scroll-margin-bottom: 4rem; }
.apply { position: sticky; bottom: 0; margin: 0; padding: var(--s2) 0; background: var(--paper); border-top: 1px solid var(--line); }
.sort-bar { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 0 var(--s4); margin-bottom: var(--s4); border-bottom: 1px solid var(--line); }
.sort-bar .strip { margin: 0; border: 0; flex: 1 1 auto; }
.sort-menu { position: relative; }
.sort-menu > summary { list-style: none; color: var(--soft); padding: var(--s1) 0; border-bottom: 2px solid transparent; margin-bottom: -1px; }
.sort-menu > summary::-webkit-details-marker { display: none; }
.sort-menu > summary::after { content: " ▾"; }
.sort-menu > summary:hover { color: var(--ink); }
.sort-menu > summary.current { color: var(--ink); font-weight: 500; border-bottom-color: var(--star); }
.sort-menu > nav { position: absolute; right: 0; top: 100%; z-index: 7; min-width: 12rem; padding: var(--s2) 0; background: var(--card);
  border: 1px solid var(--edge); border-radius: var(--round); box-shadow: 0 .5rem 1.5rem rgb(0 0 0 / .18); }
.sort-menu a { display: block; padding: var(--s1) var(--s4); color: var(--ink); text-decoration: none; }
.sort-menu a:hover { background: var(--sunk); }
.sort-menu a[aria-current] { background: var(--bar); font-weight: 500; }
.sort-menu .direction { border-top: 1px solid var(--line); margin-top: var(--s2); padding-top: var(--s2); }
.no-matches ul { margin-bottom: var(--s3); }
.pair { display: flex; flex-wrap: wrap; gap: 0 var(--s3); }
.pair > * { flex: 1 1 6rem; }
fieldset > .pair .field { margin-bottom: 0; }
.pair > label { padding: .15rem 0; flex-basis: 100%; }
.dot { display: inline-block; flex: none; width: .65em; height: .65em; margin-right: .4em; }
/* Languages and topics: a story, cards, and the page of one. */
.facet-lead { display: grid; grid-template-columns: minmax(0, 1fr) 26.25rem 18.75rem; gap: var(--s6); padding: var(--s5); align-items: end; }
.facet-lead > * { min-width: 0; }
.facet-lead p { margin: 0; }
.facet-lead .record { color: var(--star); font-weight: 600; }
.facet-lead > :first-child { display: grid; gap: var(--s2); }
.facet-lead h2 { margin: 0; font-size: var(--display); overflow-wrap: anywhere; }
.facet-lead .times { vertical-align: middle; letter-spacing: 0; font-family: var(--sans); }
.facet-cards { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: var(--s5); margin: var(--s5) 0; padding: 0; list-style: none; }
.facet-cards > li { display: flex; flex-direction: column; min-height: 18rem; padding: 18px 22px 14px; }
.facet-cards p { margin: 0; }
.facet-cards > li > :last-child { margin-top: auto; padding-top: var(--s2); border-top: 1px solid var(--line); }
.facet-head { display: flex; gap: var(--s2); justify-content: space-between; align-items: baseline; margin-bottom: 10px; }
.facet-head h2 { margin: 0; font-size: var(--head); min-width: 0; overflow-wrap: anywhere; }
:is(.facet-head, .facet-lead) h2 a { color: inherit; text-decoration: none; }
:is(.facet-head, .facet-lead) h2 a:hover { text-decoration: underline; }
.facet-head p { display: flex; flex-wrap: wrap; gap: 0 var(--s2); align-items: center; justify-content: end; text-align: right; }
.facet-head b:not(.times) { font: 600 var(--head)/1.2 var(--serif); white-space: nowrap; }
.facet-head .counted { font-family: var(--sans); font-weight: 400; }
.facet-cards .days { width: 100%; height: 4rem; margin-bottom: 10px; }
:is(.facet-cards, .facet-lead) .side li { height: 2rem; border: 0; }
.facet-cards .side { margin: var(--s2) 0; }
.shares { width: 100%; height: 6px; border-radius: 3px; overflow: hidden; fill: var(--line); }
.share-1 { fill: var(--chart-1); }
.share-2 { fill: var(--past); }
.share-3 { fill: var(--edge); }
.facets .title { width: 50%; overflow-wrap: anywhere; }
.facets .title a { font-weight: 500; text-decoration: none; }
.facets .title a:hover { text-decoration: underline; }
.facets .number { padding-left: var(--s4); }
.facets abbr, .rank abbr { text-decoration: none; }
.crumb { margin: 0; }
.grown { display: grid; grid-template-columns: minmax(0, 1fr) 24rem; gap: var(--s5); margin-bottom: var(--s5); }
.grown:has(> :only-child) { grid-template-columns: minmax(0, 1fr); }
.grown > .card { margin: 0; padding: var(--s4) var(--s5) var(--s2); min-width: 0; }
.grown h2 { margin: 0; }
.grown h2 + p { margin: 0 0 var(--s2); }
.made li { display: grid; grid-template: auto 8px / 2rem minmax(0, 1fr) auto; gap: 0 var(--s3); align-content: center; height: 4rem; border-top: 1px solid var(--line); border-bottom: 0; }
.made .owner-image { grid-row: 1 / 3; }
.made svg { grid-column: 2 / 4; width: 100%; height: 8px; }
.near { display: flex; flex-wrap: wrap; gap: var(--s2); align-items: center; margin-top: var(--s5); }
@media (min-width: 46.01rem) { .grown .plot-box { aspect-ratio: 744 / 348; } }
@media (max-width: 68rem) {
  .facet-lead, .grown { grid-template-columns: minmax(0, 1fr); }
  .facet-cards { grid-template-columns: repeat(2, minmax(0, 1fr)); }
}
@media (max-width: 46rem) {
  .facet-lead { gap: var(--s4); padding: var(--s4); }
  .facet-cards { grid-template-columns: minmax(0, 1fr); gap: var(--s3); margin: var(--s3) 0; }
  .facet-cards > li, .grown > .card { padding: var(--s4); }
  .grown { gap: var(--s3); }
}
.row + .strip, .row + p, .apart + p, table + p, .scroll + p { margin-top: var(--s4); }
.contents ul { list-style: none; padding: 0; margin: 0; }
.contents a { display: block; padding: .15rem 0; text-decoration: none; }
.contents a:hover { text-decoration: underline; }
.contents .headings { font-size: var(--small); border-top: 1px solid var(--line); margin: var(--s3) 0 0; padding-top: var(--s3); }
.headings a { overflow-wrap: anywhere; font-weight: 600; }
.headings .deeper a { font-weight: 400; padding-left: var(--s5); text-indent: calc(-1 * var(--s3)); }
.contents [aria-current] { font-weight: 600; }
.docs article > :is(h2, h3) { margin-top: var(--s6); scroll-margin-top: var(--s4); }
.docs article > h3 { font-size: 1.05rem; margin-top: var(--s5); }
.docs h3 + h3 { margin-top: var(--s2); }
.docs th { white-space: nowrap; text-align: left; }
.docs :target { background: var(--note); }
.docs pre { max-height: 28rem; }
.exchange > :first-child { white-space: pre-wrap; }
.exchange > :first-child code { overflow-wrap: anywhere; }
.docs tbody th { vertical-align: top; font-weight: 400; }
.forge { color: var(--soft); font-size: var(--small); }
.pager a, .exact .row a { display: inline-block; padding: var(--s1) 0; }
dfn { font-style: italic; }
@media (min-width: 58rem) {
  .exchange { display: grid; gap: var(--s3); grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); align-items: start; }
  .beside { grid-template-columns: 15rem minmax(0, 1fr); }
  .contents { position: sticky; top: var(--s4); align-self: start; max-height: calc(100vh - 2 * var(--s4)); overflow-y: auto; }
  @supports selector(::details-content) {
    .filters > summary, .contents summary { display: none; }
    .filters::details-content, .contents > details::details-content { content-visibility: visible; display: block; }
  }
}
@media (max-width: 34rem) { .list :is(th, td):has(+ .spare:last-child) { padding-right: 0; } }
@media (max-width: 26rem) { .facets .number { padding-left: 0; } .facets .rank { width: 1.5rem; } }
@media (max-width: 58rem) {
  .filters > .choices { margin-top: var(--s3); grid-template-columns: repeat(auto-fill, minmax(min(100%, 12rem), 1fr)); }
  .sort-menu > nav { right: auto; left: 0; }
}
`;
