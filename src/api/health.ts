import { json } from "../http/http.js";
import { AppError } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import { dataResponse, operation } from "./operation.js";

const status = z.object({ status: z.literal("ok") });

export const getHealth = operation({
  id: "getHealth",
  tags: ["Operation"],
  summary: "Whether the process responds",
  responses: { 200: dataResponse("It does.", status) },
  handle: () => json({ data: { status: "ok" } }),
});

export const getReadiness = operation({
  id: "getReadiness",
  tags: ["Operation"],
  summary: "Whether requests can be served: the database responds",
  responses: { 200: dataResponse("They can.", status) },
  handle: async (request) => {
    if (request.services.admission.isDraining) throw new AppError("UNAVAILABLE", "The process is stopping.");
    try {
      await request.services.modules.catalog.revision();
    } catch (cause) {
      throw new AppError("UNAVAILABLE", "The database does not respond.", { cause });
    }
    return json({ data: { status: "ok" } });
  },
});
