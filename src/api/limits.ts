import { BUCKETS, CALLER_KINDS } from "../config/config.js";
import type { Level } from "../http/http.js";
import { json } from "../http/http.js";
import { z } from "../lib/schema.js";
import { dataResponse, operation } from "./operation.js";

const bucketSchema = z.object({
  bucket: z.enum(BUCKETS),
  limit: z.int().openapi({ description: "Requests per window." }),
  windowSeconds: z.int(),
  remaining: z.int().openapi({ description: "Requests that would succeed now." }),
  moreInSeconds: z.int().openapi({ description: "Seconds until `remaining` grows; 0 if nothing is used." }),
  resetSeconds: z.int().openapi({ description: "Seconds until the whole limit is available again." }),
});

const limitsSchema = z
  .object({
    caller: z
      .enum(CALLER_KINDS)
      .openapi({ description: "How the caller identified itself, which decides the limits." }),
    isLimited: z.boolean().openapi({ description: "false: rate limits are off here." }),
    buckets: z
      .array(bucketSchema)
      .openapi({ description: "The limits of this caller; with a key, of this key." }),
    account: z.array(bucketSchema).nullable().openapi({
      description:
        "The ceilings that all keys and sessions of the account share; null for callers by address.",
    }),
  })
  .openapi("Limits");

function bucketView({ policy, remaining, moreInSeconds, resetSeconds }: Level): z.input<typeof bucketSchema> {
  const { bucket, limit, windowSeconds } = policy;
  return { bucket, limit, windowSeconds, remaining, moreInSeconds, resetSeconds };
}

export const getLimits = operation({
  id: "getLimits",
  tags: ["Operation"],
  summary: "Your rate limits and the remaining requests",
  description:
    "Costs nothing and works even when no requests remain. A request with an API key or a session counts against the limit of the key or of the sessions, and the ceiling of its account.",
  responses: { 200: dataResponse("Every bucket that you have.", limitsSchema) },
  handle: async ({ http: { caller }, services }) => {
    const remaining = await services.admission.remaining(caller);
    const levels = remaining ?? [];
    const buckets = levels.flatMap(([own]) => (own === undefined ? [] : [bucketView(own)]));
    const ceilings = levels.flatMap((each) =>
      each.filter(({ policy }) => policy.scope === "account").map(bucketView),
    );
    const account = caller.account === undefined ? null : ceilings;
    return json({ data: { caller: caller.kind, isLimited: remaining !== undefined, buckets, account } });
  },
});
