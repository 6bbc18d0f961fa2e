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
export {
  MAX_CARD_ROWS,
  type PageCardInput,
  type PageCardRow,
  pageCard,
  repositoryCard,
} from "./card.js";
export { drawChart, type Geometry } from "./chart.js";
export { type Crossing, countAt, crossingsOf, passingsOf } from "./crossings.js";
export { MILESTONES, milestonesOf } from "./events.js";
export {
  type Aligned,
  alignedAt,
  CHART_WINDOWS,
  type ChartWindow,
  chartPoints,
  drawHistories,
  type History,
  missingReason,
  newestOf,
  noteOn,
  notesOf,
  readHistory,
  type Stores,
  seriesOf,
  shortNamesOf,
  spansOf,
  titleOfHistories,
} from "./history.js";
export { DAY_STEP, drawMark, gainsOf, SHORTEST_STEP, shortNames, spanOf, stepOf } from "./lines.js";
export { markdownText, snippetsOf } from "./markup.js";
export { ageText, dateText, dayText, exactNumber, signedNumber, signedRate } from "./numbers.js";
export { type DrawnSeries, drawOnPage, type PageLook } from "./picture-page.js";
export { starPath } from "./picture-parts.js";
export { drawNotice } from "./picture-young.js";
export { PngRenderer } from "./png.js";
export {
  ALIGNMENTS,
  type Alignment,
  breaksOf,
  type ChartInput,
  type ChartPoint,
  type ChartSeries,
  type ChartSpan,
  gainOfLine,
  isByDate,
  METRIC_WORDS,
  METRICS,
  type Metric,
  type Milestone,
  type Passed,
  SCALES,
  SHAPES,
  type Shape,
  STYLES,
  type Style,
  VIEW_FACTS,
  VIEWS,
  type View,
  viewOf,
} from "./series.js";
export {
  headlineText,
  monthWords,
  paceOf,
  type Standing,
  type StoryLine,
  sentencesOf,
  standingsOf,
  storyOf,
} from "./story.js";
export { CHART_PAGE_STYLES, chartColours, MAX_SERIES, THEMES, type Theme } from "./themes.js";
export {
  bestDay,
  bestPlace,
  crossingWords,
  type DayGain,
  dayGains,
  dayOf,
  fewDays,
  type Headline,
  headlineOf,
  historyWords,
  LEAST_RANKED,
  lifeWords,
  milestoneWords,
  noteOfSpan,
  nthWords,
  placeWords,
  rankWeight,
  recordWords,
  sinceWords,
  strongest,
  subjectOf,
  weightiest,
} from "./words.js";
