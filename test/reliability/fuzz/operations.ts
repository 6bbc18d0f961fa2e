/** What can be requested: the operations of the OpenAPI document, the pages and their forms. */
import type { Route } from "../../../src/http/route.js";
import { document } from "../../support/openapi.js";
import type { Schema } from "./schema-values.js";

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  isRequired: boolean;
  schema: Schema;
}

export interface Operation {
  method: string;
  /** With `{name}` for each path parameter. */
  path: string;
  parameters: readonly Parameter[];
  /** The schema of its JSON body. */
  body: Schema | undefined;
  /** The names of its form. */
  form: readonly string[] | undefined;
  /** Statuses of success; empty where no contract names them. */
  successes: readonly number[];
}

/** An operation as the document describes it. */
interface Described {
  parameters?: { name: string; in: Parameter["in"]; required?: boolean; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, unknown>;
}

/** How an operation is named in reports. */
export const nameOf = ({ method, path }: Operation): string => `${method} ${path}`;

/** Every operation of the OpenAPI document. */
export function apiOperations(): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Described>).map(([method, described]) => ({
      method: method.toUpperCase(),
      path,
      parameters: (described.parameters ?? []).map(({ name, in: place, required, schema }) => ({
        name,
        in: place,
        isRequired: required === true,
        schema,
      })),
      body: described.requestBody?.content["application/json"]?.schema,
      form: undefined,
      successes: Object.keys(described.responses)
        .map(Number)
        .filter((status) => status < 400),
    })),
  );
}

/** The fields that the form at a path reads. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/track": ["repository", "as", "next"],
  "/track/questions/{questionId}": ["most"],
  "/sample/dismiss": [],
  "/operator/leave": [],
  "/operator/tokens": ["forge", "token", "replaces"],
  "/operator/tokens/{id}/remove": [],
  "/operator/untrack": ["repository", "deletes"],
  "/operator/hidden": ["target", "reason", "note", "days"],
  "/operator/hidden/remove": ["target"],
  "/operator/accounts": ["network", "reason", "days", "do"],
  "/operator/accounts/{id}": ["do", "reason", "days", "key", "confirmation"],
  "/sign-in": ["email", "next"],
  "/sign-in/link": ["token", "next"],
  "/sign-in/code": ["code"],
  "/sign-in/resend": [],
  "/sign-in/{site}": ["next"],
  "/sign-out": [],
  "/account/sign-out-everywhere": [],
  "/account/delete": ["confirmation"],
  "/account/keys": ["name"],
  "/account/keys/{id}/revoke": [],
  "/account/passkeys/{id}/remove": [],
  "/account/sessions/{id}/end": [],
  "/account/sessions/end-others": [],
  "/watchlist/items": ["repositoryId", "repository", "next"],
  "/watchlist/items/remove": ["repositoryId", "next"],
  "/watchlist/feed": [],
  "/watchlist/feed/revoke": [],
  "/watchlists": ["name", "repositories"],
  "/watchlists/{token}/items": ["repository", "repositoryId", "next"],
  "/watchlists/{token}/items/remove": ["repositoryId", "next"],
  "/watchlists/{token}/rename": ["name"],
  "/watchlists/{token}/delete": [],
  "/watchlists/{token}/copy": [],
};

/** A message to `/mcp`, the only route with a JSON body that the document does not have. */
const MESSAGE: Schema = {
  type: "object",
  required: ["jsonrpc", "id", "method", "params"],
  properties: {
    jsonrpc: { enum: ["2.0"] },
    id: { type: "string" },
    method: { enum: ["tools/call", "tools/list", "initialize", "ping"] },
    params: {
      type: "object",
      required: ["name", "arguments"],
      properties: {
        name: {
          enum: ["search_repositories", "list_ranking", "get_repositories", "get_series", "create_watchlist"],
        },
        arguments: {
          type: "object",
          properties: {
            q: { type: "string" },
            repositories: { type: "array", items: { type: "string" } },
            window: { enum: ["24h", "7d", "30d", "90d", "all"] },
            limit: { type: "integer", minimum: 1, maximum: 25 },
            points: { type: "integer", minimum: 2, maximum: 100 },
            name: { type: "string" },
            cursor: { type: "string" },
          },
        },
      },
    },
  },
};

/** Pages, forms and files by the routes that serve them. Throws for a form whose fields are not listed above. */
export function pageOperations(routes: readonly Route[]): Operation[] {
  return routes.map(({ method, path, query, body }) => {
    const form = body === "form" ? FIELDS[path] : undefined;
    if (body === "form" && form === undefined)
      throw new Error(`the fields of the form at ${path} are not listed`);
    const text: Schema = { type: "string" };
    const inPath = [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = ""]) => name);
    return {
      method,
      path: path.replaceAll("*}", "}"),
      parameters: [
        ...inPath.map((name) => ({ name, in: "path" as const, isRequired: true, schema: text })),
        ...query.map((name) => ({ name, in: "query" as const, isRequired: false, schema: schemaOf(name) })),
      ],
      body: body === "json" ? MESSAGE : undefined,
      form,
      successes: [],
    };
  });
}

/** The schema of a page parameter: that of the API parameter with the same name, if there is one. */
function schemaOf(name: string): Schema {
  apiSchemas ??= new Map(
    apiOperations().flatMap(({ parameters }) => parameters.map(({ name, schema }) => [name, schema])),
  );
  return apiSchemas.get(name) ?? { type: "string" };
}

let apiSchemas: Map<string, Schema> | undefined;
