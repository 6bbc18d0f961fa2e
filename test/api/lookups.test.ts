import assert from "node:assert/strict";
import { before, beforeEach, mock, test } from "node:test";
import { createToken } from "../../src/lib/tokens.js";
import { addAccount } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { signIn, unknownSession } from "../support/members.js";
import { createWorld, type World } from "../support/world.js";

const LOOKUPS = 5;
const PATH = "/api/stats/summary";

onSqliteAndLong("Looking up keys and sessions", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let addresses = 0;
  let reads: () => number;

  before(async () => {
    world = await createWorld(engine, {
      ...mailbox.settings,
      SIDEREAL_CACHE_MB: "8",
      ...limits(`lookup=${LOOKUPS}`),
    });
    const query = mock.method(world.modules.database.read.getExecutor(), "executeQuery");
    const pattern = /from "(?:api_keys|sessions)"/;
    reads = () => query.mock.calls.filter(({ arguments: [{ sql }] }) => pattern.test(sql)).length;
  });
  beforeEach(() => world.clock.advance(660_000));

  const newAddress = () => `198.18.7.${++addresses}`;
  const ask = async (peer: string, headers: Record<string, string>) => {
    const answer = await world.request(PATH, { headers, peer });
    return `${answer.status} ${answer.headers.get("x-ratelimit-resource")}`;
  };
  const guess = (peer: string) => ask(peer, { "X-API-Key": createToken("sid") });
  const times = <T>(count: number, what: T) => new Array<T>(count).fill(what);
  const keyOf = async (email: string) =>
    (await world.members.keys.create(await addAccount(world.modules.database, email), "key")).secret;

  test("costs a bounded number of reads, however many keys are guessed at the same time", async () => {
    const [peer, earlier] = [newAddress(), reads()];
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => guess(peer)));
    assert.equal(answers.filter((answer) => answer === "401 default").length, LOOKUPS);
    assert.equal(answers.filter((answer) => answer === "429 lookup").length, 1_000 - LOOKUPS);
    assert.equal(reads() - earlier, LOOKUPS);
    world.clock.advance(60_000 / LOOKUPS);
    assert.deepEqual([await guess(peer), await guess(peer)], ["401 default", "429 lookup"]);
  });

  test("of sessions that nobody has is bounded in the same way", async () => {
    const peer = newAddress();
    const answers = [];
    for (let i = 0; i < 2 * LOOKUPS; i++) answers.push(await ask(peer, { Cookie: unknownSession(i) }));
    assert.deepEqual(answers, [...times(LOOKUPS, "200 default"), ...times(LOOKUPS, "429 lookup")]);
  });

  test("leaves those who were found before their access, where somebody else guesses", async () => {
    const peer = newAddress();
    const secret = await keyOf("familiar@example.org");
    const { cookie } = await signIn(world, mailbox, "session@example.org");
    for (const headers of [{ "X-API-Key": secret }, { Cookie: cookie }])
      assert.equal(await ask(peer, headers), "200 default");
    for (let i = 0; i < 2 * LOOKUPS; i++) await guess(peer);
    for (let minute = 0; minute < 9; minute++) {
      world.clock.advance(60_000);
      for (let i = 0; i < LOOKUPS; i++) await guess(peer);
      for (const headers of [{ "X-API-Key": secret }, { Cookie: cookie }])
        assert.equal(await ask(peer, headers), "200 default");
    }
    const stranger = { "X-API-Key": await keyOf("stranger@example.org") };
    assert.equal(await ask(peer, stranger), "429 lookup");
    assert.equal(await ask(newAddress(), stranger), "200 default");
  });

  test("costs a valid key nothing, found by one request or by several together", async () => {
    const peer = newAddress();
    for (let i = 0; i < 3 * LOOKUPS; i++)
      assert.equal(await ask(peer, { "X-API-Key": await keyOf(`many-${i}@example.org`) }), "200 default");
    const secrets = await Promise.all(times(LOOKUPS, 0).map((_, i) => keyOf(`together-${i}@example.org`)));
    const answers = await Promise.all(secrets.map((secret) => ask(peer, { "X-API-Key": secret })));
    assert.deepEqual(answers, times(LOOKUPS, "200 default"));
    assert.equal(await guess(peer), "401 default");
  });

  test("of a revoked key costs one, and it is not familiar after that", async () => {
    const peer = newAddress();
    const account = await addAccount(world.modules.database, "revoked@example.org");
    const { key, secret } = await world.members.keys.create(account, "key");
    assert.equal(await ask(peer, { "X-API-Key": secret }), "200 default");
    for (let i = 0; i < LOOKUPS; i++) await guess(peer);
    await world.members.keys.revoke(account, key.id);
    const earlier = reads();
    assert.equal(await ask(peer, { "X-API-Key": secret }), "401 default");
    assert.equal(reads() - earlier, 1);
    world.clock.advance(60_000 - 12_001);
    for (let i = 0; i < LOOKUPS; i++) await guess(peer);
    assert.equal(await ask(peer, { "X-API-Key": secret }), "401 default", "known to belong to nobody");
    world.clock.advance(12_001);
    for (let i = 0; i < LOOKUPS; i++) await guess(peer);
    assert.equal(await ask(peer, { "X-API-Key": secret }), "429 lookup");
  });

  test("of malformed keys reads nothing and takes no lookup", async () => {
    const [peer, earlier] = [newAddress(), reads()];
    for (let i = 0; i < 2 * LOOKUPS; i++)
      assert.equal(await ask(peer, { "X-API-Key": `sid_${i}` }), "401 default");
    assert.equal(reads(), earlier);
  });

  test("reads nothing for a session cookie that is sent twice, or not spelled as issued", async () => {
    const { cookie } = await signIn(world, mailbox, "spelling@example.org");
    const [name = "", value = ""] = cookie.split(/=(.*)/s);
    const [token = "", signature = ""] = value.split(".");
    const lastDigit = (by: number) => {
      const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
      const digit = signature.at(-4) ?? "";
      return `${signature.slice(0, -4)}${digits[digits.indexOf(digit) + by]}%3D`;
    };
    const others = [
      `${cookie}; ${name}=x1`,
      `${name}=x1; ${cookie}`,
      `${cookie}; ${cookie}`,
      ...Array.from(token, (_, i) => {
        const code = token.charCodeAt(i).toString(16);
        return `${name}=${token.slice(0, i)}%${code}${token.slice(i + 1)}.${signature}`;
      }),
      `${name}=${token}%2E${signature}`,
      `${name}=${token}.${signature.replace("%3D", "%3d")}`,
      `${name}=${token}.${decodeURIComponent(signature)}`,
      `${name}=${token}.${lastDigit(1)}`,
      `${name}="${value}"`,
      `${name}= ${value}`,
    ];
    for (const path of [PATH, "/about"])
      for (const other of others) {
        const [peer, earlier] = [newAddress(), reads()];
        await world.request(path, { headers: { Cookie: other }, peer });
        assert.equal(reads() - earlier, 0, `${path} ${other}`);
      }
    world.clock.advance(660_000);
    const earlier = reads();
    assert.equal(await ask(newAddress(), { Cookie: `a=b; ${cookie}` }), "200 default");
    assert.ok(reads() > earlier, "the cookie as issued");
  });

  test("is not needed for OPTIONS with a session", async () => {
    const { cookie } = await signIn(world, mailbox, "options@example.org");
    world.clock.advance(660_000);
    const [peer, earlier] = [newAddress(), reads()];
    for (const path of [PATH, "/api/me", "/about", "/nowhere"])
      await world.request(path, { method: "OPTIONS", headers: { Cookie: cookie }, peer });
    assert.equal(reads(), earlier);
  });

  test("counts an IPv6 network of 64 bits as one, and of 48 bits as sixteen", async () => {
    const guessed = async (peers: readonly string[]) => {
      let found = 0;
      for (const peer of peers) if ((await guess(peer)) === "401 default") found++;
      return found;
    };
    assert.equal(await guessed(Array.from({ length: 20 }, (_, i) => `2001:db8:1:1::${i + 1}`)), LOOKUPS);
    const networks = Array.from({ length: 30 }, (_, i) => times(LOOKUPS, `2001:db8:2:${i + 1}::1`)).flat();
    assert.equal(await guessed(networks), 16 * LOOKUPS);
  });
});
