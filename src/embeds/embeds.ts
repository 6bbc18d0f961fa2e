/**
 * Pictures of repositories, for other sites and for our pages: charts of their counts over time, badges, cards. It reads
 * series from the catalogue and draws; pictures contain no script, no external reference and no unescaped text. Callers
 * pass ranks and growth; it does not read rankings.
 */
export {
  drawBadge,
  drawRankBadge,
  drawStarsBadge,
  rankWords,
} from "./badge.js";
export { CARD_SIZE, type CardInput, drawCard } from "./card.js";
export { drawChart } from "./chart.js";
export {
  CHART_WINDOWS,
  type ChartWindow,
  drawHistories,
  type History,
  newestOf,
  noteOn,
  readHistory,
  seriesOf,
  titleOf,
  UNREACHABLE,
} from "./history.js";
export { drawMark } from "./lines.js";
export { escapeMarkup } from "./markup.js";
export { drawNotice, NOTICE_SIZE } from "./notice.js";
export { ALIGNMENTS, type ChartInput, SCALES } from "./plan.js";
export { PngRenderer } from "./png.js";
export {
  type ChartPoint,
  type ChartSeries,
  isBroken,
  longestPart,
  METRICS,
  type Metric,
  RETAINED_WORDS,
  reducePoints,
  widestGaps,
} from "./series.js";
export { snippetsOf } from "./snippets.js";
export { CHART_PAGE_STYLES, MAX_SERIES, THEMES, type Theme } from "./themes.js";
