import type { Account, ApiKey } from "../accounts/accounts.js";
import { isoTime } from "../lib/clock.js";
import { time, z } from "../lib/schema.js";
import type { WatchlistItem } from "../watchlists/watchlists.js";

const id = z.string().openapi({ pattern: "^[1-9][0-9]{0,18}$" });

export const accountSchema = z
  .object({
    email: z.string(),
    name: z.string().nullable().openapi({ description: "As reported by a sign-in site." }),
    sites: z.array(z.string()).openapi({ description: "Sites that can sign in to this account." }),
    createdAt: time,
    sessionExpiresAt: time,
  })
  .openapi("Account");

export function accountView(account: Account, sites: string[]): z.output<typeof accountSchema> {
  return {
    email: account.email,
    name: account.name === "" ? null : account.name,
    sites,
    createdAt: isoTime(account.createdAt),
    sessionExpiresAt: isoTime(account.sessionExpiresAt),
  };
}

export const apiKeySchema = z
  .object({
    id,
    name: z.string(),
    hint: z.string().openapi({ description: "The last four characters of the key." }),
    createdAt: time,
    lastUsedAt: time.nullable().openapi({ description: "To the minute; null: never." }),
  })
  .openapi("ApiKey");

export const createdApiKeySchema = apiKeySchema
  .extend({ key: z.string().openapi({ description: "The key itself. Shown only here." }) })
  .openapi("CreatedApiKey");

export function apiKeyView(key: ApiKey): z.output<typeof apiKeySchema> {
  const { name, hint } = key;
  return {
    id: String(key.id),
    name,
    hint,
    createdAt: isoTime(key.createdAt),
    lastUsedAt: key.lastUsedAt === null ? null : isoTime(key.lastUsedAt),
  };
}

export const personalWatchlistSchema = z
  .object({ ids: z.array(id), items: z.array(z.object({ repositoryId: id, addedAt: time })) })
  .openapi("PersonalWatchlist");

export function personalWatchlistView(
  items: readonly WatchlistItem[],
): z.output<typeof personalWatchlistSchema> {
  return {
    ids: items.map((item) => String(item.repositoryId)),
    items: items.map((item) => ({
      repositoryId: String(item.repositoryId),
      addedAt: isoTime(item.addedAt),
    })),
  };
}
