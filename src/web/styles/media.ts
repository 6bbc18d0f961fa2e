import { COLOURS, properties } from "./tokens.js";

/**
 * Paper, and displays with colours of their own. Printed pages are light, without controls, and show where links
 * to other sites lead. Forced colours (https://www.w3.org/TR/css-color-adjust-1/#forced) replace all but those of the system, so
 * meanings of a colour or a background alone are shown by the system's.
 */
export const MEDIA = `
@media print {
  :root:root:root { color-scheme: light; ${properties(COLOURS.light)} --paper: #fff; }
  @page { margin: 1.5cm; }
  body { display: block; font-size: 10pt; }
  .frame { max-width: none; padding: 0; }
  .top { border-bottom: 0; }
  .skip, .search, .tools, .top nav, .bottom, .tabs, .filters, .contents, .pager, .button:not([rel]), form:not(.note), button, .star, [role="status"]:empty { display: none; }
  .button[rel] { border: 0; padding: 0; min-height: 0; }
  a[rel~="nofollow"][href^="http"]::after { content: " (" attr(href) ")"; font-size: var(--small); overflow-wrap: anywhere; }
  .scroll { overflow: visible; background: none; }
  .compare-bar > .row.row { flex-wrap: wrap; margin: 0; padding: 0; max-width: 100%; overflow: visible; }
  .card.compared-chart { margin: 0; }
  .scroll table, .scroll table :is(th, small, .badge) { font-size: 8pt; }
  .scroll table :is(th, td) { white-space: normal; overflow-wrap: anywhere; padding-right: .4rem; }
  .scroll table .number { overflow-wrap: normal; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .contents { position: static; }
  h2, h3, caption, summary { break-after: avoid; }
  tr, .plot, .note, figure { break-inside: avoid; }
  thead { display: table-header-group; }
}
@media (forced-colors: active) {
  :root:root:root { --ink: CanvasText; --soft: CanvasText; --paper: Canvas; --card: Canvas; --sunk: Canvas; --line: GrayText; --edge: GrayText;
    --link: LinkText; --star: CanvasText; --rise: CanvasText; --fall: CanvasText; --press: ButtonText; --on-press: ButtonFace;
    --chart-1: CanvasText; --chart-2: LinkText; --chart-3: GrayText; --chart-4: CanvasText; --chart-5: LinkText; --chart-6: GrayText; }
  /* Borders that are transparent otherwise would show here, so that every item would look current. */
  .top nav a, .strip a, .menu > summary, .sort-menu > summary { border-bottom-width: 0; }
  .top nav a[aria-current], .strip a[aria-current], .sort-menu > summary.current { border-bottom: 3px solid Highlight; }
  /* Text is painted on a plate of the colour of pages, unless the element is left as it is. */
  .press { forced-color-adjust: none; }
  .tabs a[aria-current], .choices-list [role][aria-selected="true"] { forced-color-adjust: none; background: Highlight; color: HighlightText;
    --ink: HighlightText; --soft: HighlightText; --link: HighlightText; --star: HighlightText; }
  .tabs a[aria-current]:focus-visible { outline-color: HighlightText; }
  tr:last-child > :is(td, th) { border-bottom-color: Canvas; }
  thead tr:last-child > th { border-color: CanvasText; }
  .marked > * { border-top: 1px solid Highlight; border-bottom: 1px solid Highlight !important; }
  .owner-image { border: 1px solid CanvasText; }
  .top nav a:focus-visible, :focus-visible { outline-color: Highlight; }
}
`;
