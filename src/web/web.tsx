/** The pages for people, rendered on the server. They work without scripts, and better with ours. */
import { renderToString } from "preact-render-to-string";
import type { PngRenderer } from "../charts/charts.js";
import type { Limits } from "../config/config.js";
import type { ErrorRenderers, Route } from "../http/http.js";
import { assetRoutes, avatarRoute } from "./assets.js";
import { cardRoutes } from "./cards.js";
import { Time } from "./components/numbers.js";
import { indexRoutes } from "./indexes.js";
import { PageRenderer } from "./page.js";
import type { Site } from "./page-request.js";
import { docsPage } from "./pages/docs.js";
import { docsRoutes, PAGE_ROUTES } from "./routes.js";

export { RANKED_FROM } from "./page.js";
export type { Comparison, FileSite } from "./page-request.js";

export interface WebOptions extends Omit<Site, "menu"> {
  pictures: PngRenderer;
  /** Rate limits to document; undefined: there are none. */
  limits: Limits | undefined;
}

/** All pages and the files they load, and the page of an error. */
export interface Web {
  routes: Route[];
  errorPage: ErrorRenderers["page"];
}

/** Each page is declared once, in routes.ts; the navigation, the site map and the cards follow from that. */
export function createWeb({ limits, pictures, ...site }: WebOptions): Web {
  const pages = [...PAGE_ROUTES, ...docsRoutes(docsPage(site.baseUrl, limits))];
  const menu = pages.flatMap(({ path, menu: name }) => (name === undefined ? [] : [[path, name] as const]));
  const listed = pages.flatMap(({ path, siteMap = [] }) => (siteMap === true ? [path] : siteMap));
  const renderer = new PageRenderer({ ...site, menu });
  return {
    routes: [
      ...pages.map((page) => renderer.route(page)),
      ...cardRoutes({ ...site, pictures, cards: pages.flatMap(({ card }) => card ?? []) }),
      ...indexRoutes({ ...site, pages: listed }),
      ...assetRoutes(),
      avatarRoute(() => site.modules.avatars),
    ],
    errorPage: (error, request) => renderer.error(error, request),
  };
}

/** The beginning of the content of every page, see layout.tsx. */
const CONTENT = /<main id="content"[^>]*>/;

/** A rendered page with a note that it may be outdated. `at`: when it was last known to be current. */
export function markStale(html: string, at: number): string {
  const note = renderToString(
    <p class="note" role="status">
      The database is not available at the moment. This page is from <Time at={at} />.
    </p>,
  );
  return html.replace(CONTENT, (begin) => `${begin}${note}`);
}
