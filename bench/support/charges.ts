import { API_ROUTES } from "../../src/api/routes.js";
import type { Bucket } from "../../src/config/limits.js";
import { costOf, type Route, Router } from "../../src/http/route.js";
import { PAGE_ROUTES } from "../../src/web/routes.js";
import type { WorstRequest } from "./worst.js";

const unused: Route["handle"] = () => ({ status: 204, headers: {}, body: "" });
const router = new Router([
  ...API_ROUTES.map(({ route }): Route => ({ ...route, handle: unused })),
  ...PAGE_ROUTES.map((route): Route => ({ ...route, handle: unused })),
]);

/** Bucket and units of a request, as its route declares them. Files and unknown paths have no declared route. */
export function chargeOf(
  { method = "GET" }: Pick<WorstRequest, "method">,
  address: string,
): { bucket: Bucket; units: number } {
  const [path = "", query = ""] = address.split("?");
  const route = router.find(method === "OPTIONS" ? "GET" : method, path)?.route;
  if (route === undefined) return { bucket: "default", units: 1 };
  const declared = [...new URLSearchParams(query)].filter(([name]) => route.query.includes(name));
  return costOf(route.limit, method, new URLSearchParams(declared));
}
