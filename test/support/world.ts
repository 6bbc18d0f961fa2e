import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import type { AppContext, Members, Modules } from "../../src/modules.js";
import type { Observation, Snapshot } from "../../src/repositories/repository.js";
import type { Engine } from "./engines.js";
import { inject } from "./inject.js";
import { limits } from "./limits.js";
import { type LogLine, recordedLog } from "./logs.js";
import { ManualClock } from "./manual-clock.js";

/** The time in every test, unless it moves the clock. */
export const NOW = Date.UTC(2026, 3, 30, 12);

/** A service over a fresh database, asked without a port. */
export interface World {
  modules: Modules;
  members: Members;
  clock: ManualClock;
  /** Lines of the log: from warnings on, unless another level is given. */
  logged: readonly LogLine[];
  /** Records observations and brings up to date what is derived, as a worker does. */
  record(...observations: Observation[]): Promise<void>;
  /** Sends a request, from the address `peer`; every answer is checked against the OpenAPI document. */
  request(path: string, init?: RequestInit & { peer?: string }): Promise<Response>;
  /** GET, with the parsed body. */
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** A request with a JSON body. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** Limits that no test reaches; tests of limits ask for others. */
export const GENEROUS: Readonly<Record<string, string>> = {
  ...limits(),
};

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape the document already proves.
  body: any;
}

export async function createWorld(
  engine: Pick<Engine, "open">,
  env: Record<string, string> = {},
  level: "trace" | "warn" = "warn",
): Promise<World> {
  // Imported here: the whole program takes most of a second to load, and many tests need only the data below.
  const { buildFront, buildMembers } = await import("../../src/app/service.js");
  const { loadConfig } = await import("../../src/config/config.js");
  const { buildModules, followChanges } = await import("../../src/modules.js");
  const { checkAnswer } = await import("./openapi.js");
  const clock = new ManualClock(NOW);
  const config = loadConfig({
    SIDEREAL_BASE_URL: "https://sidereal.example",
    SIDEREAL_CACHE_MB: "0",
    SIDEREAL_AUTH_SECRET: "Kq8-vN2wZ5xR1tY7uB3mC6pL9sD4fG0h",
    ...GENEROUS,
    ...env,
  });
  const modules = buildModules(await engine.open(), {
    clock,
    log: createLog("silent"),
    // As on PostgreSQL: nothing is kept in a data folder. Only secrets depend on it.
    config: { ...config, databaseUrl: "postgres://world", dataDir: ":memory:" },
  });
  const { log, lines: logged } = recordedLog(level);
  const context: AppContext = { config, clock, log };
  const members = buildMembers(context, modules);
  const front = buildFront(context, modules, members);
  const request = async (
    path: string,
    { peer = "192.0.2.1", ...init }: RequestInit & { peer?: string } = {},
  ): Promise<Response> => {
    const asked = new Request(new URL(path, "http://localhost"), init);
    const response = await inject((message, reply) => void front.handle(message, reply), asked.clone(), peer);
    await checkAnswer(asked, response.clone());
    return response;
  };
  const answer = async (response: Response): Promise<Answer> => {
    const text = await response.text();
    const isJson = /[/+]json\b/.test(response.headers.get("content-type") ?? "");
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : text,
    };
  };
  return {
    modules,
    members,
    clock,
    logged,
    async record(...observations) {
      await modules.catalog.record(observations);
      await followChanges(modules);
    },
    request,
    get: async (path, headers = {}) => answer(await request(path, { headers })),
    send: async (method, path, body, headers = {}) =>
      answer(
        await request(path, {
          method,
          headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      ),
  };
}

/** An imported snapshot with only stars, unless more is given. */
export function snapshotAt(capturedAt: number, stars: number, more: Partial<Snapshot> = {}): Snapshot {
  return {
    capturedAt,
    stars,
    forks: null,
    openIssues: null,
    watchers: null,
    source: "IMPORTED",
    ...more,
  };
}

/** The same, a number of hours before NOW. */
export const snapshot = (hoursAgo: number, stars: number, more: Partial<Snapshot> = {}): Snapshot =>
  snapshotAt(NOW - hoursAgo * HOUR_MS, stars, more);

/** Snapshots at a fixed distance up to NOW, the stars counting up from 0. */
export const snapshotsEvery = (hours: number, count: number): Snapshot[] =>
  Array.from({ length: count }, (_, i) => snapshot((count - 1 - i) * hours, i));

/** What a source says of a repository: its facts are those of its last snapshot, unless given. */
export function observation(
  fullName: string,
  snapshots: readonly Snapshot[] = [],
  more: Partial<Observation> = {},
): Observation {
  const parts = fullName.split("/");
  const last = snapshots.at(-1);
  const { facts, ...rest } = more;
  return {
    provider: "GITHUB",
    owner: parts.slice(0, -1).join("/"),
    name: parts.at(-1) ?? "",
    at: last?.capturedAt ?? NOW,
    snapshots,
    facts: {
      ...(last === undefined
        ? {}
        : { stars: last.stars, forks: last.forks, openIssues: last.openIssues, watchers: last.watchers }),
      ...facts,
    },
    ...rest,
  };
}

/** Daily snapshots up to NOW, from the oldest count to the newest. */
export function daily(...stars: number[]): Snapshot[] {
  return stars.map((count, i) => snapshot((stars.length - 1 - i) * (DAY_MS / HOUR_MS), count));
}
