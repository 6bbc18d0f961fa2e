import assert from "node:assert/strict";
import { test } from "node:test";
import { onBothEngines } from "../support/engines.js";
import { fuzz } from "./fuzz/fuzz.js";
import { FuzzService } from "./fuzz/service.js";

onBothEngines("Generated requests", (engine) => {
  test("lead to no server error and to nothing outside the contract, and change nothing that others see", async () => {
    const database = await engine.open();
    const { url: databaseUrl, dataDir } = engine.location();
    const options = { database, databaseUrl, dataDir, repositories: 100 };
    const service = await FuzzService.start(options);
    const reported: string[] = [];
    try {
      const { name } = engine;
      const requests = name === "sqlite" ? 1_200 : 600;
      const result = await fuzz(service, {
        engine: name,
        requests,
        seed: 1,
        isTimed: false,
        report: (line) => void reported.push(line),
      });
      assert.equal(result.failed, 0, reported.join("\n"));
      assert.equal(result.statusClasses.get(5), undefined);
      assert.deepEqual(result.polluted, []);
      assert.deepEqual(result.changedReads, []);
      assert.ok(result.requests >= requests);
    } finally {
      await service.stop();
    }
  });
});
