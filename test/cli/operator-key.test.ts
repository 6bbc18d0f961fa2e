import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CommandWorld } from "../support/command.js";
import { freePort } from "../support/ports.js";
import { serve } from "../support/serving.js";

const world = new CommandWorld();

test("operator-key prints an address that a running service takes, once", async () => {
  const dataDir = world.newDataDir();
  const own = { SIDEREAL_PORT: String(await freePort()) };
  const service = await serve(world, dataDir, own);
  after(() => service.stop());
  const { code, stdout, stderr } = await world.runHere(dataDir, ["operator-key"], own);
  assert.deepEqual([code, stderr], [0, ""]);
  const open = (method: string) => fetch(stdout.trim(), { method, redirect: "manual" });
  assert.equal((await open("HEAD")).status, 200);
  const opened = await open("GET");
  assert.equal(opened.status, 303);
  const cookie = opened.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const page = await fetch(new URL("/operator", stdout), { headers: { cookie }, redirect: "manual" });
  assert.equal(page.status, 200);
  assert.equal((await open("GET")).status, 400);
});

test("operator-key says why there is no key, and makes no store", async () => {
  const dataDir = world.newDataDir();
  const missing = await world.runHere(dataDir, ["operator-key"]);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /There is no store/);
  const inMemory = await world.runHere(":memory:", ["operator-key"]);
  assert.deepEqual([inMemory.code, inMemory.stdout], [1, ""]);
  assert.match(inMemory.stderr, /in memory: another start/);
  const service = await serve(world, dataDir, { SIDEREAL_PORT: String(await freePort()) });
  await service.stop();
  const open = await world.runHere(dataDir, ["operator-key"], { SIDEREAL_TRUSTED_PROXIES: "127.0.0.1" });
  assert.deepEqual([open.code, open.stdout], [1, ""]);
  assert.match(open.stderr, /SIDEREAL_OPERATORS/);
});
