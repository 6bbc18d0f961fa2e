import { requireRecentSignIn } from "../accounts/accounts.js";
import { json } from "../http/http.js";
import { isoDay, isoTime, timeOrNull } from "../lib/clock.js";
import { time, z } from "../lib/schema.js";
import { accountEventSchema, accountEventView } from "./events.js";
import { keyUsageSchema, keyUsageView } from "./key-usage.js";
import { accountSchema, accountView, apiKeySchema, apiKeyView } from "./me.js";
import { type ApiServices, dataResponse, operation } from "./operation.js";
import { passkeySchema, passkeyView } from "./passkeys.js";
import { sessionSchema, sessionView } from "./sessions.js";

/** More than are kept of an account. */
const ALL_EVENTS = 10_000;

const exportSchema = z
  .object({
    exportedAt: time,
    account: accountSchema,
    sessions: z.array(sessionSchema),
    passkeys: z.array(passkeySchema),
    keys: z.array(apiKeySchema.extend({ revokedAt: time.nullable() })),
    usage: z.array(keyUsageSchema).openapi({ description: "Of the active keys, in the last 90 days." }),
    watchlist: z.object({
      name: z.string(),
      lastVisitAt: time.nullable(),
      items: z.array(
        z.object({ repositoryId: z.string(), provider: z.string(), fullName: z.string(), addedAt: time }),
      ),
    }),
    events: z.array(accountEventSchema),
  })
  .openapi("AccountExport");

async function watchlistOf(
  { modules: { watchlists, catalog } }: ApiServices,
  accountId: string,
): Promise<z.output<typeof exportSchema>["watchlist"]> {
  const lastVisitAt = await watchlists.visits.lastAt(accountId);
  const { name, items } = await watchlists.get({ accountId });
  const found = await catalog.findMany(items.map(({ repositoryId }) => repositoryId));
  const names = new Map(found.map(({ id, provider, fullName }) => [id, { provider, fullName }]));
  return {
    name,
    lastVisitAt: timeOrNull(lastVisitAt),
    items: items.map(({ repositoryId, addedAt }) => ({
      repositoryId: String(repositoryId),
      provider: names.get(repositoryId)?.provider ?? "",
      fullName: names.get(repositoryId)?.fullName ?? "",
      addedAt: isoTime(addedAt),
    })),
  };
}

export const exportMe = operation({
  id: "exportMe",
  tags: ["Account"],
  summary: "Everything that is stored about your account, as one file",
  description:
    "Without secrets, which are stored only as hashes. Needs a sign-in within the last 15 minutes. Counts more units the more there is to read.",
  responses: {
    200: {
      ...dataResponse("The account and its data.", exportSchema),
      headers: z.object({ "Content-Disposition": z.string() }),
    },
  },
  errors: ["REAUTHENTICATION_REQUIRED"],
  handle: async ({ account, http, services }) => {
    requireRecentSignIn(account);
    const { members, clock } = services;
    const { accounts, keys, events, usage } = members;
    const { id: accountId } = account;
    const active = await keys.list(accountId);
    const views = [];
    for (const { id } of active) views.push(await usage.view(accountId, id, "90d"));
    const happened = await events.list({ accountId, limit: ALL_EVENTS });
    const data: z.output<typeof exportSchema> = {
      exportedAt: isoTime(clock.now()),
      account: await accountView(account, accounts),
      sessions: (await accounts.sessions.list(accountId)).map(sessionView),
      passkeys: (await accounts.passkeys.list(accountId)).map(passkeyView),
      keys: (await keys.listAll(accountId)).map((key) => {
        const hasEnded = key.endsAt !== null && key.endsAt <= clock.now();
        return { ...apiKeyView(key), revokedAt: hasEnded ? timeOrNull(key.endsAt) : null };
      }),
      usage: views.map(keyUsageView),
      watchlist: await watchlistOf(services, accountId),
      events: happened.map(accountEventView),
    };
    events.record("data_exported", http);
    const day = isoDay(clock.now());
    return json(
      { data },
      { headers: { "Content-Disposition": `attachment; filename="sidereal-account-${day}.json"` } },
    );
  },
});
