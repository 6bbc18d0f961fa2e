import { extendZodWithOpenApi } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";

extendZodWithOpenApi(z);

/** Zod, extended with `.openapi()` for descriptions in the OpenAPI document. */
export { z };
