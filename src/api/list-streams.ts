import { listQuery, listSpec } from "../discovery/discovery.js";
import { streamed } from "../http/http.js";
import { z } from "../lib/schema.js";
import { repositoryFields } from "./fields.js";
import type { StreamFormat } from "./list-stream.js";
import { errorResponses, operation, type ResponseContract } from "./operation.js";

/** Media types of streamed lists. */
const TYPES: Readonly<Record<StreamFormat, string>> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv",
};

const wholeListQuery = listQuery
  .omit({ limit: true, page: true, cursor: true })
  .extend({ fields: repositoryFields });

interface Streaming {
  id: string;
  format: StreamFormat;
  summary: string;
  /** What the body is, for the contract. */
  body: string;
}

/** A whole list as a stream. */
function streaming({ id, format, summary, body }: Streaming) {
  const ok: ResponseContract = {
    description: body,
    headers: z.object({ "Content-Disposition": z.string() }),
    content: { [TYPES[format]]: { schema: z.string().openapi({ description: body }) } },
  };
  return operation({
    id,
    tags: ["Repositories"],
    summary,
    description:
      "The list of /api/repos without pages, sent row by row while it is read. Needs an API key, one stream at a time for each. A body that is cut short has no end: its last chunk is missing.",
    params: null,
    query: wholeListQuery,
    body: null,
    responses: { 200: ok, ...errorResponses("VALIDATION_FAILED", "UNAUTHENTICATED") },
    handle({ services, query }) {
      const { page: _, ...spec } = listSpec({ ...query, limit: 1 });
      const stream = services.streams.open({
        spec,
        format,
        fields: query.fields?.names,
        now: services.clock.now(),
      });
      return streamed(`${TYPES[format]}; charset=utf-8`, stream, {
        "Content-Disposition": `attachment; filename="sidereal-repositories.${format}"`,
      });
    },
  });
}

export const streamRepositories = streaming({
  id: "streamRepositories",
  format: "ndjson",
  summary: "Stream a whole list as one JSON object a line",
  body: "One repository a line, as in a list.",
});

export const streamRepositoriesCsv = streaming({
  id: "streamRepositoriesCsv",
  format: "csv",
  summary: "Stream a whole list as CSV",
  body: "The columns of a list, with a header line.",
});
