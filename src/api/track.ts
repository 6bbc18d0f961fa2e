import { isOwnOrigin } from "../accounts/accounts.js";
import { type HttpRequest, json, quotaOf } from "../http/http.js";
import { isoTime, timeOrNull } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { repositoryPage } from "../lib/page-addresses.js";
import { idSchema, time, z } from "../lib/schema.js";
import { TRACK_FAILURES, TRACK_STATES, type TrackRequest } from "../tracking/tracking.js";
import { type ApiServices, dataResponse, operation } from "./operation.js";

const tags = ["Tracking"];

const trackRequestSchema = z
  .object({
    id: z.string().nullable().openapi({
      description: "Anybody with this id can read the request. null: the repository was known.",
    }),
    state: z.enum(TRACK_STATES).openapi({
      description:
        "WAITING for its turn; FOUND: recorded; HISTORY: its star history is being read; FINISHED; FAILED.",
    }),
    provider: z.string(),
    fullName: z.string().openapi({ description: "As requested; the repository may have another name." }),
    position: z
      .int()
      .nullable()
      .openapi({ description: "Position among the requests that wait for the forge; null: not waiting." }),
    estimatedSeconds: z.int().nullable().openapi({
      description: "Estimated time until its turn; null: not waiting, or no worker is running.",
    }),
    historyPages: z
      .int()
      .openapi({ description: "Pages of its star history read so far, up to 30 weeks each." }),
    pointCount: z.int().openapi({ description: "Snapshots that there are of it so far." }),
    pointsFrom: time.nullable().openapi({ description: "Time of the first of them." }),
    waitsUntil: time.nullable().openapi({
      description:
        "When the forge permits the next request for it, such as when its quota is renewed; null: now, or it has ended.",
    }),
    unreachable: z
      .boolean()
      .openapi({ description: "Whether the forge does not respond at the moment.", example: false }),
    repository: z
      .object({
        id: idSchema,
        fullName: z.string(),
        href: z.string(),
        page: z.string().openapi({ description: "Its page.", example: "/repos/github/vuejs/core" }),
      })
      .nullable()
      .openapi({ description: "Once it is recorded: its id, and its paths in the API and the site." }),
    failure: z
      .object({ reason: z.enum(TRACK_FAILURES), message: z.string() })
      .nullable()
      .openapi({ description: "Why it failed." }),
    requestedAt: time.nullable(),
    finishedAt: time.nullable(),
  })
  .openapi("TrackRequest");
type TrackRequestView = z.output<typeof trackRequestSchema>;

type Linked = { id: number; provider: string; fullName: string };

function linkView(repository: Linked): TrackRequestView["repository"] {
  const { provider, fullName } = repository;
  const query = new URLSearchParams({ fullName });
  return {
    id: String(repository.id),
    fullName,
    href: `/api/repos/${provider.toLowerCase()}/by-full-name?${query}`,
    page: repositoryPage(repository),
  };
}

function knownView(repository: Linked): TrackRequestView {
  return {
    id: null,
    state: "FINISHED",
    provider: repository.provider,
    fullName: repository.fullName,
    position: null,
    estimatedSeconds: null,
    historyPages: 0,
    pointCount: 0,
    pointsFrom: null,
    waitsUntil: null,
    unreachable: false,
    repository: linkView(repository),
    failure: null,
    requestedAt: null,
    finishedAt: null,
  };
}

async function requestView(request: TrackRequest, { modules }: ApiServices): Promise<TrackRequestView> {
  const { repositoryId, requestedAt, finishedAt, points, pointsFrom, waitsUntil, isUnreachable, ...rest } =
    request;
  const repository = repositoryId === null ? undefined : await modules.catalog.find(repositoryId);
  return {
    ...rest,
    repository: repository === undefined ? null : linkView(repository),
    pointCount: points,
    pointsFrom: timeOrNull(pointsFrom),
    waitsUntil: timeOrNull(waitsUntil),
    unreachable: isUnreachable,
    requestedAt: isoTime(requestedAt),
    finishedAt: timeOrNull(finishedAt),
  };
}

/** Whether a request belongs to an account, and to an operator: by its key, or by a session used from our own pages. */
async function requesterOf(
  { caller, headers, locality }: HttpRequest,
  { members, config }: ApiServices,
): Promise<{ hasAccount: boolean; isOperator: boolean }> {
  const { accounts, operators } = members;
  if (caller.kind === "key")
    return { hasAccount: true, isOperator: await operators.isOperator(caller.account ?? "") };
  const { cookie } = headers;
  if (cookie === undefined || !isOwnOrigin(headers, config)) return { hasAccount: false, isOperator: false };
  const account = await accounts.find(cookie);
  const operator = await operators.find({ account, cookie, isLocal: locality() === "local" });
  return { hasAccount: account !== undefined, isOperator: operator !== undefined };
}

export const requestTracking = operation({
  id: "requestTracking",
  tags,
  summary: "Request a repository to be tracked",
  description:
    "Takes the address of any page of a repository on a tracked forge, a clone URL, `forge:owner/name` or `owner/name`. A worker looks it up, records it and reads its star history. By default only operators may request repositories: with the session that the printed address begins, or with an API key of an account in SIDEREAL_OPERATORS. Otherwise it needs an account, unless it is open to everyone.",
  body: z.strictObject({
    repository: z.string().min(1).max(2_000).openapi({ example: "https://github.com/facebook/react" }),
  }),
  responses: {
    200: dataResponse("It is known already.", trackRequestSchema),
    202: {
      ...dataResponse("The request, which may be one that somebody sent before.", trackRequestSchema),
      headers: z.object({ Location: z.string() }),
    },
  },
  errors: ["UNAUTHENTICATED", "FORBIDDEN", "RATE_LIMITED"],
  handle: async ({ http, services, body }) => {
    const { hasAccount, isOperator } = await requesterOf(http, services);
    // Operators decide what is tracked.
    const { access, perDay } = isOperator
      ? ({ access: "everyone", perDay: undefined } as const)
      : services.config.onDemand;
    const quota = perDay === undefined ? undefined : { tracked: perDay };
    const requested = await services.modules.trackRequests.request(body.repository, {
      policy: { access, forges: await services.modules.forges.current() },
      requester: { hasAccount, adding: quotaOf(http.caller, quota) },
    });
    if ("repository" in requested) return json({ data: knownView(requested.repository) });
    const { request } = requested;
    const headers = { Location: `/api/track/${request.id}` };
    return json({ data: await requestView(request, services) }, { status: 202, headers });
  },
});

export const getTrackRequest = operation({
  id: "getTrackRequest",
  tags,
  summary: "The state of a request to track a repository",
  description: "Requests are kept for a week after they have finished.",
  params: z.object({ requestId: z.string().openapi({ description: "The id of the request." }) }),
  responses: { 200: dataResponse("The request.", trackRequestSchema) },
  errors: ["NOT_FOUND"],
  handle: async ({ params, services }) => {
    const request = await services.modules.trackRequests.find(params.requestId);
    if (request === undefined) throw new AppError("NOT_FOUND", "No request has this id.");
    return json({ data: await requestView(request, services) });
  },
});
