import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "kysely";
import { loadConfig } from "../../../src/config/config.js";
import type { Database } from "../../../src/database/database.js";
import type { TokenCheck } from "../../../src/forges/contract.js";
import { ForgeTokens, MAX_ENTERED } from "../../../src/forges/tokens/forge-tokens.js";
import { onBothEngines } from "../../support/engines.js";
import { temporaryFolder } from "../../support/imports.js";
import { ManualClock } from "../../support/manual-clock.js";
import { NOW } from "../../support/world.js";

/** As without settings. */
const PLACE = { databaseUrl: undefined, dataDir: "/nowhere", providers: [], proxyProblem: undefined };
const KEY = "k".repeat(40);
const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const ALLOWS: TokenCheck = { owner: "bot", scopes: [], limit: 5_000, remaining: 4_999, expiresAt: null };

onBothEngines("Tokens of forges that were entered", (engine) => {
  const storeOn = (database: Database, tokenKey = KEY, env: Record<string, string> = {}) =>
    new ForgeTokens({
      database,
      clock: new ManualClock(NOW),
      config: { ...PLACE, tokenKey, providers: loadConfig(env).providers },
      onChange: async () => {},
    });
  const open = async (tokenKey?: string) => {
    const database = await engine.open();
    return { database, store: storeOn(database, tokenKey) };
  };
  const change = (database: Database, column: string, value: string, id: number) =>
    sql`update forge_tokens set ${sql.ref(column)} = ${value} where id = ${id}`.execute(database.write);
  const rowsOf = (database: Database) =>
    database.read.selectFrom("forge_tokens").selectAll().orderBy("id").execute();

  test("a token comes back for its forge, and is nowhere in the database", async () => {
    const { database, store } = await open();
    await store.add("GITHUB", TOKEN, { allows: ALLOWS });
    const { tokens, faults } = await store.open();
    assert.deepEqual(
      tokens.get("GITHUB")?.map(({ token }) => token),
      [TOKEN],
    );
    assert.equal(faults.size, 0);
    const stored = JSON.stringify(await rowsOf(database));
    for (let at = 0; at + 8 <= TOKEN.length; at++)
      assert.ok(!stored.includes(TOKEN.slice(at, at + 8)), "no part of it is stored");
    assert.ok(!JSON.stringify(await store.list()).includes(TOKEN.slice(-4)), "nor listed");
  });

  test("the same token is stored once, and never the same way twice", async () => {
    const { database, store } = await open();
    const id = await store.add("GITHUB", TOKEN, { allows: ALLOWS });
    const [before] = await rowsOf(database);
    assert.equal(await store.add("GITHUB", TOKEN, { allows: ALLOWS }), id);
    const [after, ...others] = await rowsOf(database);
    assert.deepEqual(others, []);
    assert.notEqual(after?.sealed, before?.sealed, "a new nonce");
    await store.add("GITLAB", TOKEN, { allows: ALLOWS });
    const [, other] = await rowsOf(database);
    assert.notEqual(
      other?.fingerprint,
      after?.fingerprint,
      "who has the table cannot tell that they are the same",
    );
  });

  test("with another key its tokens are refused as such, and others still work", async () => {
    const { database, store } = await open();
    await store.add("GITHUB", TOKEN, { allows: ALLOWS });
    const other = storeOn(database, "o".repeat(40));
    await other.add("GITHUB", `${TOKEN}2`, { allows: ALLOWS });
    const { tokens, faults } = await other.open();
    assert.deepEqual([...faults], [["other_key", 1]]);
    assert.deepEqual(
      tokens.get("GITHUB")?.map(({ token }) => token),
      [`${TOKEN}2`],
    );
    assert.deepEqual(
      (await other.list()).map(({ fault }) => fault),
      ["other_key", undefined],
    );
    assert.deepEqual(await store.providers(), ["GITHUB"], "they can still be seen and removed");
  });

  test("swapped, moved, cut off or changed rows are damaged, and never another token", async () => {
    const { database, store } = await open();
    const first = await store.add("GITHUB", TOKEN, { allows: ALLOWS });
    const second = await store.add("GITHUB", `${TOKEN}2`, { allows: ALLOWS });
    const [one, two] = await rowsOf(database);
    const sealed = one?.sealed ?? "";
    const attempts: [string, string][] = [
      ["sealed", two?.sealed ?? ""],
      ["sealed", sealed.slice(0, -4)],
      ["sealed", sealed.slice(0, 20)],
      ["sealed", ""],
      ["sealed", `${sealed[0] === "A" ? "B" : "A"}${sealed.slice(1)}`],
      ["fingerprint", "0123456789abcdef"],
    ];
    for (const [column, value] of attempts) {
      await change(database, column, value, first);
      const { tokens, faults } = await store.open();
      assert.deepEqual([...faults], [["damaged", 1]], `${column} ${value}`);
      assert.deepEqual(
        [...tokens].map(([provider, all]) => [provider, all.map(({ label }) => label)]),
        [["GITHUB", [`page #${second}`]]],
      );
      await change(database, column, String(one?.[column as "sealed"]), first);
    }
    assert.equal((await store.open()).faults.size, 0, "restored");
  });

  test("a token is opened for the address that accepted it, and for no other", async () => {
    const { database, store } = await open();
    const env = { SIDEREAL_GITHUB_URL: "https://github.example.org" };
    const enterprise = storeOn(database, KEY, env);
    const moved = { SIDEREAL_GITHUB_URL: "https://other.example.org/path" };
    const id = await enterprise.add("GITHUB", TOKEN, { allows: ALLOWS });
    for (const other of [store, storeOn(database, KEY, moved)]) {
      const { tokens, faults } = await other.open();
      assert.deepEqual([tokens.size, ...faults], [0, ["other_address", 1]]);
      const [shown] = await other.list();
      assert.deepEqual([shown?.fault, shown?.site], ["other_address", "https://github.example.org"]);
      assert.deepEqual(await other.providers(), [], "nothing is tracked because of it");
    }
    assert.deepEqual(await enterprise.providers(), ["GITHUB"]);
    assert.equal((await enterprise.open()).tokens.get("GITHUB")?.length, 1);
    await change(database, "site", "https://github.com", id);
    const { tokens, faults } = await store.open();
    assert.deepEqual([tokens.size, ...faults], [0, ["damaged", 1]], "whoever changes the row gains nothing");
    await change(database, "site", "https://gitlab.com", id);
    await change(database, "provider", "GITLAB", id);
    assert.deepEqual([...(await store.open()).faults], [["damaged", 1]]);
    const again = await store.add("GITHUB", TOKEN, { allows: ALLOWS });
    assert.notEqual(again, id, "the same token at another address is another one");
  });

  test("a token for a private network is not sent over http once the settings forbid it", async () => {
    const database = await engine.open();
    const env = {
      SIDEREAL_PROVIDERS: "work",
      SIDEREAL_WORK_KIND: "github",
      SIDEREAL_WORK_URL: "http://git.test",
    };
    const isPrivate = storeOn(database, KEY, { ...env, SIDEREAL_WORK_PRIVATE: "true" });
    await isPrivate.add("WORK", TOKEN, { allows: ALLOWS });
    assert.equal((await isPrivate.open()).faults.size, 0);
    assert.deepEqual([...(await storeOn(database, KEY, env).open()).faults], [["plain_http", 1]]);
  });

  test("a replacement takes the place of a token in one step, even of the last of twenty, or of itself", async () => {
    const { database, store } = await open();
    const ids: number[] = [];
    for (let i = 0; i < MAX_ENTERED; i++)
      ids.push(await store.add("GITHUB", `${TOKEN}${i}`, { allows: ALLOWS }));
    const same = await store.add("GITHUB", `${TOKEN}0`, { allows: ALLOWS, replaces: ids[0] });
    assert.equal(same, ids[0]);
    assert.equal((await rowsOf(database)).length, MAX_ENTERED, "the same token is still there");
    const other = await store.add("GITHUB", `${TOKEN}x`, { allows: ALLOWS, replaces: ids[1] });
    const present = (await rowsOf(database)).map(({ id }) => id);
    assert.deepEqual(present, [...ids.filter((id) => id !== ids[1]), other]);
    const gitlab = await store.add("GITLAB", TOKEN, { allows: ALLOWS, replaces: other });
    assert.equal((await rowsOf(database)).length, MAX_ENTERED + 1, `${gitlab}: of its own forge alone`);
  });

  test("a store in memory takes none, even with a key: no worker could read them", async () => {
    const database = await engine.open();
    const config = { ...PLACE, tokenKey: KEY, dataDir: ":memory:" };
    const store = new ForgeTokens({
      database,
      clock: new ManualClock(NOW),
      config,
      onChange: async () => {},
    });
    assert.deepEqual([store.keySource, store.isInMemory], [undefined, true]);
    await assert.rejects(store.add("GITHUB", TOKEN, { allows: ALLOWS }), { code: "FORBIDDEN" });
  });

  test("without a key, and without a folder for one, nothing can be entered", async () => {
    const database = await engine.open();
    const store = new ForgeTokens({
      database,
      clock: new ManualClock(NOW),
      config: { ...PLACE, tokenKey: undefined, databaseUrl: "postgres://test" },
      onChange: async () => {},
    });
    assert.equal(store.keySource, undefined);
    await assert.rejects(store.add("GITHUB", TOKEN, { allows: ALLOWS }), { code: "FORBIDDEN" });
    assert.deepEqual(await rowsOf(database), []);
  });

  test("a store in a folder makes a key file with its first token, for its owner alone", async () => {
    const folder = temporaryFolder();
    const database = await engine.open();
    const config = { ...PLACE, tokenKey: undefined, dataDir: folder };
    const make = () =>
      new ForgeTokens({ database, clock: new ManualClock(NOW), config, onChange: async () => {} });
    const file = join(folder, "token-key");
    assert.deepEqual(
      [make().keySource, (await make().open()).tokens.size, existsSync(file)],
      ["file", 0, false],
    );
    await make().add("GITHUB", TOKEN, { allows: ALLOWS });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(readFileSync(file, "utf8").length >= 32);
    assert.equal((await make().open()).tokens.get("GITHUB")?.[0]?.token, TOKEN, "another process reads it");
    rmSync(file);
    assert.deepEqual([...(await make().open()).faults], [["other_key", 1]], "gone with the key");
    assert.equal(existsSync(file), false, "reading makes no new one");
  });

  test("the number of tokens of a forge is bounded", async () => {
    const { store } = await open();
    const add = (provider: string, i: number) => store.add(provider, `${TOKEN}${i}`, { allows: ALLOWS });
    const first = await add("GITHUB", 0);
    for (let i = 1; i < MAX_ENTERED; i++) await add("GITHUB", i);
    await assert.rejects(add("GITHUB", 99), { code: "LIMIT_REACHED" });
    await add("GITLAB", 0);
    assert.equal(await store.remove(first), "GITHUB");
    assert.equal(await store.remove(first), undefined, "once");
  });
});
