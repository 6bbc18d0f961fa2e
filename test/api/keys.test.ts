import assert from "node:assert/strict";
import { before, test } from "node:test";
import { createToken } from "../../src/lib/tokens.js";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { createKey, type Member, signIn } from "../support/members.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

const BAD_KEY = {
  status: 401,
  code: "INVALID_API_KEY",
  message: "The API key is malformed, unknown, revoked or expired.",
};
const BAD_SCHEME = {
  ...BAD_KEY,
  message: "The header must be Authorization: Bearer sid_…; no other scheme is read.",
};

onSqliteAndLong("API keys over HTTP", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let member: Member;
  let people = 0;
  const newMember = () => signIn(world, mailbox, `somebody-${++people}@example.org`);

  before(async () => {
    // With the cache on: it must never hand out bytes to a bad key.
    world = await createWorld(engine, { ...mailbox.settings, SIDEREAL_CACHE_MB: "8" });
    await world.record(observation("a/one", daily(1, 2)));
    member = await newMember();
  });

  test("a key is shown once, then only by its last four characters", async () => {
    const owner = await newMember();
    const created = await world.send("POST", "/api/me/keys", { name: "  Laptop " }, owner.headers);
    assert.equal(created.status, 201);
    assert.equal(created.headers.get("cache-control"), "no-store");
    const { key, ...shown } = created.body.data;
    assert.match(key, /^sid_[0-9A-Za-z]{36}$/);
    assert.deepEqual(shown, {
      id: shown.id,
      name: "Laptop",
      hint: key.slice(-4),
      createdAt: new Date(NOW).toISOString(),
      lastUsedAt: null,
      expiresAt: null,
    });
    const listed = await world.get("/api/me/keys", owner.headers);
    assert.deepEqual([listed.status, listed.body], [200, { data: [shown] }]);
  });

  test("a name is required, of 1 to 100 characters", async () => {
    const make = async (body: unknown) =>
      errorOf(await world.send("POST", "/api/me/keys", body, member.headers));
    assert.deepEqual(await make({}), invalid("name", "is required"));
    assert.deepEqual(await make({ name: " " }), invalid("name", "must be 1 to 100 characters"));
    assert.deepEqual(await make({ name: "x".repeat(101) }), invalid("name", "must be 1 to 100 characters"));
    assert.equal((await make({ name: "x", id: 1 })).status, 400);
    assert.equal((await make({ name: "x".repeat(20_000) })).status, 413);
    const typed = await world.send("POST", "/api/me/keys", undefined, {
      ...member.headers,
      "Content-Type": "text/plain",
    });
    assert.equal(typed.status, 415);
  });

  test("a sixth key is refused", async () => {
    const owner = await newMember();
    for (let i = 0; i < 5; i++) await createKey(world, owner);
    const sixth = await world.send("POST", "/api/me/keys", { name: "sixth" }, owner.headers);
    assert.deepEqual([sixth.status, sixth.body.error.code], [409, "LIMIT_REACHED"]);
  });

  test("both header forms are taken, in any case, and the answer is that of everybody", async () => {
    const { key } = await createKey(world, await newMember());
    const anonymous = await world.get("/api/repos");
    for (const headers of [
      { Authorization: `Bearer ${key}` },
      { Authorization: `bearer   ${key} ` },
      { "X-API-Key": key },
      { Authorization: `Bearer ${key}`, "X-API-Key": key },
    ]) {
      const { status, body, headers: given } = await world.get("/api/repos", headers);
      assert.deepEqual([status, body], [200, anonymous.body]);
      assert.equal(given.get("cache-control"), anonymous.headers.get("cache-control"));
      assert.equal(given.get("vary"), "Accept, Accept-Encoding, Authorization, X-API-Key");
    }
    const proxied = await world.get("/api/repos", { Authorization: "Basic YTpi" });
    assert.equal(proxied.status, 200);
  });

  test("two different keys are refused, whichever is valid", async () => {
    const { key } = await createKey(world, await newMember());
    const other = createToken("sid");
    for (const headers of [
      { Authorization: `Bearer ${key}`, "X-API-Key": other },
      { Authorization: `Bearer ${other}`, "X-API-Key": key },
      { "X-API-Key": `${key}, ${other}` },
      { Authorization: `Bearer ${key}, Bearer ${other}` },
    ]) {
      const expected = { status: 400, code: "INVALID_REQUEST", message: "Two different API keys were sent." };
      assert.deepEqual(errorOf(await world.get("/api/repos", headers)), expected);
    }
  });

  test("a bad key is refused everywhere, also if the answer is ready", async () => {
    const paths = ["/api/repos", "/api/home", "/api/openapi.json", "/api/me", "/api/nothing"];
    for (const path of paths) await world.get(path);
    const { key } = await createKey(world, await newMember());
    const flipped = key.endsWith("0") ? "1" : "0";
    const wrong = [
      "",
      "x",
      createToken("sid"),
      createToken("sidw"),
      `${key.slice(0, -1)}${flipped}`,
      `${key}x`,
    ];
    for (const path of paths) {
      for (const bad of wrong) {
        for (const headers of [{ Authorization: `Bearer ${bad}` }, { "X-API-Key": bad }]) {
          const answer = await world.get(path, headers);
          const expected = headers.Authorization === "Bearer " ? BAD_SCHEME : BAD_KEY;
          assert.deepEqual(errorOf(answer), expected, `${path} ${JSON.stringify(headers)}`);
          assert.equal(
            answer.headers.get("www-authenticate"),
            'Bearer realm="sidereal", error="invalid_token"',
          );
          assert.equal(answer.headers.get("cache-control"), "no-store");
        }
      }
      assert.deepEqual(errorOf(await world.get(path, { Authorization: key })), BAD_SCHEME);
    }
    const head = await world.send("HEAD", "/api/repos", undefined, { "X-API-Key": "x" });
    assert.deepEqual([head.status, head.body], [401, ""]);
    assert.equal((await world.get("/", { "X-API-Key": "x" })).status, 200);
    assert.equal((await world.get("/api/repos?api_key=x")).status, 200);
  });

  test("a revoked key is refused at once, and revoking it again changes nothing", async () => {
    const owner = await newMember();
    const { id, key } = await createKey(world, owner);
    const headers = { Authorization: `Bearer ${key}` };
    assert.equal((await world.get("/api/repos", headers)).status, 200);
    for (let i = 0; i < 2; i++) {
      assert.equal((await world.send("DELETE", `/api/me/keys/${id}`, undefined, owner.headers)).status, 204);
      assert.deepEqual(errorOf(await world.get("/api/repos", headers)), BAD_KEY);
    }
    assert.deepEqual((await world.get("/api/me/keys", owner.headers)).body.data, []);
    const missing = await world.send("DELETE", "/api/me/keys/999999", undefined, owner.headers);
    assert.deepEqual(errorOf(missing), { status: 404, code: "NOT_FOUND", message: "There is no such key." });
    const odd = await world.send("DELETE", "/api/me/keys/x", undefined, owner.headers);
    assert.equal(errorOf(odd).code, "VALIDATION_FAILED");
  });

  test("a key that expires is refused from then on, and makes room for another", async () => {
    const owner = await newMember();
    const create = (body: object) => world.send("POST", "/api/me/keys", body, owner.headers);
    const past = await create({ name: "past", expiresAt: "2026-04-30" });
    assert.deepEqual(errorOf(past), invalid("expiresAt", "must be in the future"));
    const expiresAt = new Date(NOW + 60_000).toISOString();
    const { data } = (await create({ name: "short", expiresAt })).body;
    assert.equal(data.expiresAt, expiresAt);
    for (let i = 0; i < 4; i++) assert.equal((await create({ name: `key ${i}` })).status, 201);
    assert.equal((await create({ name: "sixth" })).body.error.code, "LIMIT_REACHED");
    const use = () => world.get("/api/limits", { "X-API-Key": data.key });
    assert.equal((await use()).body.data.caller, "key");
    world.clock.advance(59_999);
    assert.equal((await use()).status, 200);
    world.clock.advance(1);
    const { status, body } = await use();
    assert.deepEqual([status, body.error.code], [401, "INVALID_API_KEY"]);
    const listed = (await world.get("/api/me/keys", owner.headers)).body.data;
    assert.ok(!listed.some(({ id }: { id: string }) => id === data.id));
    assert.equal((await create({ name: "sixth" })).status, 201);
    assert.equal(
      (await world.send("DELETE", `/api/me/keys/${data.id}`, undefined, owner.headers)).status,
      204,
    );
  });
});
