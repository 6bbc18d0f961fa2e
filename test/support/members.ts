import assert from "node:assert/strict";
import { sql } from "kysely";
import { type Mailbox, tokenOf } from "./mail.js";
import type { World } from "./world.js";

/** Where the service of a world is, and so its own pages. */
export const ORIGIN = "https://sidereal.example";

/** Settings with which GitHub accounts may sign in. */
export const SITE_SETTINGS = { SIDEREAL_AUTH_GITHUB_ID: "client", SIDEREAL_AUTH_GITHUB_SECRET: "secret" };

/** Somebody signed in. */
export interface Member {
  /** The cookie as a browser sends it. */
  cookie: string;
  /** What a page of ours sends with each request. */
  headers: Record<string, string>;
}

/** Asks for a link by mail, and gives the token in it. */
export async function mailedToken(world: World, mailbox: Mailbox, email: string): Promise<string> {
  const asked = await world.send("POST", "/api/auth/magic-link", { email }, { Origin: ORIGIN });
  assert.equal(asked.status, 202, JSON.stringify(asked.body));
  return tokenOf(await mailbox.next());
}

/** Signs in by a mailed link. */
export async function signIn(world: World, mailbox: Mailbox, email: string): Promise<Member> {
  const token = await mailedToken(world, mailbox, email);
  const answer = await world.send("POST", "/api/auth/verify", { token }, { Origin: ORIGIN });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  return { cookie, headers: { Cookie: cookie, Origin: ORIGIN } };
}

/** The cookie of a session that nobody has, spelled like one that was issued. */
export function unknownSession(i: number, prefix = "__Host-"): string {
  return `${prefix}sidereal.session_token=${String(i).padStart(32, "x")}.${"y".repeat(42)}A%3D`;
}

/** A text with another character at a place. */
export function changed(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === "x" ? "y" : "x"}${text.slice(at + 1)}`;
}

/** Makes an API key for somebody signed in. */
export async function createKey(
  world: World,
  { headers }: Member,
  name = "laptop",
): Promise<{ id: string; key: string }> {
  const answer = await world.send("POST", "/api/me/keys", { name }, headers);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body.data;
}

/** Lets all sessions of a world have begun this many minutes ago. */
export async function ageSessions(world: World, minutes: number): Promise<void> {
  const at = new Date(Date.now() - minutes * 60_000).toISOString();
  await sql`update sessions set created_at = ${at}`.execute(world.modules.database.durable);
}
