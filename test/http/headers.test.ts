import assert from "node:assert/strict";
import { test } from "node:test";
import { completeHeaders, publicAddressOf } from "../../src/http/response.js";
import { noContent } from "../../src/http/route.js";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { type Member, ORIGIN, signIn } from "../support/members.js";
import { submit } from "../support/page.js";
import { createWorld } from "../support/world.js";

const FACTS = { access: "public", cache: { kind: "none" }, form: "json" } as const;

test("browsers are told to use https only if the service has an https address", () => {
  const headersAt = (baseUrl: string) => completeHeaders(noContent(), FACTS, publicAddressOf(baseUrl));
  const names = ["Strict-Transport-Security", "Cross-Origin-Opener-Policy", "Permissions-Policy"];
  for (const name of names) {
    assert.ok(name in headersAt("https://example.org/tools"), name);
    assert.ok(!(name in headersAt("http://127.0.0.1:3000")), name);
  }
});

onSqlite("Signing out", (engine) => {
  const mailbox = openMailbox();
  let people = 0;

  test("empties the cache of the browser in each of its ways, and never when it is refused", async () => {
    const world = await createWorld(engine, mailbox.settings);
    const removal = { confirmation: "delete" };
    const ways: ((member: Member) => Promise<{ headers: Headers }>)[] = [
      ({ headers }) => world.send("POST", "/api/auth/sign-out", undefined, headers),
      ({ headers }) => world.send("POST", "/api/me/sign-out-everywhere", undefined, headers),
      ({ headers }) => world.send("DELETE", "/api/me", undefined, headers),
      ({ headers }) => submit(world, "/sign-out", {}, headers),
      ({ headers }) => submit(world, "/account/sign-out-everywhere", {}, headers),
      ({ headers }) => submit(world, "/account/delete", removal, headers),
    ];
    for (const way of ways) {
      const member = await signIn(world, mailbox, `leaving-${++people}@example.org`);
      const foreign = { ...member, headers: { ...member.headers, Origin: "https://evil.example" } };
      assert.equal((await way(foreign)).headers.get("clear-site-data"), null);
      const { headers } = await way(member);
      assert.equal(headers.get("clear-site-data"), '"cache"');
      assert.match(headers.get("set-cookie") ?? "", /session_token=; Max-Age=0/);
    }
    const member = await signIn(world, mailbox, "staying@example.org");
    const wrong = await submit(world, "/account/delete", { confirmation: "no" }, member.headers);
    assert.deepEqual([wrong.status, wrong.headers.get("clear-site-data")], [400, null]);
    assert.equal((await world.get("/api/me", { ...member.headers, Origin: ORIGIN })).status, 200);
  });
});
