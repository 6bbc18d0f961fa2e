/** Images of owners, over their initials. */
export const OWNER_IMAGE = `
.owner-image { position: relative; display: inline-flex; flex: none; align-items: center; justify-content: center; width: 20px; height: 20px;
  overflow: hidden; border-radius: 50%; color: var(--on-press); font: 600 11px/1 var(--sans); vertical-align: -5px; user-select: none; }
.owner-image.large { width: 40px; height: 40px; font-size: 20px; vertical-align: middle; }
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
`;
