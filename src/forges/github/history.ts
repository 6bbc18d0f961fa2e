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
/** Different repositories that show that an instance has histories by name only: one alone may be an exception. */
const SEVERAL = 3;
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
 * Reads star histories. They are requested by id; from an instance that has them by name only, by the name that the repository has at
 * that time. So the history is never that of another repository.
 */
export class StarHistory {
  readonly #client: ForgeClient;
  /** Whether one was read by id, and the ids of repositories that had one by name only. */
  #isById = false;
  readonly #byName = new Set<string>();

  constructor(client: ForgeClient) {
    this.#client = client;
  }

  /** A page, newest first. Throws `gone` if the repository has none; the instance may have those of others. */
  async page(
    { providerId, fullName }: Pick<RepositoryRef, "providerId" | "fullName">,
    cursor: string | null,
    signal: AbortSignal,
  ): Promise<PastDays> {
    const { clock } = this.#client;
    const page = /^[1-9]\d?\d?$/.test(cursor ?? "") ? Math.min(MAX_PAGE, Number(cursor)) : 1;
    const request = {
      history: `/stargazers/history?per_page=${WEEKS}&page=${page}`,
      about: fullName,
      signal,
    };
    const mayBeById = this.#isById || this.#byName.size < SEVERAL;
    const byId = mayBeById ? await this.#get(pathOfId(providerId), request) : null;
    const document = byId ?? (await this.#getByName(providerId, request));
    if (document.status !== 200) {
      const until = clock.now() + PREPARING_MS;
      const message = `history: status ${document.status}, not ready yet`;
      throw new UpstreamFailure("malformed", message, { until });
    }
    const rows = parseRecord(weeks, document.body);
    if (byId === null) this.#byName.add(providerId);
    else this.#isById = true;
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

  /** The document by the present name of a repository. A missing endpoint looks like a missing repository, which is requested first. */
  async #getByName(providerId: string, request: HistoryRequest): Promise<Document> {
    const { signal, about } = request;
    const found = await this.#client.get(pathOfId(providerId), { signal, about });
    const { owner, name } = readRepository(found.body, { providerId, by: "id" });
    const document = this.#isById ? null : await this.#get(repositoryPath(`${owner}/${name}`), request);
    if (document === null)
      throw new UpstreamFailure("gone", "the repository exists, but has no star history");
    return document;
  }
}
