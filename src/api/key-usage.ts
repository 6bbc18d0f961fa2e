import { USAGE_WINDOWS, type UsageEvent, type UsageView } from "../accounts/accounts.js";
import { BUCKETS } from "../config/config.js";
import { idParameter } from "../discovery/discovery.js";
import { json } from "../http/http.js";
import { isoTime } from "../lib/clock.js";
import { time, z } from "../lib/schema.js";
import { dataResponse, operation } from "./operation.js";

const count = z.int().min(0);
const bucket = z.enum(BUCKETS);
const method = z.string().nullable().openapi({ description: "null if no route matched." });
const route = z
  .string()
  .openapi({ description: "The path pattern in this document, or other.", example: "/api/repos" });

const sums = {
  requests: count,
  errors: count.openapi({ description: "Responses with a status of 400 or more, except 429." }),
  blocked: count.openapi({ description: "Responses with status 429." }),
  bytes: count.openapi({ description: "Response bodies as sent." }),
};

const failedRequest = z.object({
  at: time,
  method,
  route,
  status: z.int(),
  code: z.string().nullable(),
  bucket: z.string().nullable(),
  path: z.string().nullable().openapi({
    description:
      "The requested path, decoded and without its query; tokens are replaced with …. At most 200 characters.",
  }),
});

export const keyUsageSchema = z
  .object({
    keyId: z.string(),
    window: z.enum(USAGE_WINDOWS),
    from: time,
    to: time,
    stepSeconds: z.int(),
    totals: z.object({
      ...sums,
      addressCount: count.openapi({ description: "Number of addresses." }),
      addressCountIsExact: z
        .boolean()
        .openapi({ description: "false: there were more than can be counted separately." }),
    }),
    series: z
      .array(z.object({ at: time, ...sums }))
      .openapi({ description: "One entry per step, oldest first." }),
    endpoints: z.array(
      z.object({
        method,
        route,
        ...sums,
        meanMs: z
          .number()
          .nullable()
          .openapi({ description: "Mean response time; null if all requests were blocked." }),
      }),
    ),
    pressure: z.array(
      z.object({ bucket, limit: z.int(), lowestRemaining: count, at: time }).openapi({
        description: "The lowest remaining count reported to this key.",
      }),
    ),
    recentErrors: z.array(failedRequest),
    recentBlocks: z.array(failedRequest),
    addresses: z.array(z.object({ address: z.string(), requests: count, lastSeenAt: time })),
    agents: z.array(z.object({ family: z.string(), requests: count })),
  })
  .openapi("KeyUsage");

export function keyUsageView(view: UsageView): z.input<typeof keyUsageSchema> {
  const failed = ({ at, ...rest }: UsageEvent) => ({ at: isoTime(at), ...rest });
  return {
    keyId: String(view.keyId),
    window: view.window,
    from: isoTime(view.from),
    to: isoTime(view.to),
    stepSeconds: view.stepMs / 1_000,
    totals: view.totals,
    series: view.series.map(({ at, ...step }) => ({ at: isoTime(at), ...step })),
    endpoints: view.endpoints,
    pressure: view.pressure.map(({ at, ...rest }) => ({ ...rest, at: isoTime(at) })),
    recentErrors: view.recentErrors.map(failed),
    recentBlocks: view.recentBlocks.map(failed),
    addresses: view.addresses.map(({ lastSeenAt, ...rest }) => ({
      ...rest,
      lastSeenAt: isoTime(lastSeenAt),
    })),
    agents: view.agents,
  };
}

const query = z.object({ window: z.enum(USAGE_WINDOWS).default("24h") });
const responses = { 200: dataResponse("Totals and recent errors.", keyUsageSchema) };

export const getOwnUsage = operation({
  id: "getOwnUsage",
  tags: ["Account"],
  summary: "The usage of the API key that sends the request",
  description: "As of any of your keys. Counts of other processes may be five seconds behind.",
  query,
  responses,
  handle: async ({ http: { caller }, query, services }) => {
    const view = await services.members.usage.view(caller.account ?? "", Number(caller.name), query.window);
    return json({ data: keyUsageView(view) });
  },
});

export const getKeyUsage = operation({
  id: "getKeyUsage",
  tags: ["Account"],
  summary: "The usage of one of your API keys",
  description: "Also for revoked keys. Counts of other processes may be five seconds behind.",
  params: z.object({ keyId: idParameter }),
  query,
  responses,
  errors: ["NOT_FOUND"],
  handle: async (request) => {
    const { account, params, query, services } = request;
    const view = await services.members.usage.view(account.id, params.keyId, query.window);
    return json({ data: keyUsageView(view) });
  },
});
