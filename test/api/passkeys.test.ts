import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import { errorOf, invalid } from "../support/answers.js";
import { type Said, SoftwareAuthenticator } from "../support/authenticator.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { type Member, ORIGIN, signIn } from "../support/members.js";
import { addPasskey, cookiesOf, startAdding, startSignIn } from "../support/passkeys.js";
import { createWorld, type World } from "../support/world.js";

const REFUSED = invalid("credential", "is not accepted: unknown, expired, or for another page");
const NOT_ADDED = invalid("credential", "is not accepted: expired, for another page, or known already");
const NO_PASSKEY = { status: 404, code: "NOT_FOUND", message: "There is no such passkey." };

onSqliteAndLong("Passkeys", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const newMember = () => signIn(world, mailbox, `somebody-${++people}@example.org`);
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
  });

  const list = async ({ headers }: Member) => (await world.get("/api/me/passkeys", headers)).body.data;
  const verify = (credential: unknown, headers: Record<string, string>) =>
    world.send("POST", "/api/auth/passkey/verify", { credential }, headers);
  const use = async (authenticator: SoftwareAuthenticator, said: Partial<Said> = {}) => {
    const { options, headers } = await startSignIn(world);
    return verify(authenticator.get(options, said), headers);
  };
  const sessions = async () =>
    (await sql`select id from sessions`.execute(world.modules.database.read)).rows.length;

  test("a passkey is added, listed, signs in without an address, and is removed for good", async () => {
    const member = await newMember();
    assert.deepEqual(await list(member), []);
    const { options, headers } = await startAdding(world, member);
    const { challenge, user, ...rest } = options;
    assert.match(challenge, /^[\w-]{43}$/);
    assert.equal(user.name, `somebody-${people}@example.org`);
    assert.deepEqual(rest.rp, { id: "sidereal.example", name: "Sidereal" });
    assert.deepEqual(rest.authenticatorSelection, {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    });
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    const credential = authenticator.create(options, { isSynced: true });
    const added = await world.send("POST", "/api/me/passkeys", { name: " phone ", credential }, headers);
    assert.equal(added.status, 201, JSON.stringify(added.body));
    assert.equal(added.headers.get("cache-control"), "no-store");
    const { id, createdAt, ...passkey } = added.body.data;
    assert.deepEqual(passkey, { name: "phone", synced: true });
    assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
    assert.deepEqual(await list(member), [added.body.data]);

    const signedIn = await use(authenticator);
    assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body));
    const [cookie = "", ...others] = signedIn.headers.getSetCookie();
    assert.deepEqual(others, []);
    assert.match(
      cookie,
      /^__Host-sidereal\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const me = await world.get("/api/me", { Cookie: cookiesOf(signedIn) });
    assert.deepEqual([me.body, me.body.data.email], [signedIn.body, `somebody-${people}@example.org`]);
    const [{ synced }] = await list(member);
    assert.equal(synced, false, "as of its last use");

    const path = `/api/me/passkeys/${id}`;
    assert.equal((await world.send("DELETE", path, undefined, member.headers)).status, 204);
    assert.deepEqual(await list(member), []);
    assert.deepEqual(errorOf(await use(authenticator)), REFUSED);
    assert.deepEqual(errorOf(await world.send("DELETE", path, undefined, member.headers)), NO_PASSKEY);
    assert.equal((await world.get("/api/me", member.headers)).status, 200, "sessions go on");
  });

  test("an assertion for another site, page, ceremony or without a verified user is refused", async () => {
    const { authenticator } = await addPasskey(world, await newMember());
    const before = await sessions();
    const wrong: Partial<Said>[] = [
      { origin: "https://evil.example" },
      { origin: "https://sidereal.example:8443" },
      { origin: "http://sidereal.example" },
      { rpId: "evil.example" },
      { rpId: "example" },
      { type: "webauthn.create" },
      { isVerified: false },
      { challenge: "x".repeat(43) },
    ];
    for (const said of wrong)
      assert.deepEqual(errorOf(await use(authenticator, said)), REFUSED, JSON.stringify(said));
    const { options, headers } = await startSignIn(world);
    const { response, ...credential } = authenticator.get(options);
    const { signature } = authenticator.get(options, { counter: 1 }).response;
    const forged = await verify({ ...credential, response: { ...response, signature } }, headers);
    assert.deepEqual(errorOf(forged), REFUSED);
    assert.equal(forged.headers.get("set-cookie"), null);
    assert.deepEqual(errorOf(await use(new SoftwareAuthenticator(ORIGIN))), REFUSED);
    assert.equal(await sessions(), before);
    assert.equal((await use(authenticator)).status, 200);
  });

  test("a challenge works once, in the browser that requested it, for five minutes", async (context) => {
    const { authenticator } = await addPasskey(world, await newMember());
    const mine = await startSignIn(world);
    const credential = authenticator.get(mine.options);
    const other = await startSignIn(world);
    const withoutCookie = { Origin: ORIGIN };
    const otherSigned = mine.headers.Cookie.replace(
      /passkey=(.)/,
      (_, first) => `passkey=${first === "0" ? "1" : "0"}`,
    );
    for (const headers of [other.headers, withoutCookie, { Origin: ORIGIN, Cookie: otherSigned }])
      assert.deepEqual(errorOf(await verify(credential, headers)), REFUSED);
    assert.equal((await verify(credential, mine.headers)).status, 200);
    assert.deepEqual(errorOf(await verify(credential, mine.headers)), REFUSED, "replayed");

    const [early, late] = [await startSignIn(world), await startSignIn(world)];
    context.mock.timers.enable({ apis: ["Date"], now: Date.now() + 4 * 60_000 });
    assert.equal((await verify(authenticator.get(early.options), early.headers)).status, 200);
    context.mock.timers.setTime(Date.now() + 2 * 60_000);
    assert.deepEqual(errorOf(await verify(authenticator.get(late.options), late.headers)), REFUSED);
    const rows = async () =>
      (await sql`select id from verifications`.execute(world.modules.database.read)).rows.length;
    await startSignIn(world);
    context.mock.timers.setTime(Date.now() + 6 * 60_000);
    assert.equal(await rows(), 1);
    await world.members.accounts.removeExpired();
    assert.equal(await rows(), 0, "challenges that nobody used are deleted");
  });

  test("of twenty who replay an assertion at the same time, one signs in", async () => {
    const { authenticator } = await addPasskey(world, await newMember());
    const { options, headers } = await startSignIn(world);
    const credential = authenticator.get(options);
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(credential, headers)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  });

  test("the challenge of one ceremony is of no use in the other", async () => {
    const member = await newMember();
    const { authenticator } = await addPasskey(world, member);
    const adding = await startAdding(world, member);
    const assertion = authenticator.get({ challenge: adding.options.challenge, rpId: "sidereal.example" });
    assert.deepEqual(errorOf(await verify(assertion, adding.headers)), REFUSED);
    const { options, headers } = await startSignIn(world, member.cookie);
    const credential = new SoftwareAuthenticator(ORIGIN).create({
      ...options,
      rp: { id: "sidereal.example" },
    });
    const added = await world.send("POST", "/api/me/passkeys", { name: "x", credential }, headers);
    assert.deepEqual(errorOf(added), NOT_ADDED);
  });

  test("a counter that does not grow is refused, also for two at the same time", async () => {
    const { authenticator } = await addPasskey(world, await newMember());
    assert.equal((await use(authenticator, { counter: 7 })).status, 200);
    for (const counter of [7, 6, 0])
      assert.deepEqual(errorOf(await use(authenticator, { counter })), REFUSED, String(counter));
    const clones = await Promise.all(Array.from({ length: 10 }, () => use(authenticator, { counter: 8 })));
    assert.equal(clones.filter(({ status }) => status === 200).length, 1);
    assert.equal((await use(authenticator, { counter: 9 })).status, 200);
  });

  test("a passkey is not added for another site, without a verified user, or twice", async () => {
    const member = await newMember();
    const add = async (said: Partial<Said>, authenticator = new SoftwareAuthenticator(ORIGIN)) => {
      const { options, headers } = await startAdding(world, member);
      const credential = authenticator.create(options, said);
      return world.send("POST", "/api/me/passkeys", { name: "x", credential }, headers);
    };
    const wrong: Partial<Said>[] = [
      { origin: "https://evil.example" },
      { rpId: "evil.example" },
      { challenge: "x".repeat(43) },
      { type: "webauthn.get" },
      { isVerified: false },
    ];
    for (const said of wrong) assert.deepEqual(errorOf(await add(said)), NOT_ADDED, JSON.stringify(said));
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    assert.equal((await add({}, authenticator)).status, 201);
    assert.deepEqual(errorOf(await add({}, authenticator)), NOT_ADDED);
    assert.equal((await list(member)).length, 1);
    const { options } = await startAdding(world, member);
    assert.equal(options.excludeCredentials.length, 1, "its authenticator creates no second one");
  });

  test("the challenge of one account adds nothing to another", async () => {
    const [ann, bob] = [await newMember(), await newMember()];
    const { options, headers } = await startAdding(world, ann);
    const credential = new SoftwareAuthenticator(ORIGIN).create(options);
    const cookie = headers.Cookie.replace(ann.cookie, bob.cookie);
    const added = await world.send(
      "POST",
      "/api/me/passkeys",
      { name: "x", credential },
      { ...headers, Cookie: cookie },
    );
    assert.deepEqual(errorOf(added), NOT_ADDED);
    assert.deepEqual([await list(ann), await list(bob)], [[], []]);
    const { id } = await addPasskey(world, ann);
    const removed = await world.send("DELETE", `/api/me/passkeys/${id}`, undefined, bob.headers);
    assert.deepEqual(errorOf(removed), NO_PASSKEY);
    assert.equal((await list(ann)).length, 1);
  });

  test("an account has ten passkeys at most", async () => {
    const member = await newMember();
    for (let i = 0; i < 9; i++) await addPasskey(world, member, `passkey ${i}`);
    const late = await startAdding(world, member);
    await addPasskey(world, member, "the tenth");
    const credential = new SoftwareAuthenticator(ORIGIN).create(late.options);
    const full = {
      status: 409,
      code: "LIMIT_REACHED",
      message: "An account has at most 10 passkeys; remove one to add another.",
    };
    for (const [path, body, headers] of [
      ["/api/me/passkeys", { name: "x", credential }, late.headers],
      ["/api/me/passkey-options", undefined, member.headers],
    ] as const)
      assert.deepEqual(errorOf(await world.send("POST", path, body, headers)), full);
    assert.equal((await list(member)).length, 10);
  });

  test("malformed and oversized credentials are refused before anything is looked up", async () => {
    const { options, headers } = await startSignIn(world);
    const { response, ...credential } = new SoftwareAuthenticator(ORIGIN).get(options);
    for (const [body, parameter] of [
      [{ ...credential, response, id: "a+b" }, "credential.id"],
      [{ ...credential, response, id: "a".repeat(1_365) }, "credential.id"],
      [{ ...credential, response: { ...response, signature: "" } }, "credential.response.signature"],
      [
        { ...credential, response: { ...response, clientDataJSON: "a".repeat(2_001) } },
        "credential.response.clientDataJSON",
      ],
      [{ ...credential, response: null }, "credential.response"],
    ] as const) {
      const { status, details } = errorOf(await verify(body, headers));
      assert.deepEqual([status, details?.[0]?.parameter], [400, parameter]);
    }
    const junk = { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" };
    assert.deepEqual(errorOf(await verify({ ...credential, response: junk }, headers)), REFUSED);
  });

  test("the largest registration that WebAuthn allows fits into a body", async () => {
    const member = await newMember();
    const { headers } = await startAdding(world, member);
    const credential = {
      ...new SoftwareAuthenticator(ORIGIN).create({ challenge: "x", rp: { id: "sidereal.example" } }),
      id: "a".repeat(1_364),
      response: { clientDataJSON: "a".repeat(2_000), attestationObject: "a".repeat(8_000), transports: [] },
    };
    const added = await world.send(
      "POST",
      "/api/me/passkeys",
      { name: "x".repeat(100), credential },
      headers,
    );
    assert.deepEqual(errorOf(added), NOT_ADDED, "looked at, not too large");
  });

  test("without https or localhost, and under an IP address, no passkeys are offered", async () => {
    for (const [base, isOffered] of [
      ["http://sidereal.example", false],
      ["http://127.0.0.1:3000", false],
      ["https://192.0.2.7", false],
      ["https://[2001:db8::1]", false],
      ["http://localhost:3000", true],
      ["https://sidereal.example:8443", true],
    ] as const) {
      const other = await createWorld(engine, { ...mailbox.settings, SIDEREAL_BASE_URL: base });
      const { origin, hostname } = new URL(base);
      const answer = await other.send("POST", "/api/auth/passkey/options", undefined, { Origin: origin });
      assert.equal(answer.status, isOffered ? 200 : 404, base);
      if (isOffered) assert.equal(answer.body.data.rpId, hostname);
    }
  });

  test("under a path of a host, passkeys belong to the host and their cookie to the path", async () => {
    const below = { ...mailbox.settings, SIDEREAL_BASE_URL: "https://sidereal.example/stars" };
    const inner = await createWorld(engine, below);
    const at: World = {
      ...inner,
      get: (path, headers) => inner.get(`/stars${path}`, headers),
      send: (method, path, body, headers) => inner.send(method, `/stars${path}`, body, headers),
    };
    const member = await signIn(at, mailbox, "ann@example.org");
    const { authenticator } = await addPasskey(at, member);
    const started = await at.send("POST", "/api/auth/passkey/options", undefined, { Origin: ORIGIN });
    assert.match(
      started.headers.getSetCookie()[0] ?? "",
      /^__Secure-sidereal\.passkey=[^;]+; Max-Age=300; Path=\/stars; HttpOnly; Secure; SameSite=Lax$/,
    );
    const credential = authenticator.get(started.body.data);
    const headers = { Origin: ORIGIN, Cookie: cookiesOf(started) };
    const answer = await at.send("POST", "/api/auth/passkey/verify", { credential }, headers);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  });

  test("what happens to passkeys is recorded and mailed to their owner; what is refused is logged", async () => {
    const member = await newMember();
    const { id, authenticator } = await addPasskey(world, member);
    const headers = { Cookie: cookiesOf(await use(authenticator)), Origin: ORIGIN };
    await use(authenticator, { isVerified: false });
    await world.send("DELETE", `/api/me/passkeys/${id}`, undefined, headers);
    const { data } = (await world.get("/api/me/events", headers)).body;
    assert.deepEqual(
      data.map(({ event, detail }: { event: string; detail: object }) => [event, detail]),
      [
        ["passkey_removed", { agent: "None", passkey: id }],
        ["signed_in", { agent: "None", method: "passkey" }],
        ["passkey_added", { agent: "None", passkey: id }],
        ["signed_in", { agent: "None", method: "link" }],
        ["account_created", { agent: "None", method: "link" }],
      ],
    );
    assert.ok(world.logged.some(({ event, method }) => event === "sign_in_refused" && method === "passkey"));
    await world.members.events.flush();
    const subjects: string[] = [];
    while (mailbox.notices > 0) {
      const { to, text } = await mailbox.nextNotice();
      if (to.includes(`somebody-${people}@example.org`))
        subjects.push(/^Subject: (.*?)\r?$/m.exec(text)?.[1] ?? "");
    }
    assert.deepEqual(subjects.toSorted(), [
      "Security notice: Passkey added at sidereal.example",
      "Security notice: Passkey removed at sidereal.example",
    ]);
  });
});
