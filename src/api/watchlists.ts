import { createRoute, z } from "@hono/zod-openapi";
import { idParameter, watchlistQuery } from "../lists/lists.js";
import { DEFAULT_NAME, type Precondition, type Watchlist } from "../watchlists/watchlists.js";
import { fieldColumns, formatParameter, orCsv, sendCsv } from "./csv.js";
import { type ApiContext, dataMetaResponse, dataResponse, endpoint, errorResponses } from "./endpoint.js";
import { UNKNOWN_TOKEN_COST } from "./meter.js";
import { seriesStart, seriesWindowParameter } from "./metrics.js";
import { idsField, jsonBody, nameField, tokenParameter } from "./parameters.js";
import { sendPage } from "./repository-list.js";
import {
  createdWatchlistSchema,
  repositoryPageMetaSchema,
  repositorySchema,
  sumPointSchema,
  sumPointView,
  watchlistSchema,
  watchlistView,
} from "./views.js";
import { answerWatchlistPage, idNumber, namingUnknown } from "./watchlist-page.js";

const tags = ["Watchlists"];
const token = z.object({ token: tokenParameter });
const precondition = z.object({
  "if-match": z
    .string()
    .max(500)
    .optional()
    .openapi({ description: "ETag of the list as it was read; 412 when it has changed since." }),
});
/** The tag of a list as it is now; strong, so that If-Match can be trusted. */
function etag({ version, canEdit }: Watchlist): string {
  return `"${version}${canEdit ? "" : "r"}"`;
}

/** What If-Match asks for (RFC 9110, 13.1.1): `*` or any of the tags; weak ones never match. */
function preconditionOf(header: string | undefined): Precondition | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  const tags = header.split(",").map((tag) => tag.trim());
  return (version) => tags.includes(`"${version}"`);
}

function answer(context: ApiContext, watchlist: Watchlist, shown: string) {
  context.header("ETag", etag(watchlist));
  return { data: watchlistView(watchlist, shown) };
}

export const createWatchlist = endpoint(
  createRoute({
    method: "post",
    path: "/api/watchlists",
    operationId: "createWatchlist",
    tags,
    summary: "Make a watchlist",
    description: "Both tokens are shown only here. `token` may change the list; `shareToken` only reads it.",
    request: jsonBody(
      z.strictObject({
        name: nameField.default(DEFAULT_NAME),
        ids: idsField.default([]),
      }),
    ),
    responses: {
      201: {
        ...dataResponse("The list.", createdWatchlistSchema),
        headers: z.object({ Location: z.string(), ETag: z.string() }),
      },
      ...errorResponses("VALIDATION_FAILED", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"),
    },
  }),
  async (context) => {
    const { name, ids } = context.req.valid("json");
    const { watchlists } = context.var.modules;
    const created = await namingUnknown("ids", ids, watchlists.create(name, ids.map(idNumber)));
    context.header("Location", `/api/watchlists/${created.token}`);
    const { data } = answer(context, created.watchlist, created.token);
    return context.json({ data: { ...data, shareToken: created.shareToken } }, 201);
  },
  { bucket: "write" },
);

export const getWatchlist = endpoint(
  createRoute({
    method: "get",
    path: "/api/watchlists/{token}",
    operationId: "getWatchlist",
    tags,
    summary: "A watchlist, by either token",
    request: { params: token },
    responses: { 200: dataResponse("The list.", watchlistSchema), ...errorResponses("NOT_FOUND") },
  }),
  async (context) => {
    const { token } = context.req.valid("param");
    return context.json(answer(context, await context.var.modules.watchlists.get({ token }), token), 200);
  },
  { bucket: "default", unknownCost: UNKNOWN_TOKEN_COST },
);

export const updateWatchlist = endpoint(
  createRoute({
    method: "patch",
    path: "/api/watchlists/{token}",
    operationId: "updateWatchlist",
    tags,
    summary: "Rename a watchlist",
    request: { params: token, headers: precondition, ...jsonBody(z.strictObject({ name: nameField })) },
    responses: {
      200: dataResponse("The list.", watchlistSchema),
      ...errorResponses(
        "VALIDATION_FAILED",
        "NOT_FOUND",
        "FORBIDDEN",
        "PRECONDITION_FAILED",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
      ),
    },
  }),
  async (context) => {
    const { token } = context.req.valid("param");
    const { name } = context.req.valid("json");
    const condition = preconditionOf(context.req.valid("header")["if-match"]);
    return context.json(
      answer(context, await context.var.modules.watchlists.rename({ token }, name, condition), token),
      200,
    );
  },
  { bucket: "write", unknownCost: UNKNOWN_TOKEN_COST },
);

const removed = {
  204: { description: "Done; also when there was nothing to remove." },
  ...errorResponses("VALIDATION_FAILED", "NOT_FOUND", "FORBIDDEN", "PRECONDITION_FAILED"),
};

export const removeWatchlist = endpoint(
  createRoute({
    method: "delete",
    path: "/api/watchlists/{token}",
    operationId: "removeWatchlist",
    tags,
    summary: "Remove a watchlist for good",
    request: { params: token, headers: precondition },
    responses: removed,
  }),
  async (context) => {
    const condition = preconditionOf(context.req.valid("header")["if-match"]);
    await context.var.modules.watchlists.remove(context.req.valid("param"), condition);
    return context.body(null, 204);
  },
  { bucket: "write", unknownCost: UNKNOWN_TOKEN_COST },
);

export const addWatchlistItem = endpoint(
  createRoute({
    method: "post",
    path: "/api/watchlists/{token}/items",
    operationId: "addWatchlistItem",
    tags,
    summary: "Add a repository to a watchlist",
    request: {
      params: token,
      headers: precondition,
      ...jsonBody(z.strictObject({ repositoryId: idParameter })),
    },
    responses: {
      200: dataResponse("It was there already.", watchlistSchema),
      201: dataResponse("The list with it.", watchlistSchema),
      ...errorResponses(
        "VALIDATION_FAILED",
        "NOT_FOUND",
        "FORBIDDEN",
        "LIMIT_REACHED",
        "PRECONDITION_FAILED",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
      ),
    },
  }),
  async (context) => {
    const { token } = context.req.valid("param");
    const { repositoryId } = context.req.valid("json");
    const condition = preconditionOf(context.req.valid("header")["if-match"]);
    const adding = context.var.modules.watchlists.add({ token }, [repositoryId], condition);
    const { watchlist, added } = await namingUnknown("repositoryId", undefined, adding);
    return added > 0
      ? context.json(answer(context, watchlist, token), 201)
      : context.json(answer(context, watchlist, token), 200);
  },
  { bucket: "write", unknownCost: UNKNOWN_TOKEN_COST },
);

export const removeWatchlistItem = endpoint(
  createRoute({
    method: "delete",
    path: "/api/watchlists/{token}/items/{repositoryId}",
    operationId: "removeWatchlistItem",
    tags,
    summary: "Take a repository out of a watchlist",
    request: { params: token.extend({ repositoryId: idParameter }), headers: precondition },
    responses: removed,
  }),
  async (context) => {
    const { token, repositoryId } = context.req.valid("param");
    const condition = preconditionOf(context.req.valid("header")["if-match"]);
    await context.var.modules.watchlists.removeItems({ token }, repositoryId, condition);
    return context.body(null, 204);
  },
  { bucket: "write", unknownCost: UNKNOWN_TOKEN_COST },
);

export const clearWatchlist = endpoint(
  createRoute({
    method: "delete",
    path: "/api/watchlists/{token}/items",
    operationId: "clearWatchlist",
    tags,
    summary: "Take all repositories out of a watchlist",
    request: { params: token, headers: precondition },
    responses: removed,
  }),
  async (context) => {
    const condition = preconditionOf(context.req.valid("header")["if-match"]);
    await context.var.modules.watchlists.removeItems(context.req.valid("param"), "all", condition);
    return context.body(null, 204);
  },
  { bucket: "write", unknownCost: UNKNOWN_TOKEN_COST },
);

export const listWatchlistRepositories = endpoint(
  createRoute({
    method: "get",
    path: "/api/watchlists/{token}/repositories",
    operationId: "listWatchlistRepositories",
    tags,
    summary: "The repositories of a watchlist, with their growth",
    description: "One that is gone stays in the list; its availability says so.",
    request: {
      params: token,
      query: watchlistQuery.extend({ format: formatParameter }),
    },
    responses: {
      200: orCsv(
        dataMetaResponse("A page of repositories.", z.array(repositorySchema), repositoryPageMetaSchema),
      ),
      ...errorResponses("VALIDATION_FAILED", "NOT_FOUND"),
    },
  }),
  async (context) => {
    const { modules } = context.var;
    const id = await modules.watchlists.idOf(context.req.valid("param"));
    const { format, ...query } = context.req.valid("query");
    const scope = { kind: "watchlist", id } as const;
    const page = await answerWatchlistPage(context, modules, scope, query);
    return sendPage(context, page, format, "sidereal-watchlist");
  },
  { bucket: "default", unknownCost: UNKNOWN_TOKEN_COST },
);

const SUM_COLUMNS = fieldColumns(["capturedAt", "stars", "forks", "openIssues", "watchers", "repositories"]);

export const listWatchlistMetrics = endpoint(
  createRoute({
    method: "get",
    path: "/api/watchlists/{token}/metrics",
    operationId: "listWatchlistMetrics",
    tags,
    summary: "The counts of a watchlist's repositories added up over time",
    description:
      "Between its snapshots a repository counts with the last one before; before its first one it does not count.",
    request: { params: token, query: z.object({ window: seriesWindowParameter, format: formatParameter }) },
    responses: {
      200: orCsv(
        dataMetaResponse(
          "The summed series.",
          z.array(sumPointSchema),
          z.object({ window: seriesWindowParameter, resolution: z.enum(["day", "week"]), points: z.int() }),
        ),
      ),
      ...errorResponses("VALIDATION_FAILED", "NOT_FOUND"),
    },
  }),
  async (context) => {
    const { watchlists, rankings } = context.var.modules;
    const { window, format } = context.req.valid("query");
    const watchlist = await watchlists.get(context.req.valid("param"));
    const { asOf } = await rankings.summary();
    const series = await watchlists.metrics(
      watchlist,
      (asOf === null ? undefined : seriesStart(window, asOf)) ?? 0,
    );
    const data = series.points.map(sumPointView);
    if (format === "csv") return sendCsv(context, `sidereal-watchlist-${window}`, SUM_COLUMNS, data);
    return context.json({ data, meta: { window, resolution: series.resolution, points: data.length } }, 200);
  },
  { bucket: "heavy", unknownCost: UNKNOWN_TOKEN_COST },
);
