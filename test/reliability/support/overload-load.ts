import type { LoadRequest } from "../../../bench/support/load.js";
import { type MixRequest, mixOf } from "../../../bench/support/mix.js";
import { generatorOptions, type Store } from "../../../bench/support/stores.js";
import { TOPICS } from "../../../bench/synthetic/vocabulary.js";

/** Requests of one pass: each has an address of its own, so that none of them reaches its limits. */
const COUNT = 20_000;

/** The address of the i-th caller, as a trusted proxy names it. */
const addressOf = (i: number) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

/** A response that is requested so often that it stays cached. */
export const CACHED_PATH = "/api/repos?sort=stars";

/**
 * The mix without its repetitions, so that a small cache holds none of it, from callers with different addresses. One in ten
 * requests has an API key, one in ten is for a cached response, and one in ten is a health check.
 */
export function overloadMix(store: Store, keys: readonly string[]): LoadRequest[] {
  const known = new Map<string, MixRequest>();
  for (const request of mixOf(generatorOptions(store))) if (!request.turns) known.set(request.path, request);
  const paths = [...known.keys()];
  // Pages do not read keys.
  const ofApi = paths.filter((path) => path.startsWith("/api/"));
  return Array.from({ length: COUNT }, (_, i): LoadRequest => {
    const headers = { "X-Forwarded-For": addressOf(i) };
    if (i % 10 === 0) return { kind: "health", path: "/healthz", headers };
    if (i % 10 === 1) return { kind: "cached", path: CACHED_PATH, headers };
    if (i % 10 > 2) return { kind: "address", path: paths[i % paths.length] ?? "/", headers };
    const key = keys[Math.floor(i / 10) % keys.length] ?? "";
    return {
      kind: "key",
      path: ofApi[i % ofApi.length] ?? "/api/repos",
      headers: { ...headers, "X-API-Key": key },
    };
  });
}

/** Charts of six repositories, all different. */
export function chartRequests(store: Store): LoadRequest[] {
  const names = mixOf(generatorOptions(store)).flatMap(({ kind, path }) => {
    const [, , , provider, owner, name] = path.split("/");
    return kind === "detail" ? [`${provider}:${owner}/${name}`] : [];
  });
  return names.map((_, i) => {
    const six = Array.from({ length: 6 }, (_, j) => names[(i + j * j * 7 + j) % names.length] ?? "");
    return {
      kind: "chart",
      path: `/api/embed/chart.svg?window=all&${six.map((one) => `repo=${one}`).join("&")}`,
    };
  });
}

/** Searches that match many repositories, sorted by another order and filtered by topics. */
export function searchRequests(): LoadRequest[] {
  const letters = [..."abcdefghijklmnoprstuvw"];
  return letters.flatMap((one, i) =>
    letters.map((other, j) => {
      const topics = [0, 1, 2].map((k) => `topic=${encodeURIComponent(TOPICS[(i + j + k) % 30] ?? "")}`);
      const query = `q=${one}+${other}&sort=rising&order=asc&limit=100&${j % 2 === 0 ? topics.join("&") : "page=100"}`;
      return { kind: "search", path: `/api/repos?${query}` };
    }),
  );
}
