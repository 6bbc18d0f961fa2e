import { Readable } from "node:stream";
import {
  decodeCursor,
  LAST_NUMBERED,
  type ListPage,
  type ListQuery,
  type ListRow,
  type ListSpec,
  listKey,
  listPage,
  listQuery,
  listSpec,
  type Sort,
  windowsOf,
} from "../discovery/discovery.js";
import { addressOf, type HttpRequest, json, type Reply, streamed } from "../http/http.js";
import { timeOrNull } from "../lib/clock.js";
import { ownTurn } from "../lib/loop-turns.js";
import { z } from "../lib/schema.js";
import {
  type CsvColumn,
  csv,
  csvHeader,
  csvLine,
  fieldColumns,
  formatParameter,
  orCsv,
  REPOSITORY_COLUMNS,
  type RepositoryRow,
  repositoryRow,
} from "./csv.js";
import { MAX_REFERENCES, namedPage, namedParameters } from "./named.js";
import { type ApiServices, dataMetaResponse, operation, type ResponseContract } from "./operation.js";
import {
  measuredView,
  type RepositoryView,
  repositoryPageMetaSchema,
  repositorySchema,
  repositoryView,
} from "./views.js";

/** Lists of repositories: as pages in JSON or CSV, and whole lists as streams. */

type PageMeta = z.output<typeof repositoryPageMetaSchema>;

/** The columns of a list, with the time at which a repository was added to a watchlist. */
export const WATCHED_COLUMNS: readonly CsvColumn<RepositoryRow & { addedAt: string | null }>[] = [
  ...REPOSITORY_COLUMNS,
  ...fieldColumns(["addedAt"]),
];

/** A page with the fields of meta that only some lists have. */
type ShownPage = Omit<ListPage, "sort"> & Pick<PageMeta, "sort" | "requested" | "missing">;

/** The meta of the response with a page. */
export function pageMeta(
  { rows: _, asOf, ageDays, measured, renamed, ...found }: ShownPage,
  { limit, window }: Pick<ListQuery, "limit" | "window">,
): PageMeta {
  return {
    ...found,
    totalIsExact: true,
    limit,
    window,
    asOf: timeOrNull(asOf),
    ageDays,
    measured: measuredView(measured),
    ...(renamed && { renamed: { ...renamed, to: { ...renamed.to, id: String(renamed.to.id) } } }),
  };
}

/** A request for a page. */
interface PageRequest<Query = Pick<ListQuery, "limit" | "window">> {
  services: ApiServices;
  http: HttpRequest;
  query: Query & { format: "json" | "csv" };
}

/**
 * A page of a list in the requested format, with its Link header. CSV has no meta, so only the header leads to the next page. `file`: name
 * of the CSV file. `addedAt`: when the repositories of a watchlist were added to it, by id; a row without an entry was removed meanwhile.
 */
export function repositoryPage(
  page: ShownPage,
  { services: { config, clock }, http, query }: PageRequest,
  file: string,
  addedAt?: ReadonlyMap<number, number>,
): Reply {
  const { rows: all } = page;
  const rows = addedAt === undefined ? all : all.filter(({ repository }) => addedAt.has(repository.id));
  const { limit, format } = query;
  const viewOf = (row: ListRow) => ({
    ...repositoryView(row),
    addedAt: timeOrNull(addedAt?.get(row.repository.id)),
  });
  const recordOf = addedAt === undefined ? repositoryView : viewOf;
  const columns = addedAt === undefined ? REPOSITORY_COLUMNS : WATCHED_COLUMNS;
  const reply =
    format === "csv"
      ? csv(
          file,
          columns,
          rows.map((row) => repositoryRow(viewOf(row), clock.now())),
        )
      : json({ data: rows.map((row) => recordOf(row)), meta: pageMeta(page, query) });
  const Link = linkHeader(http, config.baseUrl, { ...page, limit });
  return { ...reply, headers: { ...reply.headers, Link } };
}

interface PageLinks {
  nextCursor: string | null;
  /** Page number; null for a page requested by cursor. */
  page: number | null;
  /** Number of the next page, for lists without cursors. */
  nextPage?: number;
  limit: number;
  total: number;
}

/** The Link header (RFC 8288) of a page: the first page, the previous one that has rows, the next, and the last. */
export function linkHeader(http: HttpRequest, baseUrl: string, links: PageLinks): string {
  const { nextCursor, page, nextPage, limit, total } = links;
  const pages = Math.ceil(total / limit);
  const last = pages > 0 && pages * limit <= LAST_NUMBERED ? pages : undefined;
  const link = (rel: string, changes: Record<string, string | undefined>): string => {
    const query = new URLSearchParams(http.query);
    for (const [name, value] of Object.entries(changes)) {
      query.delete(name);
      if (value !== undefined) query.set(name, value);
    }
    return `<${baseUrl}${addressOf({ path: http.path, query })}>; rel="${rel}"`;
  };
  const byNumber = (rel: string, number: number) =>
    link(rel, { page: number === 1 ? undefined : String(number), cursor: undefined });
  const all = [byNumber("first", 1)];
  if (page !== null && page > 1 && total > 0) all.push(byNumber("prev", Math.min(page - 1, last ?? page)));
  if (nextCursor !== null) all.push(link("next", { page: undefined, cursor: nextCursor }));
  else if (nextPage !== undefined) all.push(byNumber("next", nextPage));
  if (last !== undefined) all.push(byNumber("last", last));
  return all.join(", ");
}

const withFormat = { format: formatParameter };

const responses = {
  200: orCsv(
    dataMetaResponse("A page of repositories.", z.array(repositorySchema), repositoryPageMetaSchema),
    REPOSITORY_COLUMNS,
  ),
};

async function pageOf(request: PageRequest<ListQuery>, file: string): Promise<Reply> {
  return repositoryPage(await listPage(request.services.modules, request.query), request, file);
}

export const listRepositories = operation({
  id: "listRepositories",
  tags: ["Repositories"],
  summary: "List repositories, filtered, searched and sorted",
  description:
    "Sorts by growth contain only repositories that have a trend in the window. A search sorted by anything but relevance covers its 10,000 best matches.",
  query: listQuery.extend({ ...namedParameters, ...withFormat }),
  responses,
  handle: async (request) => {
    const { services, http, query } = request;
    const file = "sidereal-repositories";
    if (query.id === undefined && query.fullName === undefined) return pageOf(request, file);
    const page = await namedPage(services, query, [...http.query.keys()]);
    return repositoryPage(page, { services, http, query: { ...query, limit: MAX_REFERENCES } }, file);
  },
});

/** A list with a fixed sort; all other parameters are those of /api/repos. */
function ranking(id: string, sort: Sort, summary: string) {
  const description = "The window over which growth is measured.";
  const window = z.enum(windowsOf(sort)).default("24h").openapi({ description });
  return operation({
    id,
    tags: ["Rankings"],
    summary,
    description: `The same list as /api/repos?sort=${sort}. See the documentation of the scores; explain=true in the detail of a repository explains its own scores.`,
    query: listQuery.omit({ sort: true }).extend({ ...withFormat, window }),
    responses,
    handle: ({ services, http, query }) =>
      pageOf({ services, http, query: { ...query, sort } }, `sidereal-${sort}`),
  });
}

export const listTrending = ranking("listTrending", "trending", "Most stars gained for their usual day");
export const listRising = ranking("listRising", "rising", "Most times their usual day");
export const listNewHot = ranking("listNewHot", "new-hot", "Trending among young repositories");

/** Rows that are read and written in one turn of the event loop, and most rows of a stream. */
const BATCH_ROWS = 500;
const MAX_ROWS = 10_000;

interface Stream {
  id: string;
  summary: string;
  /** Extension of the file. */
  format: string;
  type: string;
  /** The body, in words. */
  body: string;
  example: string;
  header: string;
  line: (view: RepositoryView, now: number) => string;
}

/** The rows of a list as text, a batch at a time: page after page by cursor, so rows neither repeat nor are skipped while data changes. */
async function* batchesOf(
  { modules: { lists }, clock }: Pick<ApiServices, "modules" | "clock">,
  list: ListSpec,
  { header, line }: Stream,
) {
  let text = header;
  let page: ListSpec["page"] = { limit: BATCH_ROWS, offset: 0 };
  for (let left = MAX_ROWS; left > 0; left -= BATCH_ROWS) {
    const { rows, nextCursor } = await lists.read({ ...list, page });
    for (const row of rows) text += line(repositoryView(row), clock.now());
    yield Buffer.from(text);
    if (nextCursor === null) return;
    page = { limit: BATCH_ROWS, after: decodeCursor(listKey(list), nextCursor) };
    text = "";
    await ownTurn();
  }
}

function streaming(stream: Stream) {
  const { id, summary, format, type, body, example } = stream;
  const ok: ResponseContract = {
    description: body,
    headers: z.object({ "Content-Disposition": z.string() }),
    content: { [type]: { schema: z.string().openapi({ description: body, example }) } },
  };
  return operation({
    id,
    tags: ["Repositories"],
    summary,
    description:
      "The first 10,000 rows of the list of /api/repos, without pages, read while they are sent. Needs an API key. The last chunk of a body that is cut short is missing.",
    query: listQuery.omit({ limit: true, page: true, cursor: true }),
    responses: { 200: ok },
    async handle({ services, query }) {
      const batches = batchesOf(services, listSpec({ ...query, limit: 1 }), stream);
      // Read here, so that a failure is an ordinary error.
      const first = await batches.next();
      async function* rest() {
        if (first.value !== undefined) yield first.value;
        yield* batches;
      }
      return streamed(`${type}; charset=utf-8`, Readable.from(rest()), {
        "Content-Disposition": `attachment; filename="sidereal-repositories.${format}"`,
      });
    },
  });
}

export const streamRepositories = streaming({
  id: "streamRepositories",
  summary: "Stream a whole list as one JSON object per line",
  format: "ndjson",
  type: "application/x-ndjson",
  body: "One repository a line, as in a list.",
  example: '{"fullName":"vuejs/core","stars":51720}\n',
  header: "",
  line: (view) => `${JSON.stringify(view)}\n`,
});

export const streamRepositoriesCsv = streaming({
  id: "streamRepositoriesCsv",
  summary: "Stream a whole list as CSV",
  format: "csv",
  type: "text/csv",
  body: "The columns of a list, with a header line.",
  example: "fullName,stars\r\nvuejs/core,51720\r\n",
  header: csvHeader(REPOSITORY_COLUMNS),
  line: (view, now) => csvLine(REPOSITORY_COLUMNS, repositoryRow(view, now)),
});
