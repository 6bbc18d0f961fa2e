import { Readable } from "node:stream";
import { decodeCursor, type ListSpec, listKey, listQuery, listSpec } from "../discovery/discovery.js";
import { streamed } from "../http/http.js";
import { ownTurn } from "../lib/loop-turns.js";
import { z } from "../lib/schema.js";
import { csvHeader, csvLine, REPOSITORY_COLUMNS, repositoryRow } from "./csv.js";
import { type ApiServices, operation, type ResponseContract } from "./operation.js";
import { repositoryView } from "./views.js";

type Format = "ndjson" | "csv";

const TYPES: Readonly<Record<Format, string>> = { ndjson: "application/x-ndjson", csv: "text/csv" };

/** Rows that are read and written in one turn of the event loop, and most rows of a stream. */
const BATCH_ROWS = 500;
const MAX_ROWS = 10_000;

/** The rows of a list as text, a batch at a time: page after page by cursor, so rows neither repeat nor are skipped while data changes. */
async function* batchesOf(
  { modules: { lists }, clock }: Pick<ApiServices, "modules" | "clock">,
  list: ListSpec,
  format: Format,
) {
  let text = format === "csv" ? csvHeader(REPOSITORY_COLUMNS) : "";
  let page: ListSpec["page"] = { limit: BATCH_ROWS, offset: 0 };
  for (let left = MAX_ROWS; left > 0; left -= BATCH_ROWS) {
    const { rows, nextCursor } = await lists.read({ ...list, page });
    for (const view of rows.map(repositoryView))
      text +=
        format === "csv"
          ? csvLine(REPOSITORY_COLUMNS, repositoryRow(view, clock.now()))
          : `${JSON.stringify(view)}\n`;
    yield Buffer.from(text);
    if (nextCursor === null) return;
    page = { limit: BATCH_ROWS, after: decodeCursor(listKey(list), nextCursor) };
    text = "";
    await ownTurn();
  }
}

interface Streaming {
  id: string;
  format: Format;
  summary: string;
  /** What the body is, for the contract. */
  body: string;
  example: string;
}

function streaming({ id, format, summary, body, example }: Streaming) {
  const ok: ResponseContract = {
    description: body,
    headers: z.object({ "Content-Disposition": z.string() }),
    content: { [TYPES[format]]: { schema: z.string().openapi({ description: body, example }) } },
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
      const batches = batchesOf(services, listSpec({ ...query, limit: 1 }), format);
      // Read here, so that a failure is an ordinary error.
      const first = await batches.next();
      async function* body() {
        if (first.value !== undefined) yield first.value;
        yield* batches;
      }
      return streamed(`${TYPES[format]}; charset=utf-8`, Readable.from(body()), {
        "Content-Disposition": `attachment; filename="sidereal-repositories.${format}"`,
      });
    },
  });
}

export const streamRepositories = streaming({
  id: "streamRepositories",
  format: "ndjson",
  summary: "Stream a whole list as one JSON object per line",
  body: "One repository a line, as in a list.",
  example: '{"fullName":"vuejs/core","stars":51720}\n',
});

export const streamRepositoriesCsv = streaming({
  id: "streamRepositoriesCsv",
  format: "csv",
  summary: "Stream a whole list as CSV",
  body: "The columns of a list, with a header line.",
  example: "fullName,stars\r\nvuejs/core,51720\r\n",
});
