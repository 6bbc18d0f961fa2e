import { databaseFault, StoreRefused } from "../database/database.js";
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

/** Most probes give up after a second. */
const PATIENCE_MS = 900;
const LATE = new AppError("UNAVAILABLE", "The database has not responded within a second.");

export const getReadiness = operation({
  id: "getReadiness",
  tags: ["Operation"],
  summary: "Whether requests can be served: the database responds, and the catalogue is loaded",
  responses: { 200: dataResponse("They can.", status) },
  handle: async (request) => {
    const { admission, modules, clock } = request.services;
    if (admission.isDraining) throw new AppError("UNAVAILABLE", "The process is stopping.");
    try {
      const patience = new AbortController();
      const late = clock.sleep(PATIENCE_MS, patience.signal).then(() => Promise.reject(LATE));
      const ready = modules.catalog.revision().then(() => modules.live.current());
      await Promise.race([ready, late]).finally(() => patience.abort());
    } catch (cause) {
      throw cause instanceof AppError ? cause : new AppError("UNAVAILABLE", whyNot(cause), { cause });
    }
    return json({ data: { status: "ok" } });
  },
});

function whyNot(error: unknown): string {
  if (databaseFault(error) === undefined) return "The catalogue cannot be read.";
  const { cause } = error as Error;
  return cause instanceof StoreRefused ? cause.message : "The database does not respond.";
}
