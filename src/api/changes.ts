import { CHANGE_KINDS, count, START, windowParameter } from "../discovery/discovery.js";
import { json } from "../http/http.js";
import { idSchema, orNull, z } from "../lib/schema.js";
import { AVAILABILITIES } from "../repositories/repositories.js";
import { dataMetaResponse, operation } from "./operation.js";
import { repositorySchema, repositoryView } from "./views.js";

const changeSchema = z
  .object({
    id: idSchema,
    provider: z.string().nullable().openapi({ description: "Now. null: DELETED." }),
    fullName: z.string().nullable().openapi({ description: "Now. null: DELETED." }),
    availability: z.enum(AVAILABILITIES).nullable().openapi({ description: "Now. null: DELETED." }),
    kinds: z.array(z.enum(CHANGE_KINDS)).openapi({
      description:
        "NEW: added since. RENAMED: it got this name since. GONE: it is not available; see availability. JOINED: it is another one now; see joinedTo. DELETED: with its history, or no longer shown here; one that is shown again is NEW. COUNTS: none of these, but its counts, other fields or growth.",
    }),
    joinedTo: idSchema
      .optional()
      .openapi({ description: "JOINED only: the id of the repository that remains." }),
    record: orNull(repositorySchema).optional().openapi({
      description:
        "With include=record: the repository as it was when its change was read; null: JOINED or DELETED.",
    }),
  })
  .openapi("Change");

export const listChanges = operation({
  id: "listChanges",
  tags: ["Repositories"],
  summary: "The repositories that changed since a cursor",
  description:
    "Oldest change first, each repository once, with its last change. A copy begins with since=start, which lists all repositories first. Without since: nothing, and the cursor of now. 410 CURSOR_EXPIRED: all may have changed; begin again.",
  query: z.object({
    since: z
      .string()
      .max(200, "must be at most 200 characters")
      .optional()
      .openapi({
        description: `${START}, or meta.nextCursor of an earlier response.`,
        example: "WzE3LDE3LDE0XQ",
      }),
    include: z.enum(["record"]).optional().openapi({ description: "record: with the repositories." }),
    window: windowParameter.openapi({ description: "The window of the records' trends." }),
    limit: count(1, 100).default(100).openapi({ default: 100, description: "Maximum number of rows." }),
  }),
  responses: {
    200: dataMetaResponse(
      "The changes.",
      z.array(changeSchema),
      z.object({
        nextCursor: z.string().openapi({ description: "For since of the next request." }),
        hasMore: z.boolean().openapi({ description: "true: the next request may return more now." }),
      }),
    ),
  },
  errors: ["INVALID_REQUEST", "CURSOR_EXPIRED"],
  handle: async ({ query: { since, include, ...part }, services: { modules } }) => {
    const { changes, next, hasMore } = await modules.changes.since(since, part);
    const data = changes.map(({ id, kinds, row }) => {
      const { provider = null, fullName = null, availability = null } = row?.repository ?? {};
      const joinedTo = row?.movedTo?.id;
      const record = row === undefined || joinedTo !== undefined ? null : repositoryView(row);
      return {
        ...{ id: String(id), provider, fullName, availability, kinds },
        ...(joinedTo !== undefined && { joinedTo: String(joinedTo) }),
        ...(include === "record" && { record }),
      };
    });
    return json({ data, meta: { nextCursor: next, hasMore } });
  },
});
