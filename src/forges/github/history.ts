import { z } from "zod";
import { DAY_MS } from "../../lib/clock.js";
import type { Document, ForgeClient } from "../client.js";
import type { PastDays, RepositoryRef } from "../contract.js";
import { UpstreamFailure } from "../failures.js";
import { count, parseRecord } from "../fields.js";
import { hasNextPage } from "../responses.js";
import { pathOfId, readRepository, repositoryPath } from "./repository.js";

/** GitHub's limits: weeks per page, and pages. */
const WEEKS = 30;
const MAX_PAGE = 100;
/** How long an instance is assumed not to offer star histories, or to offer them by name only. */
const NOT_OFFERED_MS = DAY_MS;
/** How long GitHub is given to prepare one that it has not counted yet. */
const PREPARING_MS = 10 * 60_000;

interface HistoryRequest {
  history: string;
  /** Full name of the repository. */
  about: string;
  signal: AbortSignal;
}

/** Stars per day that have not been withdrawn. `week`: its start in seconds since 1970. */
const weeks = z.array(z.object({ week: count.max(2 ** 33), days: z.array(count).length(7) })).max(MAX_PAGE);

/**
 * Reads star histories, where an instance offers them. They are requested by id; from an instance that offers them by name
 * only, by the name that the repository has at that time. So the history is never that of another repository.
 */
export class StarHistory {
  readonly #client: ForgeClient;
  #isOffered = false;
  /** Monotonic clock: until then histories are not requested, and are requested by name. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #byNameUntil = Number.NEGATIVE_INFINITY;

  constructor(client: ForgeClient) {
    this.#client = client;
  }

  /**
   * A page, newest first; null where not offered. A missing endpoint looks like a missing repository, so after a 404 the
   * repository itself is requested; if it exists, no histories are requested from the instance for a day.
   */
  async page(
    { providerId, fullName }: Pick<RepositoryRef, "providerId" | "fullName">,
    cursor: string | null,
    signal: AbortSignal,
  ): Promise<PastDays | null> {
    const { clock } = this.#client;
    if (clock.monotonic() < this.#notBefore) return null;
    const page = /^[1-9]\d?\d?$/.test(cursor ?? "") ? Math.min(MAX_PAGE, Number(cursor)) : 1;
    const request = {
      history: `/stargazers/history?per_page=${WEEKS}&page=${page}`,
      about: fullName,
      signal,
    };
    const isByName = clock.monotonic() < this.#byNameUntil;
    const document = isByName
      ? await this.#byName(providerId, request)
      : ((await this.#get(pathOfId(providerId), request)) ?? (await this.#byName(providerId, request)));
    if (document === null) return null;
    if (document.status !== 200) {
      const until = clock.now() + PREPARING_MS;
      const message = `history: status ${document.status}, not ready yet`;
      throw new UpstreamFailure("malformed", message, { until });
    }
    const rows = parseRecord(weeks, document.body);
    this.#isOffered = true;
    const { headers } = document;
    const hasNext = rows.length > 0 && (headers.has("link") ? hasNextPage(headers) : rows.length >= WEEKS);
    const days = rows.flatMap(({ week, days }) =>
      days.map((gained, i) => ({ day: Math.floor((week * 1000) / DAY_MS + i) * DAY_MS, gained })),
    );
    return {
      days: days.filter(({ day }) => day <= clock.now()),
      next: hasNext && page < MAX_PAGE ? String(page + 1) : null,
    };
  }

  /** The document; null for a 404. */
  async #get(path: string, { history, about, signal }: HistoryRequest): Promise<Document | null> {
    return this.#client.get(path + history, { signal, about }).catch((error) => {
      if (error instanceof UpstreamFailure && error.kind === "gone") return null;
      throw error;
    });
  }

  /** The document by the present name of a repository; null where not offered. Throws `gone` if the repository is. */
  async #byName(providerId: string, request: HistoryRequest): Promise<Document | null> {
    const { clock } = this.#client;
    const { signal, about } = request;
    const found = await this.#client.get(pathOfId(providerId), { signal, about });
    if (this.#isOffered && clock.monotonic() >= this.#byNameUntil)
      throw new UpstreamFailure("malformed", "history: other repositories have one, this one does not");
    const { owner, name } = readRepository(found.body, { providerId, by: "id" });
    const document = await this.#get(repositoryPath(`${owner}/${name}`), request);
    if (document === null) this.#notBefore = clock.monotonic() + NOT_OFFERED_MS;
    else this.#byNameUntil = clock.monotonic() + NOT_OFFERED_MS;
    return document;
  }
}
