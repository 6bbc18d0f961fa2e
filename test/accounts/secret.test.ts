import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readSecret } from "../../src/accounts/secret.js";
import { openAccounts } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { recordedLog } from "../support/logs.js";

onSqliteAndLong("The secret that signs cookies", (engine) => {
  test("the configured one is used, and none is made", async () => {
    const database = await engine.open();
    const dataDir = "not-there";
    const authSecret = "s".repeat(32);
    assert.equal(
      await readSecret({ config: { authSecret, databaseUrl: undefined, dataDir }, database }),
      authSecret,
    );
  });

  test("if there is no folder of its own, one is made once and kept in the database", async () => {
    const database = await engine.open();
    const config = { authSecret: undefined, databaseUrl: "postgres://elsewhere", dataDir: "" };
    const secrets = await Promise.all([1, 2, 3].map(() => readSecret({ config, database })));
    assert.equal(new Set(secrets).size, 1);
    assert.match(secrets[0] ?? "", /^[\w-]{43}$/);
  });

  test("a public address without https is reported at the start", async () => {
    const database = await engine.open();
    for (const [baseUrl, isReported] of [
      ["http://stars.example.org", true],
      ["https://stars.example.org", false],
      ["http://localhost:3000", false],
      ["http://192.168.1.7:3000", false],
    ] as const) {
      const { log, lines } = recordedLog("warn");
      await openAccounts(database, { SIDEREAL_BASE_URL: baseUrl }, { log }).accounts.open();
      assert.equal(JSON.stringify(lines).includes("without https"), isReported, baseUrl);
    }
  });

  describe("in a data folder", () => {
    const folder = temporaryFolder();

    test("one is made once, in a file for its owner alone", async () => {
      const dataDir = mkdtempSync(join(folder, "data-"));
      const config = { authSecret: undefined, databaseUrl: undefined, dataDir };
      const database = await engine.open();
      const first = await readSecret({ config, database });
      assert.match(first, /^[\w-]{43}$/);
      assert.equal(await readSecret({ config, database }), first);
      assert.deepEqual(readdirSync(dataDir), ["auth-secret"]);
      assert.equal(statSync(join(dataDir, "auth-secret")).mode & 0o777, 0o600);
    });

    test("a damaged one is reported, and not used", async () => {
      const dataDir = mkdtempSync(join(folder, "data-"));
      writeFileSync(join(dataDir, "auth-secret"), "short");
      const config = { authSecret: undefined, databaseUrl: undefined, dataDir };
      await assert.rejects(
        readSecret({ config, database: await engine.open() }),
        /auth-secret .* is damaged/,
      );
    });
  });
});
