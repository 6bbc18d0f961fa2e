import { count } from "../discovery/discovery.js";
import { json } from "../http/http.js";
import { idSchema, z } from "../lib/schema.js";
import { AVAILABILITIES, CHANGE_KINDS } from "../repositories/repositories.js";
import { dataMetaResponse, operation } from "./operation.js";

const changeSchema = z
  .object({
    id: idSchema,
    provider: z.string().openapi({ description: "Now." }),
    fullName: z.string().openapi({ description: "Now." }),
    availability: z.enum(AVAILABILITIES).openapi({ description: "Now." }),
    kinds: z.array(z.enum(CHANGE_KINDS)).openapi({
      description:
        "NEW: added since. RENAMED: it got this name since. GONE: it is not available; see availability. COUNTS: none of these, but its counts, other fields or growth.",
    }),
  })
  .openapi("Change");

export const listChanges = operation({
  id: "listChanges",
  tags: ["Repositories"],
  summary: "The repositories that changed since a cursor",
  description:
    "Oldest change first, each repository once, with its last change. Without since: nothing, and the cursor of now. 410 CURSOR_EXPIRED: all may have changed; read all again.",
  query: z.object({
    since: z.string().max(200, "must be at most 200 characters").optional().openapi({
      description: "meta.nextCursor of an earlier response.",
      example: "WzE3LDE0LDE3LDE0XQ",
    }),
    limit: count(1, 100).default(100).openapi({ default: 100, description: "Maximum number of rows." }),
  }),
  responses: {
    200: dataMetaResponse(
      "The changes.",
      z.array(changeSchema),
      z.object({
        nextCursor: z.string().openapi({ description: "For since of the next request." }),
        hasMore: z.boolean().openapi({ description: "true: the next request returns more now." }),
      }),
    ),
  },
  errors: ["INVALID_REQUEST", "CURSOR_EXPIRED"],
  handle: async ({ query: { since, limit }, services: { modules } }) => {
    const { changes, next, hasMore } = await modules.changes.since(since, limit);
    const data = changes.map((change) => ({ ...change, id: String(change.id) }));
    return json({ data, meta: { nextCursor: next, hasMore } });
  },
});
