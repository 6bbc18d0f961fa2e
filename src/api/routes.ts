import type { Access } from "./access.js";
import * as auth from "./auth.js";
import { getBadge, getCard } from "./embed-badges.js";
import { getChart, getChartData } from "./embeds.js";
import type { Endpoint } from "./endpoint.js";
import { getFeed } from "./feeds.js";
import { getHealth, getReadiness } from "./health.js";
import { getKeyUsage } from "./key-usage.js";
import { getLimits } from "./limits.js";
import * as me from "./me.js";
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

/** A route, and who may use it. */
export interface Route extends Endpoint {
  access: Access;
}

function open(access: Access, ...endpoints: Endpoint[]): Route[] {
  return endpoints.map((endpoint) => ({ ...endpoint, access }));
}

/** All routes of the API, each with its access. Where two patterns fit a path, the one that stands first here answers. */
export const ROUTES: readonly Route[] = [
  ...open(
    "public",
    listRepositories,
    listTrending,
    listRising,
    listNewHot,
    listForkGrowth,
    getFeed,
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
    getChart,
    getChartData,
    getBadge,
    getCard,
    watchlists.createWatchlist,
  ),
  ...open(
    "watchlist token",
    watchlists.getWatchlist,
    watchlists.updateWatchlist,
    watchlists.removeWatchlist,
    watchlists.listWatchlistRepositories,
    watchlists.listWatchlistMetrics,
    watchlists.addWatchlistItem,
    watchlists.clearWatchlist,
    watchlists.removeWatchlistItem,
  ),
  ...open(
    "sign-in",
    auth.requestMagicLink,
    auth.verifyMagicLink,
    auth.startSiteSignIn,
    auth.finishSiteSignIn,
    auth.signOut,
  ),
  ...open(
    "session",
    me.getMe,
    me.removeMe,
    me.signOutEverywhere,
    me.listMyWatchlist,
    me.addToMyWatchlist,
    me.removeFromMyWatchlist,
    me.listKeys,
    me.createKey,
    me.revokeKey,
    getKeyUsage,
  ),
  ...open("public", getLimits, getHealth, getReadiness),
];
