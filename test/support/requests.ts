import assert from "node:assert/strict";
import { HOUR_MS } from "../../src/lib/clock.js";
import type { Engine } from "./engines.js";
import type { ForgeRepository } from "./forge/forge.js";
import { createTrackingWorld, type TrackedForge, type TrackingWorld } from "./tracking.js";

/** Nothing has as many stars, so that only requests bring repositories. */
export const NOBODY = 1_000_000_000;
const FORGE: TrackedForge = {
  kind: "github",
  name: "GITHUB",
  repositories: 30,
  catalogue: "quiet",
  minStars: NOBODY,
};
export const SECOND = 1_000;

/** A worker on a forge whose repositories only requests bring. */
export interface RequestWorld {
  world: TrackingWorld;
  /** Starts the worker again, so that it looks for requests only every hour: days are simulated. */
  restartSlowly(): Promise<void>;
  /** Repositories of the forge, most stars first. */
  repositories: ForgeRepository[];
  request(fullName: string): Promise<string>;
  stateOf(id: string): Promise<string>;
}

/** Opens one, closed after the test. */
export async function openRequestWorld(
  engine: Engine,
  close: { after: (end: () => Promise<void>) => void },
  { everyMs = 500, ...forge }: Partial<TrackedForge> & { everyMs?: number } = {},
): Promise<RequestWorld> {
  const tracked = { ...FORGE, ...forge };
  const options = { requestsEveryMs: everyMs };
  const world = await createTrackingWorld(await engine.open(), [tracked], options);
  close.after(() => world.close());
  const { modules, clock, opened } = world;
  const { catalogue } = world.forge(tracked.name);
  const repositories = catalogue
    .ids()
    .flatMap((id) => catalogue.get(id, clock.now()) ?? [])
    .filter(({ visibility }) => visibility === "public")
    .sort((a, b) => b.stars - a.stars);
  const forges = opened.map(({ provider }) => provider.settings);
  return {
    world,
    repositories,
    async restartSlowly() {
      options.requestsEveryMs = HOUR_MS;
      await world.restart();
    },
    async request(fullName) {
      const text = `${tracked.name.toLowerCase()}:${fullName}`;
      const policy = { access: "everyone", forges } as const;
      const requested = await modules.trackRequests.request(text, {
        policy,
        requester: { hasAccount: false, adding: undefined },
      });
      assert.ok("request" in requested, `${fullName} is known`);
      return requested.request.id;
    },
    stateOf: async (id) => (await modules.trackRequests.find(id))?.state ?? "none",
  };
}
