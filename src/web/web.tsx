/** The pages for people, rendered here; they work without any script, and better with ours. */
import { Hono } from "hono";
import type { AppError } from "../errors.js";
import type { Limits } from "../limit-config.js";
import { serveAbout } from "./about.js";
import { serveAccount } from "./account.js";
import { serveAssets } from "./assets.js";
import { serveCompare } from "./compare.js";
import { type ReferenceDocument, serveDocs } from "./docs.js";
import { serveExplore } from "./explore.js";
import { serveFacets } from "./facets.js";
import { serveHome } from "./home.js";
import { serveIndexes } from "./indexes.js";
import { serveKeyUsage } from "./key-usage.js";
import { serveKeys } from "./keys.js";
import { serveNewWatchlist } from "./new-watchlist.js";
import { Pages, type Site } from "./page.js";
import { serveRepository } from "./repository.js";
import { serveSaving } from "./saving.js";
import { serveSignIn } from "./sign-in.js";
import { serveSignInLink } from "./sign-in-link.js";
import { serveRemovedWatchlist, serveTokenWatchlist } from "./token-watchlist.js";
import { serveWatchlist } from "./watchlist.js";

export interface WebOptions extends Site {
  /** The contract of the API, for the reference. */
  document: () => ReferenceDocument;
  /** Requests that callers may send; undefined: as many as they like. */
  limits: Limits | undefined;
}

/** The pages as an application of their own, to be put beside the API. */
export interface Web {
  app: Hono;
  /** The page that tells an error. */
  error(error: AppError, request: Request): Promise<Response>;
}

export function createWeb({ document, limits, ...site }: WebOptions): Web {
  const app = new Hono();
  const pages = new Pages(app, site);
  serveHome(pages);
  serveExplore(pages);
  serveFacets(pages);
  serveRepository(pages);
  serveCompare(pages);
  serveAbout(pages);
  serveDocs(pages, document, limits);
  serveSignInLink(pages);
  serveSignIn(pages);
  serveAccount(pages);
  serveKeys(pages);
  serveKeyUsage(pages);
  serveWatchlist(pages);
  serveSaving(pages);
  serveNewWatchlist(pages);
  serveRemovedWatchlist(pages);
  serveTokenWatchlist(pages);
  serveIndexes(app, site);
  serveAssets(app);
  return { app, error: (error, request) => pages.error(error, request) };
}
