import type { Account } from "../accounts/accounts.js";
import type { PngRenderer } from "../charts/charts.js";
import type { Config } from "../config/config.js";
import type { Admission, HttpRequest, Reply } from "../http/http.js";
import type { Clock } from "../lib/clock.js";
import { AppError, ERROR_STATUS, type ErrorCode } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import { validationError } from "../lib/validation.js";
import type { Members, Modules } from "../modules.js";
import type { Dumps } from "../transfer/transfer.js";

/** The services available to handlers. */
export interface ApiServices {
  modules: Modules;
  members: Members;
  config: Config;
  clock: Clock;
  admission: Admission;
  pictures: PngRenderer;
  /** Undefined: the instance offers none. */
  dumps: Dumps | undefined;
}

type Schema = z.ZodType | null;
type Parsed<S extends Schema> = S extends z.ZodType ? z.output<S> : undefined;

interface Schemas<P extends Schema, Q extends Schema, B extends Schema, H extends Schema> {
  params: P;
  query: Q;
  body: B;
  headers: H;
}

/**
 * A request whose parts were validated by the schemas of its operation. Not an object literal, as V8 keeps everything that its getter
 * can reach until the next full garbage collection.
 */
export class ApiRequest<P extends Schema, Q extends Schema, B extends Schema, H extends Schema> {
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
  readonly headers: Parsed<H>;
  /** The request as it arrived. */
  readonly http: HttpRequest;
  readonly services: ApiServices;

  /** Invalid data throws VALIDATION_FAILED. */
  constructor(http: HttpRequest, services: ApiServices, schemas: Schemas<P, Q, B, H>) {
    this.params = parse(schemas.params, http.params, { location: "param" });
    this.query = parseQuery(schemas.query, http.query);
    this.body = parse(schemas.body, http.json, { location: "body" });
    this.headers = parse(schemas.headers, http.headers, { location: "header" });
    this.http = http;
    this.services = services;
  }

  /** The signed-in account. Throws if the route has no `session` access. */
  get account(): Account {
    const { account } = this.http;
    if (account === undefined) throw new AppError("UNAUTHENTICATED", "Sign in first.");
    return account;
  }
}

interface Content {
  schema: z.ZodType;
}

/** A response in the contract: its description, and its schemas by media type. */
export interface ResponseContract {
  description: string;
  headers?: z.ZodObject;
  content?: Record<string, Content>;
}

/** The contract and handler of an operation. Its method, path, limits and cache policy are in the route table. */
interface OperationContract {
  /** The name of the handler, and the OpenAPI operation id. */
  id: string;
  tags: readonly string[];
  summary: string;
  description?: string;
  params: z.ZodObject | null;
  query: z.ZodObject | null;
  body: z.ZodType | null;
  headers: z.ZodObject | null;
  /** Those that are no errors, by status. */
  responses: Readonly<Record<string, ResponseContract>>;
  /** Its errors besides those that follow from its route, query and body; see `errorsOf` in openapi.ts. */
  errors?: readonly ErrorCode[];
}

export interface Operation extends OperationContract {
  bind: (services: ApiServices) => (request: HttpRequest) => Promise<Reply>;
}

/** Joins a contract with its handler, which receives validated data. Invalid data throws VALIDATION_FAILED. */
export function operation<
  P extends z.ZodObject | null = null,
  Q extends z.ZodObject | null = null,
  B extends z.ZodType | null = null,
  H extends z.ZodObject | null = null,
>({
  handle,
  params = null as P,
  query = null as Q,
  body = null as B,
  headers = null as H,
  ...rest
}: Omit<OperationContract, "params" | "query" | "body" | "headers"> & {
  params?: P;
  query?: Q;
  body?: B;
  headers?: H;
  handle: (request: ApiRequest<P, Q, B, H>) => Reply | Promise<Reply>;
}): Operation {
  const schemas = { params, query, body, headers };
  return {
    ...rest,
    ...schemas,
    bind: (services) => async (request) => handle(new ApiRequest(request, services, schemas)),
  };
}

/** Parameters by a schema. Throws VALIDATION_FAILED. */
function parseQuery<S extends Schema>(schema: S, query: URLSearchParams): Parsed<S> {
  const given: Record<string, string[]> = Object.create(null);
  for (const [name, value] of query) given[name] = [...(given[name] ?? []), value];
  const values = Object.entries(given).map(([name, all]) => [name, all.length === 1 ? all[0] : all]);
  return parse(schema, Object.fromEntries(values), { location: "query", given });
}

function parse<S extends Schema>(
  schema: S,
  value: unknown,
  { location, given }: { location: string; given?: Record<string, string[]> },
): Parsed<S> {
  if (schema === null) return undefined as Parsed<S>;
  const result = schema.safeParse(value);
  if (!result.success) throw validationError(result.error, location, given);
  return result.data as Parsed<S>;
}

const errorSchema = z
  .object({
    data: z.null(),
    error: z.object({
      code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
      message: z.string(),
      requestId: z.string(),
      details: z
        .array(
          z.object({
            parameter: z.string(),
            message: z.string(),
            allowed: z.array(z.string()).optional(),
            values: z.array(z.string()).optional(),
          }),
        )
        .optional(),
    }),
  })
  .openapi("Error");

const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    requestId: z.string(),
    details: z.array(z.unknown()).optional(),
  })
  .openapi("Problem", {
    description:
      "The same error in the format of RFC 9457, for callers that accept application/problem+json.",
  });

/** Errors that every operation can return, whatever it does: its `default` response. */
const ANY_OPERATION: readonly ErrorCode[] = [
  "INVALID_REQUEST",
  "INVALID_API_KEY",
  "FORBIDDEN",
  "ADDRESS_TOO_LONG",
  "HEADER_TOO_LARGE",
  "MISDIRECTED_REQUEST",
  "RATE_LIMITED",
  "INTERNAL",
  "UNAVAILABLE",
];

const failure = (codes: readonly ErrorCode[]): ResponseContract => ({
  description: [...new Set(codes)].join(", "),
  content: {
    "application/json": { schema: errorSchema },
    "application/problem+json": { schema: problemSchema },
  },
});

/** The response for all errors that an operation can return whatever it does. */
export const COMMON_ERRORS: Readonly<Record<"default", ResponseContract>> = {
  default: failure(ANY_OPERATION),
};

/** The error responses of an operation of its own, by status. */
export function errorResponses(...codes: ErrorCode[]): Record<number, ResponseContract> {
  const byStatus = Map.groupBy(codes, (code) => ERROR_STATUS[code]);
  return Object.fromEntries([...byStatus].map(([status, names]) => [status, failure(names)]));
}

/** A file that is not text. */
export const BINARY: Content = { schema: z.string().openapi({ format: "binary" }) };

/** A successful JSON response in the envelope. */
export function dataResponse(description: string, data: z.ZodType): ResponseContract {
  return { description, content: { "application/json": { schema: z.object({ data }) } } };
}

/** The same, which sets a cookie. */
export function cookieResponse(description: string, data: z.ZodType): ResponseContract {
  return { ...dataResponse(description, data), headers: z.object({ "Set-Cookie": z.string() }) };
}

/** A successful JSON response in the envelope, with metadata; a page of a list has a Link header. */
export function dataMetaResponse(description: string, data: z.ZodType, meta: z.ZodObject): ResponseContract {
  const headers = "page" in meta.shape ? { headers: z.object({ Link: z.string() }) } : {};
  return { description, ...headers, content: { "application/json": { schema: z.object({ data, meta }) } } };
}
