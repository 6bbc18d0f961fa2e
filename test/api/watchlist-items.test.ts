import assert from "node:assert/strict";
import { before, test } from "node:test";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createList, idsFrom } from "../support/watchlists.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const FULL = { status: 409, code: "LIMIT_REACHED", message: "A watchlist holds at most 500 repositories." };

onSqliteAndLong("/api/watchlists/:token/items", (engine) => {
  let world: World;
  const create = async (ids: string[] = []) => `/api/watchlists/${(await createList(world, { ids })).token}`;
  const add = (list: string, repositoryId: unknown) => world.send("POST", `${list}/items`, { repositoryId });
  const idsOf = async (list: string): Promise<string[]> => (await world.get(list)).body.data.ids;

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("a/one", daily(1, 2)),
      ...Array.from({ length: 519 }, (_, i) => observation(`more/r${i}`)),
    );
  });

  test("adding a repository answers 201 with the list, and 200 when it was there already", async () => {
    const list = await create(["1"]);
    const added = await add(list, "2");
    assert.equal(added.status, 201);
    assert.deepEqual(added.body.data.ids, ["1", "2"]);
    assert.equal(added.headers.get("etag"), '"2"');
    assert.deepEqual(added.body, (await world.get(list)).body);
    world.clock.advance(1_000);
    const again = await add(list, "2");
    assert.equal(again.status, 200);
    assert.equal(again.headers.get("etag"), '"2"', "nothing has changed");
    assert.deepEqual(again.body, added.body);
  });

  test("ids and full names are added and removed in bulk, each once, all or none", async () => {
    const list = await create(["4", "4"]);
    const addAll = (body: unknown) => world.send("POST", `${list}/items`, body);
    const added = await addAll({ ids: ["3", "4", "3"], fullNames: ["a/one", "GitHub:A/One", "more/r0"] });
    assert.equal(added.status, 201);
    assert.deepEqual(added.body.data.ids, ["4", "3", "1", "2"]);
    assert.deepEqual(
      errorOf(await addAll({ ids: ["5"], fullNames: ["a/one", "a/none"] })),
      invalid("fullNames", "no repository has this name", { values: ["a/none"] }),
    );
    assert.deepEqual(
      errorOf(await addAll({ ids: ["5", "900"] })),
      invalid("ids", "no repository has this id", { values: ["900"] }),
    );
    const named = await world.send("POST", "/api/watchlists", { fullNames: ["more/r0", "a/one"] });
    assert.deepEqual(named.body.data.ids, ["2", "1"]);
    const remove = (body: unknown) => world.send("POST", `${list}/removals`, body);
    assert.deepEqual(errorOf(await remove({ id: ["3"] })).details[0].parameter, "id");
    assert.deepEqual(errorOf(await remove({})), invalid("repositoryId", "is required, or ids, or fullNames"));
    assert.deepEqual((await remove({ fullNames: ["a/none"] })).body.data.ids, ["4", "3", "1", "2"]);
    const removed = await remove({ ids: ["3", "900"], fullNames: ["a/one"] });
    assert.deepEqual([removed.status, removed.body.data.ids], [200, ["4", "2"]]);
    assert.deepEqual(await idsOf(list), ["4", "2"]);
  });

  test("adding refuses what is no repository", async () => {
    const list = await create();
    for (const id of ["900", "9".repeat(19)]) {
      assert.deepEqual(
        errorOf(await add(list, id)),
        invalid("repositoryId", "no repository has this id", { values: [id] }),
      );
    }
    const form = "must be an id: 1 to 19 digits without a leading 0";
    for (const id of ["", "0", "1".repeat(20), "a/one"]) {
      assert.deepEqual(errorOf(await add(list, id)), invalid("repositoryId", form));
    }
    const nothing = invalid("repositoryId", "is required, or ids, or fullNames");
    assert.deepEqual(errorOf(await add(list, undefined)), nothing);
    for (const id of [1, null, ["1"], {}]) {
      assert.equal(errorOf(await add(list, id)).details[0].parameter, "repositoryId");
    }
    const unknown = await world.send("POST", `${list}/items`, { repositoryId: "1", note: "x" });
    assert.deepEqual(
      errorOf(unknown),
      invalid("note", "is not known; known are repositoryId, ids, fullNames"),
    );
    assert.deepEqual(await idsOf(list), []);
  });

  test("the 501st repository is refused, one that is in a full list is not", async () => {
    const list = await create(idsFrom(1, 499));
    assert.equal((await add(list, "500")).status, 201);
    assert.deepEqual(errorOf(await add(list, "501")), FULL);
    assert.equal((await add(list, "7")).status, 200);
    assert.equal((await world.send("DELETE", `${list}/items/7`)).status, 204);
    assert.equal((await add(list, "501")).status, 201);
    assert.equal((await idsOf(list)).length, 500);
  });

  test("the same repository added many times at once is added once", async () => {
    const list = await create();
    const answers = await Promise.all(Array.from({ length: 12 }, () => add(list, "1")));
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [
      ...Array.from({ length: 11 }, () => 200),
      201,
    ]);
    assert.deepEqual(await idsOf(list), ["1"]);
  });

  test("taking out answers 204, also when it is not there, and leaves the version then", async () => {
    const list = await create(["1", "2"]);
    for (const id of ["1", "1", "900", "9".repeat(19)]) {
      const { status, body, headers } = await world.send("DELETE", `${list}/items/${id}`);
      assert.deepEqual([status, body, headers.get("etag")], [204, "", '"2"']);
    }
    const after = await world.get(list);
    assert.deepEqual(after.body.data.ids, ["2"]);
    assert.equal(after.headers.get("etag"), '"2"');
    assert.deepEqual(
      errorOf(await world.send("DELETE", `${list}/items/01`)),
      invalid("repositoryId", "must be an id: 1 to 19 digits without a leading 0"),
    );
  });

  test("clearing takes all out and keeps the list", async () => {
    const list = await create(["1", "2"]);
    for (const _ of [1, 2]) {
      const { status, headers } = await world.send("DELETE", `${list}/items`);
      assert.deepEqual([status, headers.get("etag")], [204, '"2"']);
    }
    assert.deepEqual(await idsOf(list), []);
    assert.deepEqual((await world.get(`${list}/repositories`)).body.data, []);
    assert.equal((await add(list, "2")).status, 201);
  });
});
