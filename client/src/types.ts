/** The generated types of one request of the API: its parameters, its body, and the result of a success. */
import type { CommonOptions } from "./options.js";
import type { paths } from "./schema.js";

/** Methods of the API. */
export type Method = "get" | "post" | "patch" | "delete";

interface AnyOperation {
  parameters: { query?: unknown; header?: unknown; path?: unknown };
  requestBody?: unknown;
  responses: Record<number, unknown>;
}

/** The paths that have this method. */
export type PathWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: AnyOperation } ? P : never;
}[keyof paths];

/** The operation behind a method and path. */
export type OperationAt<M extends Method, P extends PathWith<M>> = Extract<
  paths[P][M & keyof paths[P]],
  AnyOperation
>;

/** The JSON of a success; `undefined` for one without a body; `never` for an operation that has no JSON. */
export type JsonOf<O extends AnyOperation> = {
  [S in keyof O["responses"]]: O["responses"][S] extends { content: { "application/json": infer Body } }
    ? Body
    : S extends 204
      ? undefined
      : never;
}[keyof O["responses"]];

/** The paths whose responses to this method are JSON, or empty. */
export type JsonPathWith<M extends Method> = {
  [P in PathWith<M>]: [JsonOf<OperationAt<M, P>>] extends [never] ? never : P;
}[PathWith<M>];

/** A page of a list, with the facts that lead to the next one. */
export interface Page<Row = unknown> {
  data: readonly Row[];
  meta: { hasMore: boolean; nextCursor: string | null; page: number | null };
}

/** The paths that return lists in pages. */
export type PagedPath = {
  [P in JsonPathWith<"get">]: JsonOf<OperationAt<"get", P>> extends Page ? P : never;
}[JsonPathWith<"get">];

/** The JSON of one page. */
export type PageOf<P extends PagedPath> = Extract<JsonOf<OperationAt<"get", P>>, Page>;

/** A row of a list. */
export type RowOf<P extends PagedPath> = PageOf<P> extends Page<infer Row> ? Row : never;

/** The paths that return whole lists, one repository a line. */
export type StreamPath = {
  [P in PathWith<"get">]: OperationAt<"get", P>["responses"] extends {
    200: { content: { "application/x-ndjson": unknown } };
  }
    ? P
    : never;
}[PathWith<"get">];

/** The parameters and the body of an operation. `Left` are query parameters that may not be given. */
export type OptionsOf<O extends AnyOperation, Left extends string = never> = CommonOptions &
  Part<"path", O["parameters"]["path"]> &
  Part<"query", Values<O["parameters"]["query"], Left>> &
  Part<"body", BodyOf<O["requestBody"]>>;

/** As the last argument of a call: optional, if everything in it is. */
export type Argument<T> = Record<never, never> extends T ? [options?: T] : [options: T];

type Part<Name extends string, T> = [T] extends [never]
  ? Record<never, never>
  : [Exclude<T, undefined>] extends [never]
    ? Record<never, never>
    : undefined extends T
      ? { [N in Name]?: T }
      : Record<never, never> extends T
        ? { [N in Name]?: T | undefined }
        : { [N in Name]: T };

type BodyOf<B> = B extends { content: { "application/json": infer Body } } ? Body : never;

type Values<Q, Left extends string> = Q extends object
  ? { [K in keyof Q as K extends Left ? never : K]: Value<Q[K]> | OptionalIn<Q, K> }
  : never;

type OptionalIn<Q, K extends keyof Q> = Record<never, never> extends Pick<Q, K> ? undefined : never;

/** Also accepts true for "true", one value in place of a list, and undefined for a parameter that is not sent. */
type Value<T> = T extends "true" | "false"
  ? T | boolean
  : T extends readonly (infer U)[]
    ? U | readonly U[]
    : T;
