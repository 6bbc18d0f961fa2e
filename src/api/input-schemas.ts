import { OpenAPIRegistry, OpenApiGeneratorV31 } from "@asteasolutions/zod-to-openapi";
import { z } from "../lib/schema.js";
import { API_ROUTES } from "./routes.js";

const schemaSchema = z.record(z.string(), z.json());

/** A JSON Schema as the OpenAPI document has it. */
export type JsonSchema = z.output<typeof schemaSchema>;

/** Where a generated schema of query parameters and one of body fields is found. */
const generatedSchema = z.object({
  parameters: z
    .array(
      z.object({
        name: z.string(),
        description: z.string().optional(),
        schema: schemaSchema,
      }),
    )
    .default([]),
  requestBody: z
    .object({
      content: z.object({
        "application/json": z.object({
          schema: z.object({ properties: z.record(z.string(), schemaSchema) }),
        }),
      }),
    })
    .optional(),
});

/**
 * What an operation takes, by name: the JSON Schemas of its query parameters and body fields, as in the OpenAPI document. Takes a
 * millisecond or two, so keep the result. Throws for an operation that does not exist.
 */
export function inputSchemas(operationId: string): Record<string, JsonSchema> {
  const found = API_ROUTES.find(({ operation }) => operation.id === operationId);
  if (found === undefined) throw new Error(`${operationId} is no operation`);
  const { query, body } = found.operation;
  const registry = new OpenAPIRegistry();
  registry.registerPath({
    method: "post",
    path: "/",
    request: {
      ...(query === null ? {} : { query }),
      ...(body === null ? {} : { body: { content: { "application/json": { schema: body } } } }),
    },
    responses: {},
  });
  const { paths } = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: "3.1.0",
    info: { title: "", version: "" },
  });
  const { parameters, requestBody } = generatedSchema.parse(paths?.["/"]?.post);
  const described = parameters.map(({ name, description, schema }) => [
    name,
    description === undefined ? schema : { ...schema, description },
  ]);
  return {
    ...Object.fromEntries(described),
    ...requestBody?.content["application/json"].schema.properties,
  };
}
