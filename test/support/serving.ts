import assert from "node:assert/strict";
import { once } from "node:events";
import type { CommandWorld, Running } from "./command.js";

/** A `serve` process that answers. */
export interface Serving extends Running {
  url: string;
  /** Its process id is what to kill; this asks it to stop and waits. */
  stop(): Promise<void>;
}

/** Starts `serve` at a free port, and waits until it answers. */
export async function serve(
  world: CommandWorld,
  dataDir: string,
  settings: Record<string, string>,
): Promise<Serving> {
  const running = world.start(dataDir, ["serve"], { SIDEREAL_PORT: "0", ...settings });
  const { stdout } = running.process;
  assert.ok(stdout);
  const [line] = await Promise.race([
    once(stdout, "data"),
    running.ended.then(({ stderr }) => assert.fail(stderr)),
  ]);
  const url = /listens at (\S+)/.exec(String(line))?.[1] ?? "";
  return {
    ...running,
    url,
    async stop() {
      running.process.kill("SIGTERM");
      await running.ended;
    },
  };
}
