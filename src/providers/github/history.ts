import { z } from "zod";
import { DAY_MS } from "../../clock.js";
import type { ForgeClient } from "../client.js";
import { type PastDays, type RepositoryRef, UpstreamFailure } from "../contract.js";
import { count, parseRecord } from "../fields.js";
import { repositoryPath } from "./rest.js";

/** GitHub's limits: weeks per page, and pages. */
const WEEKS = 30;
const MAX_PAGE = 100;
/** How long an instance is assumed not to offer star histories. */
const NOT_OFFERED_MS = DAY_MS;
const PREPARING_MS = 60_000;

/** Stars per day that have not been withdrawn. `week`: its start in seconds since 1970. */
const weeks = z.array(z.object({ week: count.max(2 ** 33), days: z.array(count).length(7) })).max(MAX_PAGE);

/** Reads star histories, where an instance offers them. */
export class StarHistory {
  readonly #client: ForgeClient;
  #isOffered = false;
  /** Monotonic clock. */
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(client: ForgeClient) {
    this.#client = client;
  }

  /**
   * A page, newest first; null where not offered. A missing endpoint looks like a missing repository, so after a 404 the
   * repository itself is requested; if it exists, no histories are requested from the instance for a day.
   */
  async page(
    repository: RepositoryRef,
    cursor: string | null,
    signal: AbortSignal,
  ): Promise<PastDays | null> {
    const { clock } = this.#client;
    if (clock.monotonic() < this.#notBefore) return null;
    const page = /^[1-9]\d?\d?$/.test(cursor ?? "") ? Math.min(MAX_PAGE, Number(cursor)) : 1;
    const path = `${repositoryPath(repository.fullName)}/stargazers/history?per_page=${WEEKS}&page=${page}`;
    const document = await this.#client.get(path, { signal }).catch(async (error) => {
      if (!(error instanceof UpstreamFailure) || error.kind !== "gone") throw error;
      await this.#client.get(`/repositories/${encodeURIComponent(repository.providerId)}`, { signal });
      if (!this.#isOffered) this.#notBefore = clock.monotonic() + NOT_OFFERED_MS;
      return null;
    });
    if (document === null) return null;
    if (document.status !== 200) {
      const until = clock.now() + PREPARING_MS;
      const message = `history: status ${document.status}, not ready yet`;
      throw new UpstreamFailure("unreachable", message, { until });
    }
    const rows = parseRecord(weeks, document.body);
    this.#isOffered = true;
    const link = document.headers.get("link");
    const hasNext = rows.length > 0 && (link === null ? rows.length >= WEEKS : /rel="?next\b/.test(link));
    const days = rows.flatMap(({ week, days }) =>
      days.map((gained, i) => ({ day: Math.floor((week * 1000) / DAY_MS + i) * DAY_MS, gained })),
    );
    return {
      days: days.filter(({ day }) => day <= clock.now()),
      next: hasNext && page < MAX_PAGE ? String(page + 1) : null,
    };
  }
}
