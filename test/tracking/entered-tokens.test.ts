import assert from "node:assert/strict";
import { test } from "node:test";
import { startWorker } from "../../src/app/tracker.js";
import { loadConfig } from "../../src/config/config.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { buildModules } from "../../src/modules.js";
import { onSqliteAndLong } from "../support/engines.js";
import { startForge } from "../support/forge/forge.js";
import { recordedLog } from "../support/logs.js";
import { ManualClock } from "../support/manual-clock.js";
import { FORGE_START, quietCatalogue } from "../support/tracking.js";

const TOKEN = "entered-token-0123456789-abcdefghij";
const ALLOWS = { owner: null, scopes: [], limit: null, remaining: null, expiresAt: null };

onSqliteAndLong("A worker while tokens are entered and removed", ({ open }) => {
  test("uses them within seconds, although its quota was used up, and stops when they are removed", async (t) => {
    const clock = new ManualClock(FORGE_START + 10 * 24 * HOUR_MS);
    const forge = await startForge({ kind: "github", clock, catalogue: quietCatalogue("github", 300) });
    const config = loadConfig({
      SIDEREAL_PROVIDERS: "work",
      SIDEREAL_WORK_KIND: "github",
      SIDEREAL_WORK_URL: forge.url,
      SIDEREAL_WORK_PRIVATE: "true",
      SIDEREAL_WORK_MIN_STARS: "0",
      SIDEREAL_TOKEN_KEY: "k".repeat(40),
      SIDEREAL_AUTH_SECRET: "Kq8-vN2wZ5xR1tY7uB3mC6pL9sD4fG0h",
    });
    const { log, lines } = recordedLog("info");
    const modules = buildModules(await open(), { clock, log, config });
    const used = new Set<string>();
    forge.switches.fault = ({ headers }) => {
      used.add(headers.authorization ?? "anonymous");
      return undefined;
    };
    const worker = await startWorker({ config, clock, log }, modules, { isOnce: false });
    t.after(async () => {
      await worker.stop();
      await forge.close();
    });
    let asleep = 0;
    /** Waits while somebody is awake, who may wait for statements: each of ours takes about as long as one of theirs. */
    const settle = async (hasHappened: () => boolean) => {
      asleep = Math.max(asleep, clock.sleeping);
      for (let tries = 0; tries < 20 && clock.sleeping < asleep && !hasHappened(); tries++)
        await modules.database.read.selectFrom("marks").select("name").execute();
    };
    /** Lets time pass until something has happened; returns whether it has. */
    const until = async (happened: () => boolean, mostMs: number): Promise<boolean> => {
      for (let passed = 0; passed < mostMs && !happened(); passed += 500) {
        clock.advance(500);
        for (let turn = 0; turn < 50 && !happened(); turn++)
          await new Promise((resolve) => setImmediate(resolve));
        await settle(happened);
      }
      return happened();
    };
    const changes = () => lines.filter(({ msg }) => msg.endsWith("have changed")).length;
    assert.ok(await until(() => used.has("anonymous"), HOUR_MS));
    // Until what is allowed without a token is used up.
    await until(() => false, 180_000);
    const before = clock.now();
    const id = await modules.forgeTokens.add("WORK", TOKEN, { allows: ALLOWS });
    assert.ok(await until(() => used.has(`Bearer ${TOKEN}`), 30 * 60_000));
    assert.ok(clock.now() - before < 30 * 60_000, "not after the hour that the anonymous quota takes");
    assert.ok(!JSON.stringify(lines).includes(TOKEN));
    await modules.forgeTokens.remove(id);
    assert.ok(await until(() => changes() === 2, HOUR_MS));
    // What was on its way with it.
    await until(() => false, 5_000);
    used.clear();
    assert.ok(await until(() => used.has("anonymous"), 12 * HOUR_MS));
    assert.ok(!used.has(`Bearer ${TOKEN}`));
    await modules.forgeTokens.add("WORK", TOKEN, { allows: ALLOWS });
    await modules.database.write.updateTable("forge_tokens").set({ sealed: "AAAA" }).execute();
    await modules.forgeTokens.add("WORK", `${TOKEN}2`, { allows: ALLOWS });
    assert.ok(
      await until(() => used.has(`Bearer ${TOKEN}2`), HOUR_MS),
      "one that is damaged keeps no other from being used",
    );
    assert.ok(lines.some(({ msg }) => msg.startsWith("stored tokens of forges cannot be decrypted")));
  });
});
