import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandWorld } from "../support/command.js";

test("start ends soon after it was asked to, with its worker", { timeout: 60_000 }, async () => {
  const world = new CommandWorld();
  const settings = {
    SIDEREAL_PORT: "0",
    SIDEREAL_LOG_LEVEL: "info",
    // Nobody listens there.
    SIDEREAL_GITHUB_URL: "http://127.0.0.1:9",
    SIDEREAL_GITHUB_PRIVATE: "true",
  };
  const { process: child, ended } = world.start(world.newDataDir(), ["start"], settings);
  await new Promise<void>((resolve) => {
    child.stderr?.on("data", (text: string) => {
      if (text.includes('"msg":"tracking"')) resolve();
    });
  });
  child.kill("SIGTERM");
  const { code, stderr } = await ended;
  assert.equal(code, 0);
  // Standard error closes with the last process that holds it, so the worker has ended too.
  assert.match(stderr, /the worker is stopping/);
});
