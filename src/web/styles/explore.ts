/** Lists with filters, tables of languages and topics, and texts with a table of contents. */
export const EXPLORE = `
.beside { display: grid; gap: var(--s5) var(--s6); grid-template-columns: minmax(0, 1fr); }
.beside > * { min-width: 0; }
.strip { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); margin-bottom: var(--s4); border-bottom: 1px solid var(--line); }
.strip a { color: var(--soft); text-decoration: none; padding: var(--s1) 0; border-bottom: 2px solid transparent; margin-bottom: -1px; }
.strip a:hover { color: var(--ink); }
.strip a[aria-current] { color: var(--ink); font-weight: 500; border-bottom-color: var(--star); }
.count { font-size: var(--large); margin: 0; }
.ways a { display: inline-block; padding: .15rem 0; }
.count small { font: var(--small)/1.5 var(--sans); color: var(--soft); margin-left: var(--s3); white-space: nowrap; }
.beside section + section, .beside .read > section { margin-top: var(--s6); }
.beside .tags { margin-top: var(--s3); }
.filters .field > label, .filters legend { font-size: var(--small); }
.filters input:not([type="checkbox"]), .filters select { width: 100%; }
.filters .field input[type="checkbox"] { width: 1rem; display: inline-block; }
.filters .field > label:has(input) { color: inherit; font-size: inherit; padding: .1rem 0; }
.pair { display: flex; flex-wrap: wrap; gap: 0 var(--s3); }
.pair > * { flex: 1 1 6rem; }
fieldset > .pair .field { margin-bottom: 0; }
.pair > label { padding: .15rem 0; flex-basis: 100%; }
.title .dot, h1 .dot, .language .dot { display: inline-block; width: .65em; height: .65em; margin-right: .4em; }
.facets .title { width: 45%; }
.facets .title a { font-weight: 500; text-decoration: none; }
.facets .title a:hover { text-decoration: underline; }
.facets .number { padding-left: var(--s4); }
.facets .bar { width: 35%; vertical-align: middle; }
.facets .bar svg { width: 100%; height: 6px; }
.facets .bar rect { fill: var(--chart-1); opacity: .55; }
.facets abbr, .rank abbr { text-decoration: none; }
.row + .strip, .row + p, .apart + p, table + p, .scroll + p { margin-top: var(--s4); }
.contents ul { list-style: none; padding: 0; margin: 0; }
.contents a { display: block; padding: .15rem 0; text-decoration: none; }
.contents a:hover { text-decoration: underline; }
.contents ul ul { font-size: var(--small); margin: 0 0 var(--s2); }
.contents ul ul a { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.method { display: inline-block; width: 4.2rem; font: 600 .75rem/1.5 var(--mono); color: var(--soft); }
.operation { border-bottom: 1px solid var(--line); padding: var(--s2) 0; scroll-margin-top: var(--s4); }
.operation > summary { padding: var(--s1) 0; }
.operation > :not(summary) { margin-left: var(--s4); }
.operation .fields { font-size: var(--small); }
.operation th { white-space: nowrap; }
.operation tbody th { padding-right: var(--s4); }
.codes > div { border-bottom: 1px solid var(--line); padding: var(--s2); scroll-margin-top: var(--s4); }
.codes > :target { background: var(--note); }
.codes dd { margin: var(--s1) 0 0; }
.forge { color: var(--soft); font-size: var(--small); }
.pager a, .filters .row a { display: inline-block; padding: var(--s1) 0; }
.tight { width: auto; }
.tight code { white-space: nowrap; }
.tight :is(th, td) { padding-right: var(--s5); }
dfn { font-style: italic; }
tfoot :is(th, td) { border-top: 1px solid var(--edge); }
@media (min-width: 58rem) {
  .beside { grid-template-columns: 15rem minmax(0, 1fr); }
  .contents { position: sticky; top: var(--s4); align-self: start; max-height: calc(100vh - 2 * var(--s4)); overflow-y: auto; }
  @supports selector(::details-content) {
    .filters > summary { display: none; }
    .filters::details-content { content-visibility: visible; display: block; }
  }
}
@media (max-width: 34rem) { .list :is(th, td):has(+ .spare:last-child) { padding-right: 0; } }
@media (max-width: 26rem) { .facets .number { padding-left: 0; } .facets .title { overflow-wrap: anywhere; } .facets .rank { width: 1.5rem; } }
@media (max-width: 46rem) { .contents .roomy { display: none; } .filters > form { margin-top: var(--s3); } }
`;
