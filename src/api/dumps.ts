import { open } from "node:fs/promises";
import { content, json, matchesTag, type Reply, streamed } from "../http/http.js";
import { AppError, errorCode } from "../lib/errors.js";
import { time, z } from "../lib/schema.js";
import { CATALOGUE_KINDS } from "../repositories/repositories.js";
import { type Dump, type Dumps, sumsOf } from "../transfer/transfer.js";
import { type ApiServices, BINARY, dataResponse, operation } from "./operation.js";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const whole = z.int().nonnegative();

const dumpSchema = z
  .object({
    id: z.string().openapi({ description: "Its time, such as 20260430T120000Z." }),
    asOf: time.openapi({ description: "It contains everything recorded before this time." }),
    version: z.int().openapi({
      description: "Version of the format. It grows when programs written for an earlier version may fail.",
    }),
    catalogue: z.enum(CATALOGUE_KINDS).openapi({ description: "Origin of the data." }),
    repositoryCount: whole,
    snapshots: whole,
    bytes: whole.openapi({ description: "Of all files." }),
    checksums: z.url().openapi({ description: "The checksums of all files, for sha256sum -c." }),
    files: z.array(
      z.object({
        path: z.string().openapi({ description: "repositories.parquet, or snapshots/YYYY-MM.parquet." }),
        url: z.url(),
        bytes: whole,
        rows: whole,
        sha256,
      }),
    ),
  })
  .openapi("Dump");

const SUMS = "SHA256SUMS";
/** A file of a dump never changes. */
const FOREVER = "public, max-age=31536000, immutable";

function dumpView(dump: Dump, baseUrl: string): z.output<typeof dumpSchema> {
  const { name, asOf, version, catalogue, repositoryCount, snapshots, files } = dump;
  const url = (path: string) => `${baseUrl}/api/dumps/${name}/${path}`;
  return {
    id: name,
    asOf,
    version,
    catalogue,
    repositoryCount,
    snapshots,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    checksums: url(SUMS),
    files: files.map(({ path, bytes, rows, sha256 }) => ({ path, url: url(path), bytes, rows, sha256 })),
  };
}

/** Throws NOT_FOUND where there are no dumps. */
function dumpsOf({ dumps }: ApiServices): Dumps {
  if (dumps === undefined) throw new AppError("NOT_FOUND", "This instance offers no dumps.");
  return dumps;
}

export const listDumps = operation({
  id: "listDumps",
  tags: ["Dumps"],
  summary: "Dated files with all public data, newest first",
  description:
    "If the operator offers them: the repositories, except those that their forge hides or blocks, and their snapshots as Parquet files, without personal data.",
  responses: { 200: dataResponse("The dumps.", z.array(dumpSchema)) },
  errors: ["NOT_FOUND"],
  handle: async ({ services }) => {
    const { baseUrl } = services.config;
    return json({ data: (await dumpsOf(services).list()).map((dump) => dumpView(dump, baseUrl)) });
  },
});

export const getDumpFile = operation({
  id: "getDumpFile",
  tags: ["Dumps"],
  summary: "A file of a dump",
  description:
    "One of the paths of the dump, or SHA256SUMS. A file never changes. Costs one unit. Single ranges are supported, so a download can be resumed.",
  params: z.object({
    dump: z.string().openapi({ description: "The id of the dump.", example: "20260430T120000Z" }),
    file: z.string().openapi({ description: "The path of the file.", example: "repositories.parquet" }),
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
      content: {
        "application/vnd.apache.parquet": BINARY,
        "text/plain": {
          schema: z.string().openapi({ example: `${"5f".repeat(32)}  repositories.parquet\n` }),
        },
      },
    },
    206: {
      description: "The range of the file.",
      headers: z.object({ "Content-Range": z.string() }),
      content: { "application/vnd.apache.parquet": BINARY },
    },
  },
  errors: ["NOT_FOUND", "RANGE_NOT_SATISFIABLE"],
  handle: async ({ params, headers, http, services }): Promise<Reply> => {
    const dumps = dumpsOf(services);
    const dump = (await dumps.list()).find(({ name }) => name === params.dump);
    if (dump !== undefined && params.file === SUMS)
      return content("text/plain; charset=utf-8", sumsOf(dump), {
        headers: attachment(`${dump.name}-${SUMS}`),
      });
    const file = await dumps.find(params.dump, params.file);
    if (file === undefined) throw new AppError("NOT_FOUND", "No dump has this file.");
    const etag = `"${file.sha256}"`;
    const common = { ...attachment(`${params.dump}-${file.path.replace("/", "-")}`), ETag: etag };
    if (matchesTag(http.headers["if-none-match"], etag))
      return { status: 304, headers: { "Cache-Control": FOREVER, ETag: etag }, body: null };
    const isSame = headers["if-range"] === undefined || headers["if-range"] === etag;
    const range = byteRange(isSame ? headers.range : undefined, file.bytes);
    if (range === "unsatisfiable")
      throw new AppError("RANGE_NOT_SATISFIABLE", "The file has no bytes in this range.", {
        headers: { "Content-Range": `bytes */${file.bytes}` },
      });
    const { from, until } = range ?? { from: 0, until: file.bytes };
    const opened = await open(file.location).catch((cause: Error) => {
      throw errorCode(cause) === "ENOENT"
        ? new AppError("NOT_FOUND", "This file no longer exists.", { cause })
        : cause;
    });
    const stream = opened.createReadStream({ start: from, end: until - 1, highWaterMark: 256 * 1024 });
    const reply = streamed("application/vnd.apache.parquet", stream, {
      ...common,
      "Accept-Ranges": "bytes",
      "Content-Length": String(until - from),
      ...(range === undefined ? {} : { "Content-Range": `bytes ${from}-${until - 1}/${file.bytes}` }),
    });
    return { ...reply, status: range === undefined ? 200 : 206 };
  },
});

/** No single range needs more characters. */
const MAX_LENGTH = 64;

/**
 * The range that a Range header selects of a file (RFC 9110, 14.2), `until` excluded: undefined for all of it, also for several ranges
 * and for what is malformed, which may be ignored; "unsatisfiable" if the file has no byte of it.
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

const attachment = (name: string) => ({
  "Cache-Control": FOREVER,
  "Content-Disposition": `attachment; filename="sidereal-${name}"`,
});
