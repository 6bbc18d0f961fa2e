import { OpenAPIRegistry, OpenApiGeneratorV31 } from "@asteasolutions/zod-to-openapi";
import { z } from "../lib/schema.js";

const parametersSchema = z.array(
  z.object({
    name: z.string(),
    required: z.boolean().default(false),
    description: z.string().optional(),
    schema: z.record(z.string(), z.json()),
  }),
);

/** The JSON Schema of parameters, as the OpenAPI document has it. Takes a millisecond or two, so keep the result. */
export function inputSchema(query: z.ZodObject) {
  const registry = new OpenAPIRegistry();
  registry.registerPath({ method: "get", path: "/", request: { query }, responses: {} });
  const info = { openapi: "3.1.0", info: { title: "", version: "" } };
  const { paths } = new OpenApiGeneratorV31(registry.definitions).generateDocument(info);
  const parameters = parametersSchema.parse(paths?.["/"]?.get?.parameters ?? []);
  const required = parameters.flatMap((one) => (one.required ? one.name : []));
  return {
    type: "object" as const,
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [
        name,
        description === undefined ? schema : { ...schema, description },
      ]),
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}
