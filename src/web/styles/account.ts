/** Forms, accounts and watchlists. */
export const ACCOUNT = `
.narrow { max-width: 36rem; }
main > .narrow:only-child { margin: 0 auto; }
.box { background: var(--card); border: 1px solid var(--line); border-radius: var(--round); padding: var(--s4) var(--s5); margin: 0 0 var(--s5); }
.box > :last-child { margin-bottom: 0; }
.box p.small { margin: var(--s3) 0 0; }
.field input, .field textarea { width: 100%; display: block; }
.field .wrong, .wrong p { margin: var(--s1) 0 0; }
[aria-invalid="true"] { border-color: var(--fall); }
.buttons { display: flex; flex-wrap: wrap; gap: var(--s3); align-items: center; margin: 0 0 var(--s4); }
.buttons form { margin: 0; }
.row-form { display: flex; flex-wrap: wrap; gap: var(--s2); align-items: end; max-width: 36rem; margin: 0 0 var(--s4); }
.row-form .field { flex: 1 1 14rem; margin: 0; }
.row-form:has(.wrong) { align-items: center; }
.nowrap, tbody th.nowrap, .actions, .plain time { white-space: nowrap; }
.actions > * { margin-right: var(--s3); vertical-align: top; }
.actions > a { display: inline-block; padding: .15rem 0; }
.plain { list-style: none; padding: 0; }
.plain > li { padding: var(--s1) 0; border-bottom: 1px solid var(--line); }
.plain > li:last-child { border-bottom: 0; }
.plain > li > a { display: inline-block; padding: .15rem 0; }
.profile > div { display: flex; flex-wrap: wrap; gap: 0 var(--s4); padding: var(--s2) 0; border-bottom: 1px solid var(--line); }
.profile dt { flex: 0 0 10rem; color: var(--soft); }
.profile dd { flex: 1 1 14rem; margin: 0; overflow-wrap: anywhere; }
.confirm { display: inline-block; }
.confirm > summary { color: var(--fall); text-decoration: underline; text-underline-offset: .18em; min-height: 1.5rem; }
.confirm[open] { display: block; border-left: 3px solid var(--fall); padding-left: var(--s3); white-space: normal; max-width: 24rem; }
.confirm form { margin: var(--s2) 0; }
.confirm p { margin: 0 0 var(--s2); }
.save { display: inline-flex; align-items: center; gap: .4em; }
.save svg, .star svg { width: 1.15em; height: 1.15em; fill: none; color: var(--star); }
.star.quiet svg { color: var(--soft); }
.save.saved svg, .star.saved svg { fill: currentColor; }
.save:disabled { cursor: not-allowed; color: var(--soft); }
.star { border: 0; background: none; padding: 0; min-height: 1.5rem; width: 1.75rem; display: inline-flex; align-items: center; justify-content: center; vertical-align: middle; }
.star:hover { background: var(--bar); }
.list td.action { width: 1.75rem; text-align: right; white-space: nowrap; }
/* A watchlist: all together, and rows to choose. */
.totals.short { padding-bottom: .75rem; }
.totals.short .facts dd { padding: 0; }
.card.totals.short .facts { display: flex; }
.mast > :first-child > p + p { margin: 2px 0 0; }
.mast:has(.row-form) > :first-child { flex: 1 1 24rem; }
.mast:has(.row-form) > :last-child:not(:first-child) { flex: 0 1 27rem; }
.mast > div > .row-form.add { flex: 1 1 100%; }
.toolbar { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s3); margin: var(--s5) 0 var(--s3); }
.toolbar output { min-width: 5rem; font-weight: 600; }
.toolbar > label, .choose label { display: grid; place-items: center; width: 2rem; height: 2rem; margin-left: var(--s2); }
.choice input { width: 18px; height: 18px; margin: 0; }
.toolbar > span:last-child { display: flex; align-items: center; gap: var(--s3); margin-left: auto; font-size: var(--small); color: var(--soft); }
.toolbar span > :is(.button, button) { font-size: var(--body); color: var(--ink); }
.watched thead th { height: 2rem; padding: 0 var(--s4) 0 0; }
.watched tbody > tr { height: 3.5rem; }
.watched tbody > tr > * { padding: 0 var(--s4) 0 0; vertical-align: middle; }
.watched .name { width: 99%; max-width: 0; }
.watched .row-name { grid-template-columns: 24px minmax(0, 1fr); gap: var(--s4); }
.watched .next { color: var(--soft); font-size: var(--small); text-align: right; white-space: nowrap; }
.watched .days { width: 200px; }
.watched :is(.more, .of-gain) { min-width: 5.5rem; font-weight: 400; }
.watched thead .of-gain { font-weight: 600; }
.watched tbody > tr:has(:checked) { background: var(--bar); }
.watched tr:has(:checked) :is(.next, .language, .owner, .badge, .soft) { color: var(--ink); }
.watched tr:has(:checked) .past { fill: var(--chart-1); }
.watched tr:has(:checked) .times-1 { background: var(--card); }
.bar-chart { margin: 0 0 var(--s5); }
.bar-chart > svg { width: 100%; height: auto; }
.bar-chart text { fill: var(--soft); }
.bar-chart .grid-line { stroke: var(--line); fill: none; }
.bar-chart .bars-narrow { display: none; }
.legend { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); font-size: var(--small); margin: 0 0 var(--s2); }
.legend svg { display: inline-block; width: .8rem; height: .8rem; margin-right: .4em; vertical-align: -.1em; }
.bar-chart rect.plain { fill: var(--chart-1); }
.bar-chart .striped { color: var(--chart-5); }
.bar-chart .crossed { color: var(--chart-2); }
.bar-chart [id$="striped"] .ground { fill: var(--chart-5); }
.bar-chart [id$="crossed"] .ground { fill: var(--chart-2); }
.bar-chart .lines { stroke: var(--card); stroke-width: .7; fill: none; }
.after { margin-top: var(--s5); }
.stack > section + section { margin-top: var(--s5); }
@media (max-width: 68rem) { .watched :is(.next, .more) { display: none; } }
@media (max-width: 46rem) {
  .toolbar a.button { display: none; }
  .watched, .watched tbody { display: block; }
  .watched thead { position: absolute; clip-path: inset(50%); }
  .watched tbody > tr { display: grid; grid-template-columns: 2.5rem minmax(0, 1fr) auto auto; gap: 0 10px; align-items: center; border-bottom: 1px solid var(--line); padding-right: 4px; }
  .watched tbody > tr > * { border: 0; padding: 0; }
  .watched .name { width: auto; max-width: none; }
  .watched .row-name { display: block; }
  .watched .named { line-height: 1.25; max-height: 2.5em; }
  .watched .named .owner { font-size: inherit; }
  .watched .of-gain { min-width: 0; }
  .watched :is(.owner-image, .next, .of-days, .more, .language) { display: none; }
}
@media (max-width: 34rem) {
  .box { padding: var(--s4); }
  .bar-chart .bars-wide { display: none; }
  .bar-chart .bars-narrow { display: block; }
  .stacked thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacked, .stacked tbody, .stacked tr, .stacked tbody :is(th, td) { display: block; }
  .stacked tr { border-bottom: 1px solid var(--line); padding: var(--s2) 0; }
  .stacked tbody :is(th, td) { border: 0; padding: .1rem 0; text-align: left; white-space: normal; }
  .stacked tbody th { font-weight: 500; overflow-wrap: anywhere; }
  .stacked td[data-label]::before { content: attr(data-label); display: inline-block; min-width: 6rem; color: var(--soft); font-size: var(--small); }
}
`;
