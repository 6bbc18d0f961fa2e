import type { Endpoint } from "./endpoint.js";
import { getHealth, getReadiness } from "./health.js";
import { getLimits } from "./limits.js";
import { listMetrics, listRanks } from "./metrics.js";
import { getSummary, listLanguages, listTopics, suggest } from "./overview.js";
import {
  getHome,
  listForkGrowth,
  listNewHot,
  listRepositories,
  listRising,
  listTrending,
} from "./rankings.js";
import { getRepository, getRepositoryByFullName, getRepositoryByFullNamePath } from "./repositories.js";
import * as watchlists from "./watchlists.js";

/** All routes of the API. Where two patterns fit a path, the one that stands first here answers. */
export const ROUTES: readonly Endpoint[] = [
  listRepositories,
  listTrending,
  listRising,
  listNewHot,
  listForkGrowth,
  getHome,
  suggest,
  getRepositoryByFullName,
  getRepositoryByFullNamePath,
  listMetrics,
  listRanks,
  getRepository,
  getSummary,
  listLanguages,
  listTopics,
  watchlists.createWatchlist,
  watchlists.getWatchlist,
  watchlists.updateWatchlist,
  watchlists.removeWatchlist,
  watchlists.listWatchlistRepositories,
  watchlists.listWatchlistMetrics,
  watchlists.addWatchlistItem,
  watchlists.clearWatchlist,
  watchlists.removeWatchlistItem,
  getLimits,
  getHealth,
  getReadiness,
];
