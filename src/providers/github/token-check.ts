import { z } from "zod";
import type { ForgeClient } from "../client.js";
import type { TokenCheck } from "../contract.js";
import { orNull } from "../fields.js";
import { expiryOf, limitSchema, scopesOf, userSchema } from "../token-facts.js";

const limitsSchema = z.object({ resources: orNull(z.object({ core: orNull(limitSchema) })) });

/**
 * What GitHub says about the token of a client. Reading the limits costs none of them; an instance without limits has no such
 * document. Tokens of Apps belong to no account.
 */
export async function checkGithubToken(client: ForgeClient, signal: AbortSignal): Promise<TokenCheck> {
  const limits = await client.get("/rate_limit", { signal, expected: [404] });
  const core = limitsSchema.safeParse(limits?.body).data?.resources?.core ?? null;
  const user = await client.get("/user", { signal, expected: [403, 404] });
  const scopes = user?.headers.get("x-oauth-scopes") ?? null;
  return {
    owner: user?.status === 200 ? (userSchema.safeParse(user.body).data?.login ?? null) : null,
    // Fine-grained tokens have no scopes.
    scopes: scopes === null ? null : scopesOf(scopes.split(",")),
    limit: core?.limit ?? null,
    remaining: core?.remaining ?? null,
    expiresAt: expiryOf(user?.headers.get("github-authentication-token-expiration") ?? null),
  };
}
