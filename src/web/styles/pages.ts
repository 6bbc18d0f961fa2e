/** Images of owners over their initials, the page of a repository, the pages of operators, and the first steps. */
export const PAGES = `
.owner-image { position: relative; display: inline-flex; flex: none; align-items: center; justify-content: center; width: 24px; height: 24px;
  overflow: hidden; border-radius: 50%; color: var(--on-press); font: 600 12px/1 var(--sans); vertical-align: middle; user-select: none; }
.owner-image.size-32 { width: 32px; height: 32px; font-size: 15px; }
.owner-image.size-48 { width: 48px; height: 48px; font-size: 20px; }
.owner-image.size-64 { width: 64px; height: 64px; font-size: 26px; }
.owner-image::before { content: attr(data-initial); white-space: nowrap; }
/* With a width of its own, an image that cannot be loaded would hide the initial under an icon. */
.owner-image img { position: absolute; inset: 0; width: auto; min-width: 100%; max-width: 100%; height: auto; min-height: 100%; max-height: 100%; }
.tint-1 { background: var(--chart-1); }
.tint-2 { background: var(--chart-2); }
.tint-3 { background: var(--chart-3); }
.tint-4 { background: var(--chart-4); }
.tint-5 { background: var(--chart-5); }
.tint-6 { background: var(--chart-6); }
@media (forced-colors: active) { .owner-image { forced-color-adjust: none; } }

.repository { min-height: 100vh; }
.repository-head { display: flex; align-items: center; gap: var(--s4); margin-bottom: 1.25rem; }
.titled { flex: 1; min-width: 0; }
.titled h1 { display: inline; margin: 0; font-weight: 400; color: var(--soft); }
.titled .about { margin: 2px 0 0; font-size: var(--large); line-height: 1.4; -webkit-line-clamp: 2; }
/* A first chart does not move when its description arrives. */
.repository-head:has(+ .chart-frame) .about { -webkit-line-clamp: 1; min-height: 1.4em; }
.repository-actions { display: flex; flex-wrap: wrap; gap: var(--s2); min-height: var(--control); }
@media (max-width: 46rem) {
  .repository-head { flex-wrap: wrap; gap: var(--s3); margin-bottom: var(--s3); }
  .repository-head .owner-image { width: 48px; height: 48px; font-size: 20px; }
  .titled .about, .repository-head:has(+ .chart-frame) .about { font-size: var(--body); -webkit-line-clamp: 2; min-height: 2.8em; }
  .repository-actions { flex-basis: 100%; }
}
.titled .badge { white-space: normal; overflow-wrap: anywhere; }
.ranks a { overflow-wrap: anywhere; }
.part { border-top: 1px solid var(--line); padding: var(--s3) 0; }
.part > summary { font-weight: 500; }
.part[open] > summary { margin-bottom: var(--s3); }
.snapshots .badge { margin-left: var(--s2); border-color: var(--link); color: var(--link); }
.snapshots tbody th { white-space: nowrap; }
.snapshots .marked > * { background: var(--bar); }
.snapshots .marked > :last-child { padding-right: var(--s2); }
.snapshots .marked > :first-child { padding-left: var(--s2); }
.snapshots .number { padding-left: var(--s3); }
.snapshots .number + td:not(.number) { padding-left: var(--s4); }
@media (max-width: 34rem) {
  .snapshots { font-size: var(--small); }
  .snapshots .badge { display: block; width: fit-content; margin: var(--s1) 0 0; }
  .snapshots tbody th { white-space: normal; min-width: 6.5rem; }
}

.ask { max-width: 44rem; margin: 0 0 var(--s4); align-items: end; }
.ask .field > label { color: var(--ink); font: 600 var(--title)/1.2 var(--serif); margin-bottom: var(--s2); }
.ask input, .ask button { min-height: 2.75rem; font-size: var(--large); }
.ask p.small { flex-basis: 100%; margin: 0; line-height: 1; }
@media (max-width: 46rem) { .ask .field > label { font-size: var(--large); } }
td.words { overflow-wrap: anywhere; min-width: 14rem; }
.facts dd.words { font-size: var(--large); }
span.wrong { color: var(--fall); }
progress { width: 100%; height: .6rem; accent-color: var(--press); }
`;
