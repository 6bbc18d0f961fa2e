/** The pages for people, rendered here; they work without any script, and better with ours. */
import { Hono } from "hono";
import type { AppError } from "../errors.js";
import type { Limits } from "../limit-config.js";
import { serveAbout } from "./about.js";
import { serveAssets } from "./assets.js";
import { type ReferenceDocument, serveDocs } from "./docs.js";
import { serveExplore } from "./explore.js";
import { serveFacets } from "./facets.js";
import { serveHome } from "./home.js";
import { serveIndexes } from "./indexes.js";
import { Pages, type Site } from "./page.js";
import { serveSignIn } from "./sign-in.js";

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
  serveAbout(pages);
  serveDocs(pages, document, limits);
  serveSignIn(pages);
  serveIndexes(app, site);
  serveAssets(app);
  return { app, error: (error, request) => pages.error(error, request) };
}
