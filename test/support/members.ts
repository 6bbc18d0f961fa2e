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

/** What a mail to sign in with is used with: the secret of its requester, and its link or code. */
export interface MailedProof {
  requestToken: string;
  token: string;
  code: string;
}

/** Requests a mail to sign in with, and returns what is in it. */
export async function requestMail(world: World, mailbox: Mailbox, email: string): Promise<MailedProof> {
  const asked = await world.send("POST", "/api/auth/magic-link", { email }, { Origin: ORIGIN });
  assert.equal(asked.status, 202, JSON.stringify(asked.body));
  let mail = await mailbox.next();
  // Mails that others have requested may be waiting.
  while (!mail.to.includes(email.toLowerCase())) mail = await mailbox.next();
  return { requestToken: asked.body.data.requestToken, token: tokenOf(mail), code: mail.code };
}

/** Signs in by a mailed link, in a browser with these headers. */
export async function signIn(
  world: World,
  mailbox: Mailbox,
  email: string,
  held: Record<string, string> = {},
): Promise<Member> {
  const { requestToken, token } = await requestMail(world, mailbox, email);
  const headers = { Origin: ORIGIN, ...held };
  const answer = await world.send("POST", "/api/auth/verify", { requestToken, token }, headers);
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
