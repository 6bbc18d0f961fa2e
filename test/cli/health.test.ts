import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CommandWorld } from "../support/command.js";
import { freePort } from "../support/ports.js";
import { serve } from "../support/serving.js";

const world = new CommandWorld();

for (const [name, settings] of Object.entries({
  "at the default address": {},
  "on all addresses": { SIDEREAL_HOST: "0.0.0.0" },
  "below a path": { SIDEREAL_BASE_URL: "https://example.org/tools/sidereal" },
}))
  test(`health finds a service ${name}`, async () => {
    const dataDir = world.newDataDir();
    const own = { ...settings, SIDEREAL_PORT: String(await freePort()) };
    const service = await serve(world, dataDir, own);
    after(() => service.stop());
    assert.deepEqual(await world.runHere(dataDir, ["health"], own), {
      code: 0,
      stdout: "The service responds.\n",
      stderr: "",
    });
  });

test("health fails where nothing listens, and says where it looked", async () => {
  const port = String(await freePort());
  const { code, stdout, stderr } = await world.runHere(world.newDataDir(), ["health"], {
    SIDEREAL_PORT: port,
  });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(
    stderr,
    new RegExp(`^http://127\\.0\\.0\\.1:${port}/healthz does not respond: .*ECONNREFUSED`),
  );
});
