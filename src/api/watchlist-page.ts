import { idText, type WatchlistQuery, watchlistPage, watchlistQuery } from "../discovery/discovery.js";
import { sumCounts } from "../growth/growth.js";
import { type HttpRequest, json, type Reply } from "../http/http.js";
import { invalidParameter } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import type { Modules } from "../modules.js";
import { repositoryId } from "../repositories/repositories.js";
import {
  type Precondition,
  UnknownRepositories,
  type Watchlist,
  type WatchlistAccess,
} from "../watchlists/watchlists.js";
import { csv, fieldColumns, formatParameter, orCsv } from "./csv.js";
import { repositoryPage, WATCHED_COLUMNS } from "./lists.js";
import { seriesWindowMs, seriesWindowParameter } from "./metrics.js";
import { findReferenced, fullNamesField, missingReferences, readReferences, textsOf } from "./named.js";
import { type ApiServices, dataMetaResponse } from "./operation.js";
import { idsField } from "./parameters.js";
import { sumFields, sumPointSchema, sumPointView } from "./series-views.js";
import { repositoryPageMetaSchema, watchedRepositorySchema } from "./views.js";

/** Parts shared by watchlists with tokens and the one of an account. */

export const watchedQuery = watchlistQuery.extend({ format: formatParameter });
export const watchedResponse = orCsv(
  dataMetaResponse("A page of repositories.", z.array(watchedRepositorySchema), repositoryPageMetaSchema),
  WATCHED_COLUMNS,
);

export const precondition = z.object({
  "if-match": z
    .string()
    .max(500)
    .optional()
    .openapi({ description: "ETag of the version that was read; 412 if the list has changed since." }),
});

/** The ETag of the current version of a list; strong, so that it works with If-Match. */
export function etag({ version, canEdit }: Watchlist): string {
  return `"${version}${canEdit ? "" : "r"}"`;
}

/** Whether an If-Match header (RFC 9110, 13.1.1) allows the change: `*` or a matching tag; weak tags never match. */
export function preconditionOf({
  "if-match": header,
}: z.output<typeof precondition>): Precondition | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  const tags = header.split(",").map((tag) => tag.trim());
  return (version) => tags.includes(`"${version}"`);
}

export const itemsRemoved = {
  204: {
    description: "Done, even if there was nothing to remove.",
    headers: z.object({ ETag: z.string().openapi({ description: "The current version of the list." }) }),
  },
};

interface Requested<Query> {
  services: ApiServices;
  http: HttpRequest;
  query: Query;
  access: WatchlistAccess;
  /** Name of the CSV file. */
  file: string;
}

export async function watchedPage({
  access,
  file,
  ...request
}: Requested<WatchlistQuery & { format: "json" | "csv" }>): Promise<Reply> {
  const { modules } = request.services;
  const id = await modules.watchlists.idOf(access);
  const page = await watchlistPage(modules, { kind: "watchlist", id }, request.query);
  const ids = page.rows.map(({ repository }) => repository.id);
  const addedAt = await modules.watchlists.addedAt(id, ids);
  return repositoryPage(page, request, file, addedAt);
}

const SUM_COLUMNS = fieldColumns(["capturedAt", "stars", "forks", "openIssues", "watchers"]);

export const sumsQuery = z.object({ window: seriesWindowParameter, format: formatParameter });
export const sumsResponse = orCsv(
  dataMetaResponse(
    "The summed series.",
    z.array(sumPointSchema),
    z.object({ window: seriesWindowParameter, pointCount: z.int(), ...sumFields }),
  ),
  SUM_COLUMNS,
);

export async function watchedSums({
  services: { modules },
  query: { window, format },
  access,
  file,
}: Omit<Requested<z.output<typeof sumsQuery>>, "http">): Promise<Reply> {
  const { items } = await modules.watchlists.get(access);
  const listed = await modules.catalog.findMany(items.map(({ repositoryId }) => repositoryId));
  const lengthMs = seriesWindowMs(window);
  const sum = await sumCounts(modules.database, listed, {
    recency: await modules.catalog.recency(),
    lengthMs,
  });
  const data = sum.points.map(sumPointView);
  const { stepDays, repositories: repositoryCount, measured: measuredCount } = sum;
  if (format === "csv") return csv(`${file}-${window}`, SUM_COLUMNS, data);
  return json({
    data,
    meta: { window, pointCount: data.length, stepDays, repositoryCount, measuredCount },
  });
}

/** A body that names repositories of a watchlist. */
export const namedBody = z
  .strictObject({
    repositoryId: idText.optional(),
    ids: idsField.optional(),
    fullNames: fullNamesField.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, {
    message: "is required, or ids, or fullNames",
    path: ["repositoryId"],
  });

type Named = z.output<typeof namedBody>;
type NamedModules = Pick<Modules, "catalog" | "rankings">;

/** The ids in a body, `texts`, then those of its names; `missing`: names that no repository has. Throws VALIDATION_FAILED. */
export async function readNamed(
  modules: NamedModules,
  { repositoryId, ids = [], fullNames = [] }: Named,
): Promise<{ ids: number[]; texts: string[]; missing: string[] }> {
  const references = readReferences({ fullNames });
  const found = await findReferenced(modules, references);
  const texts = [...(repositoryId === undefined ? [] : [repositoryId]), ...ids];
  const missing = textsOf(missingReferences(references, found, new Set(found.ids)));
  return { ids: [...texts.map(idNumber), ...found.ids], texts, missing };
}

/** Passes the ids in a body to `add`. Throws VALIDATION_FAILED for repositories that are unknown. */
export async function addNamed<T>(
  modules: NamedModules,
  body: Named,
  add: (ids: readonly number[]) => Promise<T>,
): Promise<T> {
  const { ids, texts, missing } = await readNamed(modules, body);
  if (missing.length > 0)
    throw invalidParameter("fullNames", "no repository has this name", { values: missing });
  return namingUnknown(body.ids === undefined ? "repositoryId" : "ids", texts, add(ids));
}

/** A validated id as a number; 0, which no repository has, if it is too large. */
function idNumber(text: string): number {
  return repositoryId(text) ?? 0;
}

/** Reports unknown repositories as a parameter error; `texts`: their ids as sent. */
async function namingUnknown<T>(
  parameter: string,
  texts: readonly string[] | undefined,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof UnknownRepositories)) throw error;
    const values = texts?.filter((_, i) => error.indexes.includes(i));
    throw invalidParameter(parameter, error.message, values === undefined ? {} : { values });
  }
}
