import { PAGE_ROUTES } from "../../src/web/routes.js";

/** The pages that are in the navigation or in the site map: anybody may open them, and a test of all pages has those added later too. */
export const OPEN_PAGES: readonly string[] = PAGE_ROUTES.flatMap(({ path, menu, siteMap }) =>
  menu !== undefined || siteMap === true ? [path] : [],
);
