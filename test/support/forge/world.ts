import type { TestContext } from "node:test";
import type { ForgeKind } from "../../../src/config/known-forges.js";
import { ManualClock } from "../manual-clock.js";
import {
  type CatalogueOptions,
  type Forge,
  ForgeCatalogue,
  type ForgeRepository,
  startForge,
} from "./forge.js";

/** Start time of forges in tests. */
export const START = Date.UTC(2026, 0, 7, 5, 30);

/** Rates of a script without events. */
export const QUIET = {
  created: 0,
  renamed: 0,
  transferred: 0,
  archived: 0,
  hidden: 0,
  blocked: 0,
  deleted: 0,
  burst: 0,
};

/** A forge, its clock, and a client that ignores limits. */
export interface ForgeWorld {
  forge: Forge;
  clock: ManualClock;
  /** GET without following redirects; with the token `one` unless headers say otherwise. */
  get(path: string, headers?: Record<string, string>): Promise<ClientResponse>;
  /** A GraphQL query with the token `one`. */
  query(query: string, variables?: object, headers?: Record<string, string>): Promise<ClientResponse>;
  /** The current record of a repository. */
  truth(id: number): ForgeRepository;
}

export interface ClientResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is proved elsewhere.
  body: any;
}

/** A forge with, by default, 300 repositories and no events; closed after the test. */
export async function forgeWorld(
  t: TestContext,
  kind: ForgeKind,
  options: Partial<CatalogueOptions> = {},
): Promise<ForgeWorld> {
  const clock = new ManualClock(START);
  const isNested = kind === "gitlab";
  const catalogue = new ForgeCatalogue({
    seed: 7,
    repositories: 300,
    start: START,
    rates: QUIET,
    isNested,
    ...options,
  });
  const forge = await startForge({ kind, clock, catalogue });
  t.after(() => forge.close());
  const token = { authorization: "Bearer one" };
  const ask = async (path: string, init: RequestInit): Promise<ClientResponse> => {
    const response = await fetch(path.startsWith("http") ? path : forge.url + path, {
      redirect: "manual",
      ...init,
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  return {
    forge,
    clock,
    get: (path, headers = token) => ask(path, { headers }),
    query: (query, variables = {}, headers = token) =>
      ask("/api/graphql", { method: "POST", headers, body: JSON.stringify({ query, variables }) }),
    truth: (id) => {
      const repository = forge.catalogue.get(id, clock.now());
      if (repository === undefined) throw new Error(`there is no repository ${id}`);
      return repository;
    },
  };
}

/** The address of a relation in a `Link` header; null without it. */
export function linked(response: ClientResponse, relation: string): string | null {
  const pattern = new RegExp(`<([^>]+)>; rel="${relation}"`);
  return pattern.exec(response.headers.get("link") ?? "")?.[1] ?? null;
}
