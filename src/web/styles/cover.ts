/** The first page of a site of files. */
export const COVER = `
.cover-head { position: relative; padding-top: 3.5rem; overflow: hidden; }
.cover-head h1 { font-size: clamp(2.25rem, 5vw, 4rem); margin: 0; padding-right: 3.5rem; }
.cover-head .frame, #content > .frame, .cover-foot { max-width: 75rem; }
.cover-sub { color: var(--soft); font-size: 1.125rem; margin: .375rem 0 0; }
.cover-sums { display: flex; flex-wrap: wrap; gap: .5rem 2.75rem; margin: 1.75rem 0 0; }
.cover-sums div { display: flex; flex-direction: column-reverse; }
.cover-sums dt { color: var(--soft); }
.cover-sums dd { margin: 0; font-size: 2rem; font-weight: 700; line-height: 1.2; }
.cover-life { margin-top: -7.5rem; }
.theme-button { padding: 0; width: 2.75rem; height: 2.75rem; border-radius: 50%; background: none; }
.theme-button svg { width: 1.25rem; height: 1.25rem; margin: auto; }
.cover-head .theme-button { position: absolute; top: 1.25rem; right: var(--s5); z-index: 1; }
.top .theme-button { margin-left: auto; border: 0; }
.cover-news { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .625rem 2rem; margin: 1.25rem auto 0; list-style: none; font: 1.125rem/1.45 var(--serif); }
.cover-news li { position: relative; padding-left: 1.75rem; }
.cover-news svg { position: absolute; left: 0; top: .3rem; width: 1.1rem; color: var(--star); }
.cover-news .passed svg { color: var(--chart-1); }
#content > section > h2 { font-size: var(--title); margin: 3rem 0 1.125rem; }
.cover-cards { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 1.25rem; margin: 0; padding: 0; list-style: none; }
.cover-cards > li { display: flex; flex-direction: column; padding: 0; overflow: hidden; }
.cover-cards > li > div:first-child { flex: 1; display: grid; grid-template-columns: minmax(0, 1fr) auto; grid-template-rows: auto auto 1fr; gap: 0 1rem; padding: 1.125rem 1.25rem 0; }
.cover-cards :is(h3, p) { margin: 0; }
.cover-cards h3 { font-size: 1.375rem; overflow-wrap: anywhere; }
.cover-cards h3 a { text-decoration: none; }
.cover-cards b { font-size: 1.5rem; line-height: 1.15; text-align: right; }
.cover-cards p { color: var(--soft); }
.cover-cards .about { font-size: var(--body); -webkit-line-clamp: 2; }
.cover-cards p:nth-of-type(even) { text-align: right; }
.cover-cards p .rise, .cover-cards p .fall { font-weight: 700; }
.cover-cards .small { margin-top: .5rem; }
.cover-cards .dot { margin-right: .375rem; }
.course { font-family: var(--sans); }
.course svg { display: block; width: 100%; height: auto; overflow: visible; }
.course .chart-ink { stroke: var(--ink); fill: none; }
.course .chart-edge { stroke: var(--edge); fill: none; }
${[1, 2, 3, 4, 5, 6].map((n) => `.course .chart-stop-${n} { stop-color: var(--chart-${n}); }`).join("\n")}
.card .course { --chart-bg: var(--card); }
.reading circle { stroke: var(--chart-bg); stroke-width: 3; paint-order: stroke; }
${[1, 2, 3, 4, 5, 6].map((n) => `.reading-${n} { fill: var(--chart-${n}); }`).join("\n")}
.reading path { fill: none; stroke: var(--ink); opacity: .35; }
.reading text { font-size: 14px; fill: var(--ink); stroke: var(--chart-bg); stroke-width: 5; stroke-linejoin: round; paint-order: stroke; font-weight: 700; text-anchor: middle; }
.versus { padding: var(--s5); margin-bottom: 1.25rem; }
.versus h3 { font-size: var(--title); margin: 0; font-weight: 400; color: var(--soft); }
.versus h3 a { text-decoration: none; }
.versus h3 bdi { font-weight: 700; color: var(--ink); }
${[1, 2, 3, 4, 5, 6].map((n) => `.versus h3 .line-${n} { color: var(--chart-${n}); }`).join("\n")}
.cover-foot { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.5rem; padding-top: 2.5rem; padding-bottom: 3rem; color: var(--soft); }
.cover-foot p { margin: 0; }
.cover-foot a { color: inherit; }
.cover-foot > p:last-child { margin-left: auto; }
.cover-foot .brand { font-size: var(--body); }
.cover-foot .brand svg { width: 20px; height: 20px; }
@media (max-width: 64rem) { .cover-cards { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
@media (max-width: 40rem) {
  .cover-cards, .cover-news { grid-template-columns: minmax(0, 1fr); }
  .cover-head { padding-top: 2rem; }
  .cover-life { margin-top: .25rem; }
  .cover-sums { gap: .75rem 2rem; }
  .cover-sums dd { font-size: 1.625rem; }
  .cover-sums div:first-child { flex-basis: 100%; }
  .versus { padding: 1.125rem 1rem; }
  .cover-foot > p:last-child { margin-left: 0; }
}
`;
