import type { TestContext } from "node:test";
import { ManualClock } from "../../../src/clock.js";
import type { ForgeKind } from "../../../src/forges.js";
import {
  type CatalogueOptions,
  type Forge,
  ForgeCatalogue,
  type ForgeRepository,
  startForge,
} from "./forge.js";

/** When the forges of tests begin. */
export const START = Date.UTC(2026, 0, 7, 5, 30);

/** Rates of a script in which nothing happens. */
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

/** A forge, its clock, and a client without manners. */
export interface ForgeWorld {
  forge: Forge;
  clock: ManualClock;
  /** GET without following redirects; with the token `one` unless headers say otherwise. */
  get(path: string, headers?: Record<string, string>): Promise<ForgeAnswer>;
  /** A GraphQL query with the token `one`. */
  query(query: string, variables?: object, headers?: Record<string, string>): Promise<ForgeAnswer>;
  /** The record of a repository as it is now. */
  truth(id: number): ForgeRepository;
}

export interface ForgeAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is proved elsewhere.
  body: any;
}

/** A forge of that kind with 300 repositories to which nothing happens, unless options say otherwise; closed after the test. */
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
  const ask = async (path: string, init: RequestInit): Promise<ForgeAnswer> => {
    const answer = await fetch(path.startsWith("http") ? path : forge.url + path, {
      redirect: "manual",
      ...init,
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
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

/** The address of a relation in a `Link` header; null where it is not there. */
export function linked(answer: ForgeAnswer, relation: string): string | null {
  const pattern = new RegExp(`<([^>]+)>; rel="${relation}"`);
  return pattern.exec(answer.headers.get("link") ?? "")?.[1] ?? null;
}
