/** Drawings: the small lines in lists, and charts. */
export const CHARTS = `
.spark polyline { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
.spark .chart-1 { stroke: var(--chart-1); }
.spark .chart-end { fill: var(--chart-1); }
`;
