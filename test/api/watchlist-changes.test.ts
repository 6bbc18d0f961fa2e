import assert from "node:assert/strict";
import { before, test } from "node:test";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { changes, createList, LISTED, NO_LIST } from "../support/watchlists.js";
import { createWorld, NOW, type World } from "../support/world.js";

onSqliteAndLong("Changing /api/watchlists/:token", (engine) => {
  let world: World;
  const create = (body?: unknown) => createList(world, body);

  before(async () => {
    world = await createWorld(engine);
    await world.record(...LISTED);
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

  test("of two who change the same version at the same time, one is told to read again", async () => {
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

  test("removing takes both tokens away for good", async () => {
    const { token, shareToken } = await create({ ids: ["1"] });
    const answer = await world.send("DELETE", `/api/watchlists/${token}`);
    assert.equal(answer.status, 204);
    assert.equal(answer.body, "");
    assert.equal(answer.headers.get("cache-control"), "private, no-cache");
    for (const gone of [token, shareToken]) {
      assert.deepEqual(errorOf(await world.get(`/api/watchlists/${gone}`)), NO_LIST);
      assert.deepEqual(errorOf(await world.send("DELETE", `/api/watchlists/${gone}`)), NO_LIST);
    }
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
