import { z } from "zod";
import type { ForgeClient } from "../client.js";
import type { TokenCheck } from "../contract.js";
import { label, orNull } from "../fields.js";
import { expiryOf, limitsOf, scopesOf } from "../token-facts.js";

const tokenSchema = z.object({
  name: orNull(label),
  scopes: orNull(z.array(z.unknown())),
  expires_at: orNull(z.string()),
});

/** What GitLab says about the token of a client. A token of GitLab names itself, and its account needs another request. */
export async function checkGitlabToken(client: ForgeClient, signal: AbortSignal): Promise<TokenCheck> {
  // Tokens of OAuth applications have no such document, but they are accepted.
  const found = await client.get("/personal_access_tokens/self", { signal, expected: [404] });
  const token = tokenSchema.safeParse(found?.body).data;
  return {
    owner: token?.name ?? null,
    scopes: token?.scopes ? scopesOf(token.scopes) : null,
    ...limitsOf(found?.headers ?? new Headers()),
    expiresAt: expiryOf(token?.expires_at ?? null),
  };
}
