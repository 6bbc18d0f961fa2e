/**
 * Pictures of repositories, for other sites and for our pages: charts of their counts over time, badges, cards. It reads
 * series from the catalogue and draws; pictures contain no script, no external reference and no unescaped text. Callers
 * pass ranks and growth; it does not read rankings.
 */

export { linearAxis } from "./axes.js";
export {
  BADGE_BRAND,
  BADGE_HEIGHT,
  type BadgeLook,
  drawBadge,
  drawGainBadge,
  drawRankBadge,
  drawStarsBadge,
  drawTrendingBadge,
  rankWords,
} from "./badge.js";
export { type CardInput, repositoryCard } from "./card.js";
export { CARD_SIZE } from "./card-parts.js";
export { drawChart, drawPlot, type Geometry } from "./chart.js";
export { gainsOf, spanOf, stepOf, VIEWS, type View } from "./gains.js";
export {
  CHART_WINDOWS,
  type ChartDays,
  type ChartWindow,
  daysProblem,
  type History,
  newestOf,
  noteOn,
  readHistory,
  seriesOf,
  spansOf,
  UNREACHABLE,
} from "./history.js";
export { drawHistories, titleOf } from "./history-chart.js";
export { ALIGNMENTS, type ChartInput, hasMilestones, SCALES } from "./input.js";
export { drawMark } from "./lines.js";
export { escapeMarkup } from "./markup.js";
export { type Milestone, milestonesOf, milestoneWords } from "./milestones.js";
export { drawNotice, NOTICE_SIZE } from "./notice.js";
export { signedRate } from "./numbers.js";
export { MAX_CARD_ROWS, type PageCardInput, type PageCardRow } from "./page-card.js";
export { type Picture, PngRenderer } from "./png.js";
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
export { type ChartSpan, noteOfSpan } from "./spans.js";
export { CHART_PAGE_STYLES, chartColours, MAX_SERIES, THEMES, type Theme } from "./themes.js";
export { distanceText } from "./words.js";
