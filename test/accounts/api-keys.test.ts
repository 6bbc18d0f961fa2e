import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { ApiKeys, MAX_KEYS } from "../../src/accounts/api-keys.js";
import type { Database } from "../../src/database/database.js";
import { AppError } from "../../src/lib/errors.js";
import { createToken, hashToken, tokenPrefix } from "../../src/lib/tokens.js";
import { accountsContext, addAccount } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

const isLimit = (error: unknown) => error instanceof AppError && error.code === "LIMIT_REACHED";
const isMissing = (error: unknown) => error instanceof AppError && error.code === "NOT_FOUND";

/** How often the race for the last key is run; more for a longer look. */
const ROUNDS = Number(process.env.KEY_RACE_ROUNDS || 20);

/** The database with no reads: any that is tried fails. */
function withoutReads(database: Database): Database {
  const refuse = (): never => {
    throw new Error("the database was read");
  };
  return {
    ...database,
    get read() {
      return refuse();
    },
    get durable() {
      return refuse();
    },
  };
}

onSqliteAndLong("API keys", (engine) => {
  const start = async () => {
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const accountId = await addAccount(database, "ann@example.org");
    const context = accountsContext(database, clock);
    return { ...context, clock, accountId, keys: new ApiKeys(context) };
  };

  test("a key is shown once and found; only its hash and last four characters are kept", async () => {
    const { database, keys, writes, accountId } = await start();
    const { key, secret } = await keys.create(accountId, "laptop");
    assert.match(secret, /^sid_[0-9A-Za-z]{36}$/);
    assert.equal(tokenPrefix(secret), "sid");
    const never = { lastUsedAt: null, endsAt: null };
    const expected = { id: key.id, name: "laptop", hint: secret.slice(-4), createdAt: NOW, ...never };
    assert.deepEqual(key, expected);
    assert.deepEqual(await keys.list(accountId), [expected]);
    assert.equal((await keys.find(secret))?.keyId, key.id);
    await writes.flush();
    const { rows } = await sql<Record<string, unknown>>`select * from api_keys`.execute(database.read);
    assert.equal(rows[0]?.hash, hashToken(secret));
    assert.ok(!JSON.stringify(rows).includes(secret.slice(4, -4)));
    await keys.revoke(accountId, key.id);
    const { rows: revoked } = await sql`select * from api_keys`.execute(database.read);
    assert.ok(!JSON.stringify(revoked).includes(hashToken(secret)), "not even its hash, once it is revoked");
  });

  test("an unknown, malformed or mistyped key finds nobody, and only the unknown one costs a read", async () => {
    const { database, keys, clock } = await start();
    assert.equal(await keys.find(createToken("sid")), undefined);
    const blind = new ApiKeys(accountsContext(withoutReads(database), clock));
    await assert.rejects(blind.find(createToken("sid")), /was read/);
    for (const wrong of ["", "sid_", `${createToken("sid")}x`, `sid_${"0".repeat(36)}`, createToken("sidw")])
      assert.equal(await blind.find(wrong), undefined, wrong);
  });

  test("fifty creations at once leave five keys, and make one more when one is revoked, every time", async () => {
    const { database, keys } = await start();
    for (let round = 0; round < ROUNDS; round++) {
      const accountId = await addAccount(database, `round-${round}@example.org`);
      for (const made of [MAX_KEYS, 1]) {
        const results = await Promise.allSettled(
          Array.from({ length: 50 }, (_, i) => keys.create(accountId, `key ${i}`)),
        );
        const refused = results.filter((result) => result.status === "rejected");
        assert.equal(refused.length, 50 - made, `round ${round}`);
        for (const { reason } of refused) assert.ok(isLimit(reason), String(reason));
        const [first, ...others] = await keys.list(accountId);
        assert.equal(others.length, MAX_KEYS - 1, `round ${round}`);
        await keys.revoke(accountId, first?.id ?? 0);
      }
    }
  });

  test("a revoked key is refused at once here, and within five seconds elsewhere", async () => {
    const { database, clock, keys, accountId } = await start();
    const elsewhere = new ApiKeys(accountsContext(database, clock));
    const { key, secret } = await keys.create(accountId, "laptop");
    assert.ok(await keys.find(secret));
    assert.ok(await elsewhere.find(secret));
    await keys.revoke(accountId, key.id);
    assert.equal(await keys.find(secret), undefined);
    clock.advance(5_000);
    assert.equal(await elsewhere.find(secret), undefined);
    await keys.revoke(accountId, key.id);
    assert.equal(await keys.find(secret), undefined);
  });

  test("only a revocation discards what is cached", async () => {
    const { database, keys, revocations, accountId } = await start();
    const other = await addAccount(database, "bob@example.org");
    const { key } = await keys.create(accountId, "laptop");
    const { count } = revocations;
    await assert.rejects(keys.revoke(accountId, key.id + 100), isMissing);
    await assert.rejects(keys.revoke(other, key.id), isMissing);
    assert.equal(revocations.count, count);
    await keys.revoke(accountId, key.id);
    assert.equal(revocations.count, count + 1);
    await keys.revoke(accountId, key.id);
    assert.equal(revocations.count, count + 1, "revoked before");
  });

  test("the last use is written once a minute at most", async () => {
    const { clock, keys, writes, accountId } = await start();
    const { secret } = await keys.create(accountId, "laptop");
    const lastUse = async () => {
      await keys.find(secret);
      await writes.flush();
      return (await keys.list(accountId))[0]?.lastUsedAt;
    };
    assert.equal(await lastUse(), NOW);
    clock.advance(59_999);
    assert.equal(await lastUse(), NOW);
    clock.advance(1);
    assert.equal(await lastUse(), NOW + 60_000);
  });
});
