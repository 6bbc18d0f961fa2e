import assert from "node:assert/strict";
import { test } from "node:test";
import { getMigrations } from "better-auth/db/migration";
import { libraryOptions } from "../../src/accounts/library.js";
import { loadConfig } from "../../src/config/config.js";
import { createLog } from "../../src/lib/log.js";
import { onSqliteAndLong } from "../support/engines.js";

onSqliteAndLong("The tables of the sign-in library", (engine) => {
  test("the library's own generator finds no table, column, or index missing in ours", async () => {
    const database = await engine.open();
    const warnings: string[] = [];
    const config = loadConfig({
      SIDEREAL_AUTH_GITHUB_ID: "id",
      SIDEREAL_AUTH_GITHUB_SECRET: "secret",
      SIDEREAL_BASE_URL: "https://sidereal.example",
    });
    const options = libraryOptions({ config, log: createLog("silent") }, "s".repeat(40));
    const { toBeCreated, toBeAdded } = await getMigrations({
      ...options,
      logger: { level: "warn", log: (_level, message) => warnings.push(message) },
      database: { db: database.durable, type: database.dialect.libraryName },
    });
    assert.deepEqual(toBeCreated, []);
    assert.deepEqual(toBeAdded, []);
    // Both need eight bytes on PostgreSQL: a counter of signatures has 32 bits without a sign, a time more.
    const expected =
      /^Field (?:counter in table passkeys|seen_at in table sessions) has a different type .* got int8\.$/;
    assert.deepEqual(
      warnings.filter((warning) => !expected.test(warning)),
      [],
    );
  });
});
