/** Lists of choices below a field, and the palette. */
export const CHOICES = `
.choices-list .group { padding: var(--s1) var(--s3); color: var(--soft); font-size: var(--small); }
.choices-list [role="option"] { display: flex; justify-content: space-between; gap: var(--s3); padding: var(--s1) var(--s3); color: inherit; text-decoration: none; cursor: pointer; }
.choices-list [role="option"] > :first-child { overflow-wrap: anywhere; }
.choices-list [role="option"] > .soft { white-space: nowrap; font-size: var(--small); align-self: center; }
.choices-list [role="option"]:hover, .choices-list [aria-selected="true"] { background: var(--bar); }
.choices-list [aria-selected="true"] { outline: 2px solid var(--link); outline-offset: -2px; }
#suggestions { position: absolute; left: 0; right: 0; top: calc(100% + .3rem); z-index: 9; max-height: 70vh; overflow-y: auto; padding: var(--s2) 0;
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
