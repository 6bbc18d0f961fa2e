import { createRoute, z } from "@hono/zod-openapi";
import { BUCKETS, CALLER_KINDS } from "../limit-config.js";
import { dataResponse, endpoint, errorResponses } from "./endpoint.js";

const limitsSchema = z
  .object({
    caller: z
      .enum(CALLER_KINDS)
      .openapi({ description: "How the caller is known, which decides the limits." }),
    isLimited: z.boolean().openapi({ description: "false: this installation limits nobody." }),
    buckets: z.array(
      z.object({
        bucket: z.enum(BUCKETS),
        limit: z.int().openapi({ description: "Requests in a window." }),
        windowSeconds: z.int(),
        remaining: z.int().openapi({ description: "Exactly so many requests pass at once." }),
        moreInSeconds: z.int().openapi({ description: "Until more pass; 0 when nothing counts." }),
        resetSeconds: z.int().openapi({ description: "Until nothing counts any more." }),
      }),
    ),
  })
  .openapi("Limits");

export const getLimits = endpoint(
  createRoute({
    method: "get",
    path: "/api/limits",
    operationId: "getLimits",
    tags: ["Operation"],
    summary: "Your limits, and what is left of them",
    description: "Free of charge, also when nothing is left.",
    responses: { 200: dataResponse("Every bucket that you have.", limitsSchema), ...errorResponses() },
  }),
  async (context) => {
    const { caller } = context.env;
    const standing = await context.var.meter.standing(caller);
    const buckets = (standing ?? []).map(({ policy, remaining, moreInSeconds, resetSeconds }) => ({
      ...policy,
      remaining,
      moreInSeconds,
      resetSeconds,
    }));
    context.header("Cache-Control", "no-store");
    return context.json({ data: { caller: caller.kind, isLimited: standing !== undefined, buckets } }, 200);
  },
  { bucket: "default", isFree: true },
);
