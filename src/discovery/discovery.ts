export type {
  Facet,
  FacetKind,
  FacetPage,
  FacetSort,
  FacetTotals,
} from "./facets/read.js";
export type { GainingFacets, Home, RankedList } from "./home/home.js";
export type { CurrentSummary, Summary } from "./home/summary.js";
export { followIndex, startIndexBuilder } from "./lists/index/builder.js";
export type {
  CountRequest,
  FacetCounts,
  Precision,
  ValueCounts,
} from "./lists/index/counters.js";
export { ListIndex } from "./lists/index/list-index.js";
export type { RenamedName, UnmatchedValue } from "./lists/known.js";
export { type ListPage, Lists, listPage, newestOf, watchlistPage } from "./lists/lists.js";
export {
  count,
  cursorParameter,
  dayParameter,
  facetSortParameter,
  idParameter,
  idText,
  limitParameter,
  nameField,
  pageParameter,
  providerParameter,
  rankingParameter,
  searchText,
  windowParameter,
} from "./lists/parameters.js";
export {
  filterParameters,
  filterWords,
  type ListFilters,
  type ListQuery,
  listQuery,
  listSpec,
  pageOffset,
  type WatchlistQuery,
  watchlistQuery,
} from "./lists/query.js";
export { isRemembered, type ListRow } from "./lists/rows.js";
export {
  decodeCursor,
  EXACT_TOTAL,
  isGrowthSort,
  isSort,
  type ListSpec,
  listKey,
  type Scope,
  SORTS,
  type Sort,
  WATCHLIST_SORTS,
} from "./lists/spec.js";
export { Rankings, type Standing } from "./rankings.js";
export { RANK_LIMITS, RANK_SCOPES } from "./ranks/leaderboard.js";
export type { Leaders } from "./ranks/leaders.js";
export type { Rank } from "./ranks/rank.js";
export { checkRankHistory, type PastRank } from "./ranks/rank-history.js";
export type { SuggestedFacet } from "./search/facet-names.js";
export type { SearchStatus } from "./search/layout.js";
export { Search, type Suggestions } from "./search/search.js";
