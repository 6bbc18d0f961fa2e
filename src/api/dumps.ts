import { open } from "node:fs/promises";
import { json, matchesTag, type Reply, streamed } from "../http/http.js";
import { AppError, errorCode } from "../lib/errors.js";
import { time, z } from "../lib/schema.js";
import { CATALOGUE_KINDS } from "../repositories/repositories.js";
import type { Dumps } from "../transfer/transfer.js";
import { type ApiServices, BINARY, dataResponse, operation } from "./operation.js";

const whole = z.int().nonnegative();

const dumpSchema = z
  .object({
    name: z.string().openapi({ description: "Of the file, such as sidereal-20260430T120000Z.ndjson.gz." }),
    url: z.url().openapi({ description: "The address of the file." }),
    asOf: time.openapi({ description: "It contains everything recorded before this time." }),
    version: z.int().openapi({
      description: "Version of the format. It grows when programs written for an earlier version may fail.",
    }),
    catalogue: z.enum(CATALOGUE_KINDS).openapi({ description: "Origin of the data." }),
    repositoryCount: whole,
    snapshots: whole,
    bytes: whole.openapi({ description: "Of the compressed file." }),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .openapi("Dump");

/** A dump never changes. */
const FOREVER = "public, max-age=31536000, immutable";
const TYPE = "application/gzip";

/** Throws NOT_FOUND if there are no dumps. */
function dumpsOf({ dumps }: ApiServices): Dumps {
  if (dumps === undefined) throw new AppError("NOT_FOUND", "This instance offers no dumps.");
  return dumps;
}

/** Whether a dump may be offered: one from before a repository was hidden may have it. */
async function offered({ modules }: ApiServices): Promise<(dump: { asOf: string }) => boolean> {
  const hiddenSince = await modules.catalog.hiding.since();
  return ({ asOf }) => Date.parse(asOf) >= hiddenSince;
}

export const listDumps = operation({
  id: "listDumps",
  tags: ["Dumps"],
  summary: "Dated files with all public data, newest first",
  description:
    "If the operator offers them: all repositories and snapshots as NDJSON, compressed with gzip, without personal data.",
  responses: { 200: dataResponse("The dumps.", z.array(dumpSchema)) },
  errors: ["NOT_FOUND"],
  handle: async ({ services }) => {
    const url = (name: string) => `${services.config.baseUrl}/api/dumps/${name}`;
    const dumps = (await dumpsOf(services).list()).filter(await offered(services));
    return json({ data: dumps.map(({ name, ...dump }) => ({ name, url: url(name), ...dump })) });
  },
});

export const getDumpFile = operation({
  id: "getDumpFile",
  tags: ["Dumps"],
  summary: "The file of a dump",
  description: "It never changes. Costs one unit. Single ranges are supported, so a download can be resumed.",
  params: z.object({
    file: z.string().openapi({
      description: "The name of the dump.",
      example: "sidereal-20260430T120000Z.ndjson.gz",
    }),
  }),
  headers: z.object({
    range: z.string().optional().openapi({ description: "A single range of bytes.", example: "bytes=1000-" }),
    "if-range": z
      .string()
      .optional()
      .openapi({ description: "The ETag of the file that the range is of.", example: '"9f86d081884c7d65"' }),
  }),
  responses: {
    200: {
      description: "The file.",
      headers: z.object({ "Content-Disposition": z.string() }),
      content: { [TYPE]: BINARY },
    },
    206: {
      description: "The range of the file.",
      headers: z.object({ "Content-Range": z.string() }),
      content: { [TYPE]: BINARY },
    },
  },
  errors: ["NOT_FOUND", "RANGE_NOT_SATISFIABLE"],
  handle: async ({ params, headers, http, services }): Promise<Reply> => {
    const dump = await dumpsOf(services).find(params.file);
    if (dump === undefined || !(await offered(services))(dump))
      throw new AppError("NOT_FOUND", "There is no such dump.");
    const { name, bytes, location } = dump;
    const etag = `"${dump.sha256}"`;
    if (matchesTag(http.headers["if-none-match"], etag))
      return { status: 304, headers: { "Cache-Control": FOREVER, ETag: etag }, body: null };
    const isSame = headers["if-range"] === undefined || headers["if-range"] === etag;
    const range = byteRange(isSame ? headers.range : undefined, bytes);
    if (range === "unsatisfiable")
      throw new AppError("RANGE_NOT_SATISFIABLE", "The file has no bytes in this range.", {
        headers: { "Content-Range": `bytes */${bytes}` },
      });
    const { from, until } = range ?? { from: 0, until: bytes };
    const opened = await open(location).catch((cause: Error) => {
      throw errorCode(cause) === "ENOENT"
        ? new AppError("NOT_FOUND", "This dump no longer exists.", { cause })
        : cause;
    });
    const stream = opened.createReadStream({ start: from, end: until - 1, highWaterMark: 256 * 1024 });
    const reply = streamed(TYPE, stream, {
      "Cache-Control": FOREVER,
      "Content-Disposition": `attachment; filename="${name}"`,
      ETag: etag,
      "Accept-Ranges": "bytes",
      "Content-Length": String(until - from),
      ...(range === undefined ? {} : { "Content-Range": `bytes ${from}-${until - 1}/${bytes}` }),
    });
    return { ...reply, status: range === undefined ? 200 : 206 };
  },
});

/** No single range needs more characters. */
const MAX_LENGTH = 64;

/**
 * The range that a Range header selects of a file (RFC 9110, 14.2), `until` excluded: undefined for all of it, also for several ranges
 * and for a malformed one, which may be ignored; "unsatisfiable" if the file has no byte of it.
 */
export function byteRange(
  header: string | undefined,
  bytes: number,
): { from: number; until: number } | "unsatisfiable" | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/i.exec(header) ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? "unsatisfiable" : { from: bytes - length, until: bytes };
  }
  const [from, until] = [Number(first), last === "" ? bytes : Math.min(Number(last) + 1, bytes)];
  if (last !== "" && Number(last) < from) return undefined;
  return from >= bytes ? "unsatisfiable" : { from, until };
}
