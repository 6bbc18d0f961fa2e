import { requireRecentSignIn, type Session } from "../accounts/accounts.js";
import { json, noContent } from "../http/http.js";
import { isoTime } from "../lib/clock.js";
import { time, z } from "../lib/schema.js";
import { dataResponse, operation } from "./operation.js";

const tags = ["Account"];

/** A session, as it is exported. */
export const sessionSchema = z.object({
  id: z.string(),
  network: z
    .string()
    .nullable()
    .openapi({ description: "The network where it began, shortened as for keys; null: not recorded." }),
  agent: z.string().nullable().openapi({ description: "The browser or program that began it." }),
  createdAt: time,
  lastSeenAt: time.openapi({ description: "To the hour. The session ends two weeks later." }),
  expiresAt: time.openapi({ description: "The latest time at which it ends." }),
});

const listedSessionSchema = sessionSchema
  .extend({ isCurrent: z.boolean().openapi({ description: "Whether it is the one of this request." }) })
  .openapi("Session");

export function sessionView(session: Session): z.output<typeof sessionSchema> {
  const { id, createdAt, seenAt, expiresAt, source } = session;
  return {
    id,
    network: source?.network ?? null,
    agent: source?.agent || null,
    createdAt: isoTime(createdAt),
    lastSeenAt: isoTime(seenAt),
    expiresAt: isoTime(expiresAt),
  };
}

export const listSessions = operation({
  id: "listSessions",
  tags,
  summary: "Your sessions, last used first",
  responses: { 200: dataResponse("The sessions that have not ended.", z.array(listedSessionSchema)) },
  handle: async ({ account, services: { members } }) => {
    const sessions = await members.accounts.sessions.list(account.id);
    const isCurrent = ({ id }: Session) => id === account.sessionId;
    return json({ data: sessions.map((one) => ({ ...sessionView(one), isCurrent: isCurrent(one) })) });
  },
});

export const endSession = operation({
  id: "endSession",
  tags,
  summary: "End one of your sessions",
  description: "Needs a sign-in within the last 15 minutes, except for the session of this request.",
  params: z.object({ sessionId: z.string().max(100) }),
  responses: { 204: { description: "Done." } },
  errors: ["VALIDATION_FAILED", "REAUTHENTICATION_REQUIRED", "NOT_FOUND"],
  handle: async ({ account, params: { sessionId }, http, services: { members } }) => {
    if (sessionId !== account.sessionId) requireRecentSignIn(account);
    const cookies = await members.accounts.endSession(account, sessionId);
    members.events.record("session_ended", http);
    return noContent({ "Set-Cookie": cookies });
  },
});

export const endOtherSessions = operation({
  id: "endOtherSessions",
  tags,
  summary: "End all your sessions but this one",
  description: "Needs a sign-in within the last 15 minutes.",
  responses: { 204: { description: "Done, even if there was no other session." } },
  errors: ["REAUTHENTICATION_REQUIRED"],
  handle: async ({ account, http, services: { members } }) => {
    requireRecentSignIn(account);
    const sessions = await members.accounts.sessions.endOthers(account.id, account.sessionId);
    if (sessions > 0) members.events.record("sessions_ended", http, { sessions });
    return noContent();
  },
});
