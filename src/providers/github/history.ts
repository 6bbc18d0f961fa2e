import { z } from "zod";
import { DAY_MS } from "../../clock.js";
import { UpstreamFailure } from "../failures.js";
import { count, parseRecord } from "../fields.js";
import type { PastDays, RepositoryRef } from "../providers.js";
import type { GithubClient } from "./client.js";
import { nameParameters } from "./names.js";

/** Weeks on a page, and pages: as many as GitHub gives. */
const WEEKS = 30;
const MAX_PAGE = 100;
/** How long an instance is believed not to offer it. */
const NOT_OFFERED_MS = DAY_MS;
const PREPARING_MS = 60_000;

/** Stars of a week, day by day, that are still held. `week`: its begin in seconds since 1970. */
const weeks = z.array(z.object({ week: count.max(2 ** 33), days: z.array(count).length(7) })).max(MAX_PAGE);

/** The stars of past days, where an instance offers them. */
export class StarHistory {
  readonly #client: GithubClient;
  #isOffered = false;
  /** Of the monotonic clock. */
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(client: GithubClient) {
    this.#client = client;
  }

  /**
   * A page, newest first; null where it is not offered. That a path is not there looks like a repository that is not there, so
   * on 404 the repository itself is asked for; if that is there, the instance is not asked again for a day.
   */
  async page(
    repository: RepositoryRef,
    cursor: string | null,
    signal: AbortSignal,
  ): Promise<PastDays | null> {
    const { clock } = this.#client;
    if (clock.monotonic() < this.#notBefore) return null;
    const page = /^[1-9]\d?\d?$/.test(cursor ?? "") ? Math.min(MAX_PAGE, Number(cursor)) : 1;
    const parameters = { ...nameParameters(repository.fullName), per_page: WEEKS, page };
    const asking = { resource: "core", signal } as const;
    const document = await this.#client
      .get("/repos/{owner}/{repo}/stargazers/history", parameters, asking)
      .catch(async (error) => {
        if (!(error instanceof UpstreamFailure) || error.kind !== "gone") throw error;
        await this.#client.get("/repositories/{id}", { id: repository.providerId }, asking);
        if (!this.#isOffered) this.#notBefore = clock.monotonic() + NOT_OFFERED_MS;
        return null;
      });
    if (document === null) return null;
    if (document.status !== 200) {
      const until = clock.now() + PREPARING_MS;
      throw new UpstreamFailure("unreachable", `history: status ${document.status}, not ready yet`, {
        until,
      });
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
