import { extendZodWithOpenApi } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";

extendZodWithOpenApi(z);

/** Zod, with `.openapi()` for what the OpenAPI document says about a schema. */
export { z };
