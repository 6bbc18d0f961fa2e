/**
 * Pictures of repositories, for other sites and for our pages: charts of their counts over time, badges, cards. It reads
 * series from the catalogue and draws; pictures contain no script, no external reference and no unescaped text. Callers
 * pass ranks and growth; it does not read rankings.
 */

export { linearAxis } from "./axes.js";
export {
  BADGE_BRAND,
  type BadgeFact,
  drawBadge,
  drawFactBadge,
  rankWords,
} from "./badge.js";
export { type CardInput, repositoryCard } from "./card.js";
export { drawChart, drawPlot, type Geometry } from "./chart.js";
export { hasMilestones, milestonesOf, milestoneWords, noteOfSpan } from "./events.js";
export { gainsOf, spanOf, stepOf } from "./gains.js";
export {
  CHART_WINDOWS,
  type ChartWindow,
  daysProblem,
  type History,
  newestOf,
  noteOn,
  readHistory,
  seriesOf,
  spansOf,
} from "./history.js";
export { drawHistories, drawNotice, NOTICE_SIZE, titleOf } from "./history-chart.js";
export { drawMark } from "./lines.js";
export { snippetsOf } from "./markup.js";
export { dateText, signedRate } from "./numbers.js";
export {
  CARD_SIZE,
  MAX_CARD_ROWS,
  type PageCardInput,
  type PageCardRow,
  type Picture,
  PngRenderer,
} from "./png.js";
export {
  ALIGNMENTS,
  type ChartInput,
  type ChartPoint,
  type ChartSeries,
  type ChartSpan,
  isBroken,
  longestPart,
  METRICS,
  type Metric,
  RETAINED_WORDS,
  reducePoints,
  SCALES,
  VIEWS,
  type View,
  widestGaps,
} from "./series.js";
export { CHART_PAGE_STYLES, chartColours, MAX_SERIES, THEMES, type Theme } from "./themes.js";
export { distanceText } from "./words.js";
