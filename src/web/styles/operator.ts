/** The pages of operators, and what leads the way on the first day. */
export const OPERATOR = `
.start { background: var(--card); border: 1px solid var(--edge); border-radius: var(--round); padding: var(--s4) var(--s5); margin: 0 0 var(--s6); }
.start-title { font-family: var(--serif); font-size: var(--title); margin: 0 0 var(--s2); }
.steps { padding-left: 1.5rem; }
.steps > li { padding: var(--s2) 0; }
.steps > li::marker { color: var(--star); font-weight: 600; }
.steps .box { margin: var(--s2) 0 0; padding: var(--s3) var(--s4); max-width: 44rem; background: var(--paper); }
.track-form textarea { min-height: 5rem; }
td.words { overflow-wrap: anywhere; min-width: 14rem; }
.facts dd.words { font-size: var(--large); }
span.wrong { color: var(--fall); }
progress { width: 100%; height: .6rem; accent-color: var(--press); }
@media (max-width: 34rem) { .start { padding: var(--s3) var(--s4); } }
`;
