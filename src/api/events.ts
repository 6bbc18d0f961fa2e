import { ACCOUNT_EVENTS, type StoredEvent } from "../accounts/accounts.js";
import { json } from "../http/http.js";
import { isoTime } from "../lib/clock.js";
import { time, z } from "../lib/schema.js";
import { dataMetaResponse, operation } from "./operation.js";

export const accountEventSchema = z
  .object({
    id: z.string(),
    at: time,
    event: z.enum(ACCOUNT_EVENTS),
    network: z.string().openapi({ description: "24 bits of an IPv4 address, 48 of an IPv6 one." }),
    detail: z.record(z.string(), z.union([z.string(), z.number()])).openapi({
      description: "Depends on the event: agent, the family of the browser or program; method; key.",
    }),
  })
  .openapi("AccountEvent");

export function accountEventView(stored: StoredEvent): z.output<typeof accountEventSchema> {
  const { id, at, event, network, detail } = stored;
  return { id: String(id), at: isoTime(at), event, network, detail: { ...detail } };
}

const limitParameter = z.coerce
  .number()
  .int()
  .min(1)
  .max(100)
  .default(40)
  .openapi({ type: "integer", description: "Number of events." });

const eventsCursor = z
  .string()
  .regex(/^[1-9][0-9]{0,15}$/, "must be meta.nextCursor of the previous page")
  .optional()
  .openapi({ description: "meta.nextCursor of the previous page.", example: "981" });

export const listEvents = operation({
  id: "listEvents",
  tags: ["Account"],
  summary: "The events of your account, latest first",
  description:
    "Sign-ins, sessions, keys and the like of the last 180 days: at most the last 1,000 sign-ins and 1,000 others.",
  query: z.object({ limit: limitParameter, cursor: eventsCursor }),
  responses: {
    200: dataMetaResponse(
      "A page of events.",
      z.array(accountEventSchema),
      z.object({ nextCursor: z.string().nullable().openapi({ description: "null on the last page." }) }),
    ),
  },
  handle: async (request) => {
    const { account, query, services } = request;
    const { limit, cursor } = query;
    const events = await services.members.events.list({
      accountId: account.id,
      before: cursor === undefined ? undefined : Number(cursor),
      limit: limit + 1,
    });
    const page = events.slice(0, limit);
    const nextCursor = events.length > limit ? String(page.at(-1)?.id) : null;
    return json({ data: page.map(accountEventView), meta: { nextCursor } });
  },
});
