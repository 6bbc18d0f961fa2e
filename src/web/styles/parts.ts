/** Components of all pages, lists of choices below a field, and the palette. */
export const PARTS = `
/* The head of a page: its name and a line about it; its one line of controls at the right. */
.mast { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: end; gap: var(--s3) var(--s4); margin-bottom: var(--s4); }
.mast h1 { margin: 0; }
.mast > :first-child { flex: 1 1 20rem; }
.mast h1 + p { margin: 2px 0 0; }
.mast > :last-child:not(:first-child) { display: flex; flex-wrap: wrap; gap: var(--s2); }
/* Things to open, and figures; lists stand on the paper. */
.card { background: var(--card); border: 1px solid var(--line); border-radius: var(--rounder); }
.say { font-size: var(--large); margin: 0; }
.hero { font: 600 var(--hero)/1 var(--serif); letter-spacing: -.02em; margin: 0; }
.hero small { font: 400 var(--large)/1 var(--sans); letter-spacing: 0; }
.soft { color: var(--soft); }
.small { font-size: var(--small); }
.number { text-align: right; white-space: nowrap; }
.rise { color: var(--rise); }
.fall { color: var(--fall); }
.lead { font-size: var(--large); color: var(--soft); max-width: 56rem; margin-bottom: var(--s5); }
.lead time { white-space: nowrap; }
.read { max-width: var(--read); }
/* A shadow at each edge beyond which there is more: the paper in front of it moves with the content. */
.scroll { overflow-x: auto; position: relative; background: linear-gradient(to right, var(--paper) .75rem, transparent) left / 3rem 100% no-repeat local, linear-gradient(to left, var(--paper) .75rem, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--edge), transparent) left / .75rem 100% no-repeat scroll, linear-gradient(to left, var(--edge), transparent) right / .75rem 100% no-repeat scroll; }
.note { background: var(--note); border-left: 3px solid var(--star); border-radius: 0 var(--round) var(--round) 0; padding: var(--s3) var(--s4); margin: 0 0 var(--s5); }
.facts-line + .note { margin-top: var(--s4); }
.note > :last-child { margin-bottom: 0; }
.note.apart { align-items: center; padding: var(--s1) var(--s3); margin-bottom: var(--s3); }
.note.apart p { margin: 0; flex: 1; }
.note.wrong { border-left-color: var(--fall); }
.note.done { background: var(--done); border-left-color: var(--rise); }
.row { display: flex; flex-wrap: wrap; align-items: center; gap: var(--s2) var(--s4); }
.row + :is(table, .scroll), .apart + :is(table, .scroll) { margin-top: var(--s3); }
.apart { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: var(--s1) var(--s4); }
.apart > h2 { margin-bottom: var(--s2); }
.apart > a { line-height: 1.5rem; display: inline-block; }
/* auto-fill: with auto-fit, the first part would be as wide as the page until the second has arrived. */
.grid { display: grid; gap: var(--s5) var(--s6); grid-template-columns: repeat(auto-fill, minmax(min(100%, 27rem), 1fr)); }
.grid > * { min-width: 0; }
.facts { display: flex; flex-wrap: wrap; gap: var(--s3) var(--s6); margin: 0 0 var(--s4); padding: 0; }
.facts > div { min-width: 6rem; }
.facts dt { color: var(--soft); font-size: var(--small); }
.facts dd { margin: 0; font-size: var(--title); line-height: 1.25; }
.facts dd small { display: block; font-size: var(--small); }
.language { overflow-wrap: anywhere; color: var(--soft); font-size: var(--small); }
.tags { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s2); margin: 0 0 var(--s3); padding: 0; list-style: none; }
.tags li { max-width: 100%; }
.tags a { overflow-wrap: anywhere; display: block; padding: .1rem var(--s2); border: 1px solid var(--line); border-radius: 1rem; font-size: var(--small); text-decoration: none; background: var(--card); }
.tags a:hover { border-color: var(--edge); }
/* A menu that looks like the other controls of its line. */
.pick > summary { height: var(--control); padding: 0 .875rem; line-height: calc(var(--control) - 2px); border: 1px solid var(--edge); border-radius: var(--round); background: var(--card); color: var(--ink); }
.pick > div { max-height: 70vh; overflow-y: auto; }
.pick [aria-current] { background: var(--bar); font-weight: 600; }
.tabs { display: inline-flex; max-width: 100%; height: var(--control); border: 1px solid var(--edge); border-radius: var(--round); overflow: auto hidden; background: var(--card); }
.tabs a { padding: 0 .875rem; line-height: calc(var(--control) - 2px); color: var(--soft); text-decoration: none; white-space: nowrap; border-left: 1px solid var(--line); }
.tabs a:first-child { border-left: 0; }
.tabs a:hover { color: var(--ink); }
.tabs a[aria-current] { background: var(--bar); color: var(--ink); font-weight: 600; }
.tabs a:focus-visible { outline-offset: -3px; }
.pager { display: flex; gap: var(--s4); align-items: baseline; margin-top: var(--s4); }
input, select, textarea, button, .button { font: inherit; color: inherit; }
input, select, textarea { background: var(--card); border: 1px solid var(--edge); border-radius: var(--round); padding: .35rem .6rem; min-height: var(--control); max-width: 100%; }
input[type="checkbox"] { min-height: 0; width: 1rem; height: 1rem; padding: 0; accent-color: var(--press); vertical-align: -.15em; margin: 0 .4em 0 0; }
input::placeholder { color: var(--soft); opacity: 1; }
button, .button { display: inline-block; padding: .35rem .9rem; min-height: var(--control); border: 1px solid var(--edge); border-radius: var(--round); background: var(--card); cursor: pointer; text-decoration: none; line-height: 1.5; }
button:hover, .button:hover { border-color: var(--link); }
button.press, .button.press { background: var(--press); border-color: var(--press); color: var(--on-press); font-weight: 500; }
button.danger { color: var(--fall); border-color: var(--fall); }
button.plain { border: 0; background: none; padding: 0; min-height: 1.5rem; color: var(--link); text-decoration: underline; }
label { display: block; }
.field { margin: 0 0 var(--s3); }
.field > label, fieldset > legend { color: var(--soft); font-size: var(--small); margin-bottom: .15rem; padding: 0; }
.field .wrong { color: var(--fall); font-size: var(--small); }
fieldset { border: 0; padding: 0; margin: 0 0 var(--s3); min-width: 0; }
form.inline { display: inline; }
@media (max-width: 46rem) { .mast :is(.tabs a, .pick > summary) { padding: 0 .4rem; } .roomy { display: none; } .facts { gap: var(--s3) var(--s5); } }
@media (max-width: 34rem) {
  .spare { display: none; }
}

.choices-list .group { padding: var(--s1) var(--s3); color: var(--soft); font-size: var(--small); }
.choices-list [role="option"] { display: flex; justify-content: space-between; gap: var(--s3); padding: var(--s1) var(--s3); color: inherit; text-decoration: none; cursor: pointer; }
.choices-list [role="option"] > .name { flex: 1 0 auto; max-width: 75%; overflow-wrap: anywhere; }
.choices-list [role="option"] > .soft { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: var(--small); align-self: center; }
.choices-list [role="option"]:hover, .choices-list [aria-selected="true"] { background: var(--bar); }
.choices-list [aria-selected="true"] { outline: 2px solid var(--link); outline-offset: -2px; }
.field { position: relative; }
#suggestions, .field > .choices-list { position: absolute; left: 0; right: 0; top: calc(100% + .3rem); z-index: 9; max-height: 70vh; overflow-y: auto; padding: var(--s2) 0;
  background: var(--card); border: 1px solid var(--edge); border-radius: var(--round); box-shadow: 0 .5rem 1.5rem rgb(0 0 0 / .18); }
.palette { width: min(40rem, 100% - 2rem); max-width: none; margin-top: 12vh; max-height: 76vh; padding: 0; flex-direction: column; overflow: hidden; color: inherit;
  background: var(--card); border: 1px solid var(--edge); border-radius: var(--round); box-shadow: 0 1rem 3rem rgb(0 0 0 / .3); }
.palette[open] { display: flex; }
.palette::backdrop { background: rgb(0 0 0 / .4); }
.palette-head { display: flex; justify-content: space-between; align-items: baseline; gap: var(--s3); padding: var(--s2) var(--s3) 0; font-size: var(--small); color: var(--soft); overflow-wrap: anywhere; }
.palette button.plain { min-height: 1.5rem; flex: none; }
.palette input { margin: var(--s2) var(--s3); flex: none; font-size: 1rem; }
.palette-body { overflow-y: auto; padding-bottom: var(--s2); }
.palette-foot { display: flex; flex-wrap: wrap; gap: var(--s1) var(--s4); align-items: baseline; margin: 0; padding: var(--s2) var(--s3); border-top: 1px solid var(--line); font-size: var(--small); color: var(--soft); }
.palette-foot button { margin-left: auto; font-size: inherit; }
@media (max-width: 34rem) {
  .palette { margin-top: var(--s3); max-height: calc(100dvh - 2 * var(--s3)); }
  .palette [role="option"] { flex-direction: column; gap: 0; padding-top: var(--s2); padding-bottom: var(--s2); }
  .palette [role="option"] > .soft { align-self: auto; white-space: normal; }
  .palette-foot > span { display: none; }
}
`;
