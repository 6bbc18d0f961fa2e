import assert from "node:assert/strict";
import { before, test } from "node:test";
import { createToken, hashToken } from "../../src/lib/tokens.js";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { changes, createList, LISTED, NO_LIST, READS_ONLY, reads } from "../support/watchlists.js";
import { createWorld, NOW, type World } from "../support/world.js";

onSqliteAndLong("/api/watchlists/:token", (engine) => {
  let world: World;
  const create = (body?: unknown) => createList(world, body);

  before(async () => {
    world = await createWorld(engine);
    await world.record(...LISTED);
  });

  test("is made with a name and repositories, and told with both its tokens", async () => {
    const { status, headers, body } = await world.send("POST", "/api/watchlists", {
      name: "  Étude ✨ ",
      ids: ["2", "1"],
    });
    assert.equal(status, 201);
    const { token, shareToken, ...rest } = body.data;
    const now = "2026-04-30T12:00:00.000Z";
    assert.deepEqual(rest, {
      name: "Étude ✨",
      ids: ["2", "1"],
      items: [
        { repositoryId: "2", addedAt: now },
        { repositoryId: "1", addedAt: now },
      ],
      canEdit: true,
      createdAt: now,
      updatedAt: now,
    });
    assert.match(token, /^sidw_[0-9A-Za-z]{36}$/);
    assert.match(shareToken, /^sidr_[0-9A-Za-z]{36}$/);
    assert.equal(headers.get("location"), `/api/watchlists/${token}`);
    assert.equal(headers.get("etag"), '"1"');
    assert.equal(headers.get("cache-control"), "private, no-cache");
    const read = await world.get(headers.get("location") ?? "");
    assert.deepEqual(read.body, { data: { token, ...rest } });
  });

  test("needs neither a name nor repositories", async () => {
    const { body } = await world.send("POST", "/api/watchlists", {});
    assert.deepEqual([body.data.name, body.data.ids, body.data.items], ["Watchlist", [], []]);
  });

  test("tokens are all different, and none is in the database as it is", async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => create()));
    const tokens = made.flatMap(({ token, shareToken }) => [token, shareToken]);
    assert.equal(new Set(tokens.map((token) => token.slice(5, 35))).size, 40);
    const rows = await world.modules.database.read.selectFrom("watchlists").selectAll().execute();
    const text = JSON.stringify(rows);
    for (const token of tokens) {
      assert.ok(!text.includes(token.slice(5, 35)));
      assert.ok(text.includes(hashToken(token)));
    }
  });

  test("holds 500 repositories from the start, and not one more", async () => {
    const ids = Array.from({ length: 500 }, (_, i) => String(i + 1));
    const { status, body } = await world.send("POST", "/api/watchlists", { ids });
    assert.equal(status, 201);
    assert.deepEqual(body.data.ids, ids);
    assert.deepEqual(
      errorOf(await world.send("POST", "/api/watchlists", { ids: [...ids, "501"] })),
      invalid("ids", "must be at most 500"),
    );
  });

  test("500 of the longest identifiers fit into a body; those nobody has are all told", async () => {
    const ids = Array.from({ length: 500 }, (_, i) => String(10n ** 18n + BigInt(i)));
    const { message, ...error } = errorOf(await world.send("POST", "/api/watchlists", { ids }));
    assert.equal(message, "ids: no repository has this id");
    assert.equal(error.status, 400);
    assert.deepEqual(error.details[0].values, ids);
  });

  test("refuses identifiers that are unknown or none", async () => {
    const refused = async (ids: unknown) => errorOf(await world.send("POST", "/api/watchlists", { ids }));
    assert.deepEqual(
      await refused(["1", "700", "2", "800"]),
      invalid("ids", "no repository has this id", { values: ["700", "800"] }),
    );
    const form = "must be an id: 1 to 19 digits without a leading 0";
    assert.deepEqual(await refused(["1", "01"]), invalid("ids[1]", form));
    for (const ids of ["1", [1], [null], [["1"]], {}, null, ["1".repeat(20)]]) {
      const { status, details } = await refused(ids);
      assert.equal(status, 400);
      assert.match(details[0].parameter, /^ids/);
    }
  });

  test("the share token reads all of it and changes nothing", async () => {
    const { token, shareToken } = await create({ ids: ["1"] });
    const own = await world.get(`/api/watchlists/${token}`);
    const shared = await world.get(`/api/watchlists/${shareToken}`);
    assert.deepEqual(shared.body.data, { ...own.body.data, token: shareToken, canEdit: false });
    assert.notEqual(shared.headers.get("etag"), own.headers.get("etag"));
    for (const answer of await reads(world, shareToken)) {
      assert.equal(answer.status, 200);
      assert.ok(!JSON.stringify(answer.body).includes(token));
    }
    for (const answer of await changes(world, shareToken)) {
      assert.deepEqual(errorOf(answer), READS_ONLY);
      assert.equal(answer.headers.get("cache-control"), "no-store");
    }
    assert.deepEqual((await world.get(`/api/watchlists/${token}`)).body, own.body);
  });

  test("a token that is malformed, unknown or removed gets the same answer everywhere", async () => {
    const removed = await create();
    const { status, headers, body } = await world.send("DELETE", `/api/watchlists/${removed.token}`);
    assert.deepEqual([status, headers.get("cache-control"), body], [204, "private, no-cache", ""]);
    const real = await create();
    const mistyped = real.token.replace(/.$/, (last) => (last === "a" ? "b" : "a"));
    for (const token of [
      "x",
      "%20",
      "sidw_",
      mistyped,
      real.token.replace("sidw", "sidr"),
      real.token.toUpperCase(),
      `${real.token}a`,
      "a".repeat(900),
      createToken("sidw"),
      createToken("sidr"),
      removed.token,
      removed.shareToken,
    ]) {
      for (const answer of [...(await reads(world, token)), ...(await changes(world, token))]) {
        assert.deepEqual(errorOf(answer), NO_LIST, token);
      }
    }
  });

  test("no answer is kept by others, indexed, or told on to the next address", async () => {
    const { token, shareToken } = await create({ ids: ["1"] });
    const unknown = createToken("sidw");
    for (const answer of (
      await Promise.all([token, shareToken, unknown].map((each) => reads(world, each)))
    ).flat()) {
      const expected = answer.status === 404 ? "no-store" : "private, no-cache";
      assert.equal(answer.headers.get("cache-control"), expected);
      assert.equal(answer.headers.get("x-robots-tag"), "noindex");
      assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
    }
  });

  test("a repeat with the same Idempotency-Key creates nothing and returns the same tokens", async () => {
    const create = (body: object, key: string) =>
      world.send("POST", "/api/watchlists", body, { "Idempotency-Key": key });
    const key = "8e03978e-40d5-43e8-bc93-6894a57f9324";
    const body = { name: "Once", ids: ["1"] };
    const [first, ...repeats] = await Promise.all([key, `"${key}"`, key].map((one) => create(body, one)));
    assert.equal(first?.status, 201);
    for (const repeat of repeats) assert.deepEqual([repeat.status, repeat.body], [201, first?.body]);
    const { token } = first?.body.data ?? {};
    await world.send("PATCH", `/api/watchlists/${token}`, { name: "Renamed" });
    world.clock.advance(20 * 3_600_000);
    const later = await create(body, key);
    assert.deepEqual([later.status, later.body.data.token, later.body.data.name], [201, token, "Renamed"]);
    const other = await create({ name: "Other" }, key);
    assert.deepEqual([other.status, other.body.error.code], [422, "IDEMPOTENCY_KEY_REUSED"]);
    const another = await create(body, `${key}-2`);
    assert.notEqual(another.body.data.token, token);
    assert.equal((await create(body, "short")).status, 400);
  });

  test("a deleted list stays deleted, whenever its POST is repeated", async () => {
    const key = { "Idempotency-Key": "of-a-list-that-is-deleted" };
    const create = () => world.send("POST", "/api/watchlists", { ids: ["1"] }, key);
    const { token, shareToken } = (await create()).body.data;
    assert.equal((await world.send("DELETE", `/api/watchlists/${token}`)).status, 204);
    for (const day of [0, 1]) {
      world.clock.advance(day * 24 * 3_600_000);
      assert.deepEqual(errorOf(await create()), {
        status: 410,
        code: "WATCHLIST_DELETED",
        message: "The list that was created with this Idempotency-Key was deleted.",
      });
    }
    // Then the key is forgotten, and makes another list.
    world.clock.advance(24 * 3_600_000);
    const { status, body } = await create();
    assert.deepEqual([status, body.data.ids], [201, ["1"]]);
    assert.notEqual(body.data.shareToken, shareToken);
    assert.equal((await world.get(`/api/watchlists/${token}`)).status, 404);
  });

  test("nobody else gets a list by its Idempotency-Key", async () => {
    const create = (peer: string) =>
      world.request("/api/watchlists", {
        method: "POST",
        peer,
        headers: { "Content-Type": "application/json", "Idempotency-Key": "one-key-of-two-callers" },
        body: JSON.stringify({ name: "Mine" }),
      });
    const tokens = [];
    for (const peer of ["192.0.2.40", "192.0.2.41"])
      tokens.push(((await (await create(peer)).json()) as { data: { token: string } }).data.token);
    assert.notEqual(tokens[0], tokens[1]);
  });

  test("is renamed; the answer is the list as it is now", async () => {
    const { token } = await create({ name: "Old", ids: ["1"] });
    world.clock.advance(1_500);
    const { status, headers, body } = await world.send("PATCH", `/api/watchlists/${token}`, { name: "New" });
    assert.equal(status, 200);
    assert.deepEqual(body, {
      data: {
        token,
        name: "New",
        ids: ["1"],
        items: [{ repositoryId: "1", addedAt: new Date(world.clock.now() - 1_500).toISOString() }],
        canEdit: true,
        createdAt: new Date(world.clock.now() - 1_500).toISOString(),
        updatedAt: new Date(world.clock.now()).toISOString(),
      },
    });
    assert.ok(world.clock.now() > NOW);
    assert.equal(headers.get("etag"), '"2"');
    assert.deepEqual((await world.get(`/api/watchlists/${token}`)).body, body);
  });

  test("a name has 1 to 100 characters and no control characters", async () => {
    const { token } = await create();
    const rename = (body: unknown) => world.send("PATCH", `/api/watchlists/${token}`, body);
    for (const name of ["x", "é".repeat(100), "🚀".repeat(100), "e\u0301".repeat(100), "شكرا", "👩‍👩‍👧"]) {
      const { status, body } = await rename({ name });
      assert.equal(status, 200, name);
      assert.equal(body.data.name, name.normalize("NFC"));
    }
    const length = invalid("name", "must be 1 to 100 characters");
    for (const name of ["", "   ", "x".repeat(101), "🚀".repeat(101)]) {
      assert.deepEqual(errorOf(await rename({ name })), length);
    }
    const control = invalid("name", "must not contain control characters");
    for (const name of ["a\u0000b", "a\nb", "a\u001b[31mb", "a\u0085b", "a\ud800b"]) {
      assert.deepEqual(errorOf(await rename({ name })), control);
    }
    assert.deepEqual(errorOf(await rename({})), invalid("name", "is required"));
    assert.deepEqual(
      errorOf(await rename({ name: "x", ids: [] })),
      invalid("ids", "is not known; known are name"),
    );
    for (const body of [{ name: 5 }, { name: null }, { name: ["x"] }, [], null, "name", 1]) {
      assert.equal(errorOf(await rename(body)).status, 400, JSON.stringify(body));
    }
    assert.deepEqual(
      errorOf(await world.send("POST", "/api/watchlists", { title: "x" })),
      invalid("title", "is not known; known are name, ids, fullNames"),
    );
  });

  test("If-None-Match spares a list that has not changed, by either token", async () => {
    const { token, shareToken } = await create();
    for (const [shown, etag] of [
      [token, '"1"'],
      [shareToken, '"1r"'],
    ]) {
      const path = `/api/watchlists/${shown}`;
      assert.equal((await world.get(path)).headers.get("etag"), etag);
      for (const header of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const answer = await world.get(path, { "If-None-Match": header ?? "" });
        assert.equal(answer.status, 304, header);
        assert.equal(answer.body, "");
        assert.equal(answer.headers.get("etag"), etag);
        assert.equal(answer.headers.get("cache-control"), "private, no-cache");
      }
      assert.equal((await world.get(path, { "If-None-Match": '"0"' })).status, 200);
    }
    await world.send("PATCH", `/api/watchlists/${token}`, { name: "New" }, { "If-None-Match": '"2"' });
    assert.equal((await world.get(`/api/watchlists/${token}`, { "If-None-Match": '"1"' })).status, 200);
    const renamed = await world.send(
      "PATCH",
      `/api/watchlists/${token}`,
      { name: "Newer" },
      { "If-None-Match": '"3"' },
    );
    assert.equal(renamed.status, 200, "a change is never answered with 304");
  });

  test("If-Match stops a change of a list that has changed since, and changes nothing", async () => {
    const { token } = await create({ ids: ["1", "2"] });
    const path = `/api/watchlists/${token}`;
    await world.send("PATCH", path, { name: "Changed" });
    const before = await world.get(path);
    assert.equal(before.headers.get("etag"), '"2"');
    for (const header of ['"1"', 'W/"2"', '"2r"', '"x", "y"', "2", '"2']) {
      for (const answer of await changes(world, token, { "If-Match": header })) {
        assert.deepEqual(
          errorOf(answer),
          {
            status: 412,
            code: "PRECONDITION_FAILED",
            message: "The watchlist has changed since it was read.",
          },
          header,
        );
      }
    }
    assert.deepEqual((await world.get(path)).body, before.body);
    for (const [header, version] of [
      ['"2"', '"3"'],
      ['"x", "3"', '"4"'],
      ["*", '"5"'],
    ]) {
      const answer = await world.send("PATCH", path, { name: "Mine" }, { "If-Match": header ?? "" });
      assert.equal(answer.status, 200, header);
      assert.equal(answer.headers.get("etag"), version);
    }
    assert.equal((await world.send("DELETE", path, undefined, { "If-Match": '"5"' })).status, 204);
  });

  test("of two who change the same version at the same time, one has to read again", async () => {
    const { token } = await create();
    const answers = await Promise.all(
      ["A", "B", "C", "D"].map((name) =>
        world.send("PATCH", `/api/watchlists/${token}`, { name }, { "If-Match": '"1"' }),
      ),
    );
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 412, 412, 412]);
    const winner = answers.find((answer) => answer.status === 200);
    const { body } = await world.get(`/api/watchlists/${token}`);
    assert.equal(body.data.name, winner?.body.data.name);
  });

  test("changing one list touches no other", async () => {
    const [mine, theirs] = await Promise.all([create({ ids: ["1", "2"] }), create({ ids: ["1", "2"] })]);
    const before = await world.get(`/api/watchlists/${theirs.token}`);
    const path = `/api/watchlists/${mine.token}`;
    for (const [method, rest, body] of [
      ["PATCH", "", { name: "Mine" }],
      ["POST", "/items", { repositoryId: "3" }],
      ["DELETE", "/items/1", undefined],
      ["DELETE", "/items", undefined],
      ["DELETE", "", undefined],
    ] as const) {
      assert.ok((await world.send(method, `${path}${rest}`, body)).status < 300);
    }
    const after = await world.get(`/api/watchlists/${theirs.token}`);
    assert.deepEqual(after.body, before.body);
    assert.equal(after.headers.get("etag"), before.headers.get("etag"));
  });
});
