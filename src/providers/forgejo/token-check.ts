import type { ForgeClient } from "../client.js";
import type { TokenCheck } from "../contract.js";
import { limitsOf, ONLY_ACCEPTED, userSchema } from "../token-facts.js";

/** What Forgejo, Gitea or Gogs says about the token of a client: whose it is, if it may say so. */
export async function checkForgejoToken(client: ForgeClient, signal: AbortSignal): Promise<TokenCheck> {
  // What tracking itself sends: a token that may read no repositories is of no use.
  const list = await client.get("/repos/search?limit=1", { signal });
  const user = await client.get("/user", { signal, expected: [403, 404] });
  const names = user?.status === 200 ? userSchema.safeParse(user.body).data : undefined;
  return {
    ...ONLY_ACCEPTED,
    owner: names?.login ?? names?.username ?? null,
    ...limitsOf(list?.headers ?? new Headers()),
  };
}
