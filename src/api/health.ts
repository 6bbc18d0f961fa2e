import { createRoute, z } from "@hono/zod-openapi";
import { AppError } from "../errors.js";
import { dataResponse, endpoint, errorResponses } from "./endpoint.js";

const status = z.object({ status: z.literal("ok") });

export const getHealth = endpoint(
  createRoute({
    method: "get",
    path: "/healthz",
    operationId: "getHealth",
    tags: ["Operation"],
    summary: "Whether the process answers",
    responses: { 200: dataResponse("It does.", status), ...errorResponses() },
  }),
  (context) => {
    context.header("Cache-Control", "no-store");
    return context.json({ data: { status: "ok" as const } }, 200);
  },
  { bucket: "none" },
);

export const getReadiness = endpoint(
  createRoute({
    method: "get",
    path: "/readyz",
    operationId: "getReadiness",
    tags: ["Operation"],
    summary: "Whether requests can be served: the database answers",
    responses: { 200: dataResponse("They can.", status), ...errorResponses() },
  }),
  async (context) => {
    context.header("Cache-Control", "no-store");
    try {
      await context.var.modules.catalog.revision();
    } catch (cause) {
      throw new AppError("UNAVAILABLE", "The database does not answer.", { cause });
    }
    return context.json({ data: { status: "ok" as const } }, 200);
  },
  { bucket: "none" },
);
