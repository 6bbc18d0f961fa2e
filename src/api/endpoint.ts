import { type OpenAPIHono, type RouteConfig, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import type { Account } from "../accounts/accounts.js";
import type { Config } from "../config.js";
import type { PngRenderer } from "../embeds/embeds.js";
import { type AppError, ERROR_STATUS, type ErrorCode } from "../errors.js";
import type { Caller } from "../metering/metering.js";
import type { Members, Modules } from "../modules.js";
import { type Access, SECURITY } from "./access.js";
import { checkBody } from "./body.js";
import type { Gate } from "./gate.js";
import { type Meter, RATE_HEADERS, type RouteLimit } from "./meter.js";

/** What the front has found out about a request. */
export interface ApiBindings {
  caller: Caller;
}

/** What handlers find in their context. */
export interface ApiEnv {
  Bindings: ApiBindings;
  Variables: {
    modules: Modules;
    requestId: string;
    config: Config;
    members: Members;
    /** Who is signed in; only where the access of the route is `session`. */
    account: Account;
    meter: Meter;
    /** Makes pictures of pixels. */
    pictures: PngRenderer;
    /** Through which what costs the caller nothing must pass. */
    gate: Gate;
  };
}

export type ApiContext = Context<ApiEnv>;
export type ApiApp = OpenAPIHono<ApiEnv>;

/** One route: its contract and what answers it. */
export interface Endpoint {
  route: RouteConfig;
  /** The router's pattern, where it is not the path of the contract. */
  pattern: string | undefined;
  limit: RouteLimit;
  register(app: ApiApp, access: Access, guards: readonly MiddlewareHandler<ApiEnv>[]): void;
}

/** Joins a contract with its handler and with what its requests count for; the handler's name is the operation id. */
export function endpoint<R extends RouteConfig>(
  route: R,
  handler: RouteHandler<R, ApiEnv>,
  { pattern, ...limit }: RouteLimit & { pattern?: string },
): Endpoint {
  return {
    route,
    pattern,
    limit,
    register: (app, access, guards) => {
      const declared = { ...route, security: SECURITY[access] };
      const told = limit.bucket === "none" ? declared : withLimit(declared, limit);
      // The document shows the path with its parameter; the router needs a pattern that lets slashes through.
      if (pattern !== undefined) app.openAPIRegistry.registerPath(told);
      const served = pattern === undefined ? told : { ...declared, path: pattern, hide: true };
      const middleware = [...guards, ...(route.request?.body === undefined ? [] : [checkBody])];
      app.openapi({ ...served, middleware }, handler as never);
    },
  };
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
    description: "The same facts as RFC 9457, for those who accept application/problem+json.",
  });

const rateHeaders = z.object(
  Object.fromEntries(
    Object.entries(RATE_HEADERS).map(([name, description]) => [
      name,
      z.string().optional().openapi({ description }),
    ]),
  ),
);

/** The contract with the headers that all its answers have, and the refusal. */
function withLimit(route: RouteConfig, { bucket, isFree }: RouteLimit): RouteConfig {
  const responses: RouteConfig["responses"] = {
    ...route.responses,
    ...(isFree ? {} : { 429: errorResponses("RATE_LIMITED")[429] }),
  };
  const told = Object.entries(responses).map(([status, response]) => {
    if (response === undefined || "$ref" in response) return [status, response];
    const own = response.headers instanceof z.ZodObject ? response.headers.shape : {};
    const wait = status === "429" ? { "Retry-After": z.string() } : {};
    return [status, { ...response, headers: rateHeaders.extend({ ...own, ...wait }) }];
  });
  return { ...route, responses: Object.fromEntries(told), "x-rate-limit-bucket": bucket };
}

type ErrorContent = {
  description: string;
  content: {
    "application/json": { schema: typeof errorSchema };
    "application/problem+json": { schema: typeof problemSchema };
  };
};

/** The error answers of a route, by code. Every route can also answer 400, 401 for a bad key, 500 and 503. */
export function errorResponses(...codes: ErrorCode[]): Record<number, ErrorContent> {
  const all: ErrorCode[] = ["INVALID_REQUEST", "INVALID_API_KEY", "INTERNAL", "UNAVAILABLE", ...codes];
  const byStatus = Map.groupBy(all, (code) => ERROR_STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      {
        description: [...new Set(names)].join(", "),
        content: {
          "application/json": { schema: errorSchema },
          "application/problem+json": { schema: problemSchema },
        },
      },
    ]),
  );
}

/** A successful JSON answer in the envelope. */
export function dataResponse<Data extends z.ZodType>(description: string, data: Data) {
  return { description, content: { "application/json": { schema: z.object({ data }) } } };
}

/** A successful JSON answer in the envelope, with facts about it. */
export function dataMetaResponse<Data extends z.ZodType, Meta extends z.ZodType>(
  description: string,
  data: Data,
  meta: Meta,
) {
  return { description, content: { "application/json": { schema: z.object({ data, meta }) } } };
}

/** Whether a caller asks for errors as RFC 9457. */
export function acceptsProblem(accept: string | null | undefined): boolean {
  return accept?.includes("application/problem+json") ?? false;
}

/** In which form a caller wants errors: problem details, JSON in any case, or whatever an address gives. */
export function errorForm(accept: string | null | undefined): "problem" | "json" | "any" {
  if (acceptsProblem(accept)) return "problem";
  return accept?.trim().startsWith("application/json") ? "json" : "any";
}

/** An error as a response, in the form the caller accepts. */
export function errorResponse(
  error: AppError,
  requestId: string,
  accept: string | null | undefined,
): Response {
  const { code, message, status, details } = error;
  const isProblem = acceptsProblem(accept);
  const title = code.charAt(0) + code.slice(1).toLowerCase().replaceAll("_", " ");
  const body = isProblem
    ? { type: "about:blank", title, status, detail: message, code, requestId, ...(details && { details }) }
    : { data: null, error: { code, message, requestId, ...(details && { details }) } };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "Content-Type": `${isProblem ? "application/problem+json" : "application/json"}; charset=utf-8`,
      "Cache-Control": "no-store",
      Vary: "Accept, Accept-Encoding",
      ...(status === 503 ? { "Retry-After": "5" } : {}),
      ...error.headers,
    },
  });
}
