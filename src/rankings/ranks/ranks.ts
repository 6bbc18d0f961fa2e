/**
 * Ranks: the position of repositories in every ranking, overall and per provider, language and topic, and their history by
 * day. Leaderboards are bounded (RANK_LIMITS). `updateRanks` applies changes, `RankRebuild` starts from all repositories;
 * both give the same ranks, and write in short transactions of a run. The caller reads the contributions and calls
 * `archiveRanks` before either.
 */
export { checkLeaderboards, checkRankBlocks, checkRankRows, type RankDamage } from "./check.js";
export {
  type Competitor,
  type Leaderboard,
  RANK_LIMITS,
  RANK_SCOPES,
  type RankScope,
} from "./leaderboard.js";
export { type Leaders, type LeadersRequest, leaderReader, readAllLeaders } from "./leaders.js";
export { RANK_COLUMNS, type Rank, type RankValues, rankReader, ranksOf } from "./rank.js";
export { packRankHistory } from "./rank-blocks.js";
export { archiveRanks, type PastRank, rankHistoryReader } from "./rank-history.js";
export { RankRebuild } from "./rebuild.js";
export { readOverall, updateRanks } from "./update.js";
