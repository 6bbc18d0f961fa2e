/** Checks the token of a client at each kind of forge. The result is bounded and safe: operators read it on a page. */
import { z } from "zod";
import { EARLIEST, LATEST } from "../repositories/repositories.js";
import type { ForgeClient } from "./client.js";
import type { TokenCheck } from "./contract.js";
import { count, label, orNull } from "./fields.js";
import { numberOf } from "./responses.js";

const userSchema = z.object({ login: orNull(label), username: orNull(label) });

const githubLimits = z.object({
  resources: orNull(z.object({ core: orNull(z.object({ limit: count, remaining: count })) })),
});

/** GitHub. Reading the limits costs none of them; an instance without limits has no such document. */
export async function checkGithubToken(client: ForgeClient, signal: AbortSignal): Promise<TokenCheck> {
  const limits = await client.get("/rate_limit", { signal, expected: [404] });
  const core = githubLimits.safeParse(limits.body).data?.resources?.core ?? null;
  // Tokens of Apps belong to no account.
  const user = await client.get("/user", { signal, expected: [403, 404] });
  const scopes = user.headers.get("x-oauth-scopes");
  return {
    owner: user.status === 200 ? (userSchema.safeParse(user.body).data?.login ?? null) : null,
    // Fine-grained tokens have no scopes.
    scopes: scopes === null ? null : scopesOf(scopes.split(",")),
    limit: core?.limit ?? null,
    remaining: core?.remaining ?? null,
    expiresAt: expiryOf(user.headers.get("github-authentication-token-expiration")),
  };
}

const gitlabToken = z.object({
  name: orNull(label),
  scopes: orNull(z.array(z.unknown())),
  expires_at: orNull(z.string()),
});

/** GitLab, whose tokens have names; its account would take another request. */
export async function checkGitlabToken(client: ForgeClient, signal: AbortSignal): Promise<TokenCheck> {
  // Tokens of OAuth applications have no such document, but they are accepted.
  const found = await client.get("/personal_access_tokens/self", { signal, expected: [404] });
  const token = gitlabToken.safeParse(found.body).data;
  return {
    owner: token?.name ?? null,
    scopes: token?.scopes ? scopesOf(token.scopes) : null,
    ...limitsOf(found.headers),
    expiresAt: expiryOf(token?.expires_at ?? null),
  };
}

/** Forgejo, Gitea or Gogs: only the account, if the token may read it. */
export async function checkForgejoToken(client: ForgeClient, signal: AbortSignal): Promise<TokenCheck> {
  // As tracking sends it: a token that may read no repositories is of no use.
  const list = await client.get("/repos/search?limit=1", { signal });
  const user = await client.get("/user", { signal, expected: [403, 404] });
  const names = user.status === 200 ? userSchema.safeParse(user.body).data : undefined;
  return {
    owner: names?.login ?? names?.username ?? null,
    scopes: null,
    ...limitsOf(list.headers),
    expiresAt: null,
  };
}

const MAX_SCOPES = 50;

/** The names of scopes in a list; others are left out. */
function scopesOf(list: readonly unknown[]): string[] {
  const names = list.slice(0, MAX_SCOPES).filter((one) => typeof one === "string");
  return names.map((one) => one.trim()).filter((one) => /^[\w:.-]{1,60}$/.test(one));
}

/** A time such as `2026-05-01 12:00:00 UTC` or `2026-05-01`; null for any other text. */
function expiryOf(text: string | null): number | null {
  const [day, hour = "00:00:00"] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d))?/.exec(text ?? "")?.slice(1) ?? [];
  const ms = Date.parse(`${day}T${hour}Z`);
  return ms >= EARLIEST && ms <= LATEST ? ms : null;
}

function limitsOf(headers: Headers): Pick<TokenCheck, "limit" | "remaining"> {
  return {
    limit: numberOf(headers, "x-ratelimit-limit", "ratelimit-limit"),
    remaining: numberOf(headers, "x-ratelimit-remaining", "ratelimit-remaining"),
  };
}
