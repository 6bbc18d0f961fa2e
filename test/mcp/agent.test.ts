import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, updateDerived } from "../../src/modules.js";
import { CommandWorld } from "../support/command.js";
import { onSqlite } from "../support/engines.js";
import { serve } from "../support/serving.js";
import { daily, observation } from "../support/world.js";

const AGENT = fileURLToPath(new URL("../../examples/agent.js", import.meta.url));

onSqlite("examples/agent.ts", (engine) => {
  test("says which repositories of a language grew most, and whether to trust that", async () => {
    const modules = buildModules(await engine.open(), { clock: systemClock, log: createLog("silent") });
    const facts = { language: "Rust" };
    await modules.catalog.record([
      observation("a/one", daily(100, 105, 110, 120, 130, 140, 150, 160, 170), { facts }),
      observation("b/two", daily(500, 501, 502, 503, 504, 505, 506, 507, 508), { facts }),
      observation("c/three", daily(1, 2, 3, 4, 5, 6, 7, 8, 900), { facts: { language: "Go" } }),
    ]);
    await updateDerived(modules);
    const world = new CommandWorld();
    const serving = await serve(world, engine.location().dataDir, {});
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [AGENT, serving.url, "Rust"]);
      const [title, ...lines] = stdout.trim().split("\n");
      assert.match(
        title ?? "",
        /^Rust repositories that grew most in the week to 2026-04-30 \(\d+ days ago\):$/,
      );
      const page = (name: string) => `${serving.url}/repos/github/${name}`;
      assert.deepEqual(lines, [
        `github:a/one: +65 counted, 65 in all; trustworthy, confidence 0.8 ${page("a/one")}`,
        `github:b/two: +7 counted, 7 in all; trustworthy, confidence 0.8 ${page("b/two")}`,
      ]);
    } finally {
      await serving.stop();
    }
  });
});
