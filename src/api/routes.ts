import type { Endpoint } from "./endpoint.js";
import { getHealth, getReadiness } from "./health.js";
import { listMetrics } from "./metrics.js";
import { getSummary, listLanguages, listTopics, suggest } from "./overview.js";
import {
  getRepository,
  getRepositoryByFullName,
  getRepositoryByFullNamePath,
  listRepositories,
} from "./repositories.js";
import * as watchlists from "./watchlists.js";

/** All routes of the API. Where two patterns fit a path, the one that stands first here answers. */
export const ROUTES: readonly Endpoint[] = [
  listRepositories,
  suggest,
  getRepositoryByFullName,
  getRepositoryByFullNamePath,
  listMetrics,
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
  getHealth,
  getReadiness,
];
