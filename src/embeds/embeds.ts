/**
 * Pictures of repositories, for other sites and for our pages: charts of their counts over time, badges, cards. It reads
 * series from the catalogue and draws; pictures contain no script, no external reference and no unescaped text. It knows
 * nothing of HTTP and rankings: callers pass what a badge says.
 */
export {
  drawBadge,
  drawRankBadge,
  drawStarsBadge,
  type RankFacts,
  rankWords,
  type StarFacts,
} from "./badge.js";
export { CARD_SIZE, type CardInput, drawCard } from "./card.js";
export { drawChart } from "./chart.js";
export { drawHistories, titleOf } from "./histories.js";
export { type History, newestOf, RANGES, type Range, readHistory, seriesOf, UNREACHABLE } from "./history.js";
export { drawMark } from "./lines.js";
export { CHART_PAGE_STYLES, MAX_SERIES, THEMES, type Theme } from "./looks.js";
export { escapeMarkup } from "./markup.js";
export { drawNotice, NOTICE_SIZE } from "./notice.js";
export { ALIGNMENTS, type ChartInput, SCALES } from "./plan.js";
export { PngRenderer } from "./png.js";
export { type ChartPoint, type ChartSeries, METRICS, type Metric } from "./series.js";
export { type Named, pageAddress, queryOf, repositoryKey, type Snippets, snippetsOf } from "./snippets.js";
