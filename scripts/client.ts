/** Writes the types of the client, from the OpenAPI document of the code. Run by `npm run client`. */
import { writeFileSync } from "node:fs";
import { openApiDocument } from "../src/api/openapi.js";
import { CLIENT_TYPES, clientTypes } from "./client-types.js";

writeFileSync(CLIENT_TYPES, clientTypes(openApiDocument("http://127.0.0.1:3000")));
