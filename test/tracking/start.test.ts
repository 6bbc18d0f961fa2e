import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { CommandWorld } from "../support/command.js";

test("start ends with its worker when it is asked to stop", async () => {
  const world = new CommandWorld();
  const settings = {
    SIDEREAL_PORT: "0",
    SIDEREAL_LOG_LEVEL: "info",
    // A closed port.
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

test("start stops on SIGTERM while the service is opening", async () => {
  const world = new CommandWorld();
  const sockets: Socket[] = [];
  // Redis is connected to while the service opens, and this one never replies.
  const silent = createServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    child.kill("SIGTERM");
  }).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const address = silent.address();
  assert.ok(typeof address === "object" && address !== null);
  const { process: child, ended } = world.start(world.newDataDir(), ["start"], {
    SIDEREAL_PORT: "0",
    SIDEREAL_REDIS_URL: `redis://127.0.0.1:${address.port}`,
    SIDEREAL_GITHUB_URL: "http://127.0.0.1:9",
    SIDEREAL_GITHUB_PRIVATE: "true",
  });
  after(() => child.kill("SIGKILL"));
  const { code, stderr } = await ended;
  for (const socket of sockets) socket.destroy();
  silent.close();
  assert.equal(code, 0, stderr);
});
