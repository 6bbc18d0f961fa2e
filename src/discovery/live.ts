/** Keeps the catalogue in memory up to date with the database: loads it once, then applies the changes that the log names. */

import { sql } from "kysely";
import type { Database, Prepared } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import { ALL_CHANGED, type Catalog, type Revision } from "../repositories/repositories.js";
import { type CatalogueRow, RowSource } from "./columns.js";
import { FACET_KINDS, Facets } from "./facets.js";
import { type Derived, LARGE_FROM, ReadModel, Steps } from "./model.js";
import { RankHeads } from "./ranks.js";
import { FREQUENT_FROM, MOST_WORDS, Vocabulary } from "./search.js";

/** Repositories read by one statement: all in order, and after a change. */
const LOADED = 250;
const REREAD = 200;
/** After more changes than this all repositories are read. */
const MOST_CHANGES = 50_000;
/** The catalogue is loaded again if this part (one in …) of all texts have changed, and more than a few. */
const CHANGED_PART = 8;
const FEW_CHANGED = 1_000;
/** When to ask again while a large catalogue is loaded, in seconds. */
const RETRY_S = 2;
/** How long after a change the response cache may still send earlier responses. */
const CACHED_MS = 2_000;
/** Time between two looks for changes. */
const FOLLOWED_MS = 1_000;
/** Repositories between two lines of the log. */
const REPORTED = 100_000;

/** A model, and the values derived from it on demand. */
export class LoadedModel {
  readonly model: ReadModel;
  readonly facets: Facets;
  readonly ranks: Derived<RankHeads>;
  readonly vocabulary: Derived<Vocabulary>;
  /** The era of the store that it was loaded in, see `Revision`. */
  readonly era: number;
  /** The revision in the log of changes up to which it has them. */
  revision: number;

  constructor(model: ReadModel, { era, value }: Pick<Revision, "era" | "value">) {
    this.model = model;
    this.era = era;
    this.revision = value;
    this.facets = new Facets(model);
    this.ranks = model.derive(() => RankHeads.compute(model));
    this.vocabulary = model.deriveOnce(function* () {
      return new Vocabulary(yield* model.words.frequentWords({ least: FREQUENT_FROM, most: MOST_WORDS }));
    });
  }

  /** Computes values that requests would wait for, at a million for seconds. */
  async prepare(): Promise<void> {
    await Promise.all([
      this.ranks.get(),
      this.vocabulary.get(),
      ...FACET_KINDS.map((kind) => this.facets.of(kind)),
    ]);
  }
}

export class LiveModel {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #log: Logger;
  readonly #source: RowSource;
  readonly #clock: Clock;
  readonly #steps: Steps;
  readonly #readChanged: Prepared<number, [id: number, revision: number]>;
  #loaded: LoadedModel | undefined;
  #work: Promise<void> | undefined;
  /** Earlier revisions that cached responses may still show, and the monotonic times until when. */
  #shown: { revision: number; until: number }[] = [];

  constructor(database: Database, catalog: Catalog, { clock, log }: { clock: Clock; log: Logger }) {
    this.#database = database;
    this.#catalog = catalog;
    this.#log = log;
    this.#clock = clock;
    this.#source = new RowSource(database);
    this.#steps = new Steps(clock);
    this.#readChanged = database.prepare(
      (
        given,
      ) => sql`select repository_id, revision from changes where revision > ${given((revision) => revision)}
        order by revision limit ${MOST_CHANGES + 1}`,
    );
  }

  /** Differs after each change that responses show. */
  get version(): string {
    const { revision, model } = this.#loaded ?? {};
    return `${revision} ${model?.version} ${model?.replaced}`;
  }

  get isLoaded(): boolean {
    return this.#loaded !== undefined;
  }

  /**
   * The model with all changes that were committed a second ago. In a large catalogue, changes that are still being applied may be missing.
   * Throws UNAVAILABLE while a large one is loaded for the first time, and for the first time since the store was replaced.
   */
  async current(): Promise<LoadedModel> {
    const { era, replacedIn, value } = await this.#catalog.recentRevision();
    if ((this.#loaded?.era ?? replacedIn) < replacedIn) {
      this.#log.warn("the database is another one, or has lost changes: loading its catalogue");
      this.#loaded = undefined;
    }
    const isCurrent = (loaded = this.#loaded) =>
      loaded !== undefined && (loaded.era > era || (loaded.era === era && loaded.revision >= value));
    // Work that had begun before may not have the last change, so a second time may be needed.
    for (let times = 0; times < 2 && !isCurrent(); times++) {
      this.#work ??= this.#follow().finally(() => {
        this.#work = undefined;
      });
      const work = this.#work;
      // `follow` logs it.
      work.catch(() => {});
      if (this.#loaded?.model.isLarge ?? (await this.#isLarge())) break;
      await work;
    }
    if (this.#loaded === undefined || this.#loaded.era < replacedIn)
      throw new AppError("UNAVAILABLE", "The catalogue is being loaded. Lists and search will work soon.", {
        headers: { "Retry-After": String(RETRY_S) },
      });
    return this.#loaded;
  }

  /** The revision whose changes all responses of this process have, also cached ones. Throws as `current` does. */
  async announced(): Promise<number> {
    const { revision } = await this.current();
    const now = this.#clock.monotonic();
    this.#shown = this.#shown.filter(({ until }) => until > now);
    return Math.min(revision, this.#shown[0]?.revision ?? revision);
  }

  async #isLarge(): Promise<boolean> {
    return (await this.#database.dialect.lastId(this.#database.read)) >= LARGE_FROM;
  }

  /** The same; undefined while it is loaded. */
  async ifLoaded(): Promise<LoadedModel | undefined> {
    try {
      return await this.current();
    } catch (error) {
      if (error instanceof AppError) return undefined;
      throw error;
    }
  }

  /** Applies changes without waiting for a request, and loads the catalogue before the first one. */
  async follow(clock: Clock, signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await clock.sleep(FOLLOWED_MS, signal)) {
      try {
        await this.ifLoaded();
        await this.#work;
      } catch (error) {
        this.#log.error({ err: error }, "changes cannot be read; lists may be outdated");
      }
    }
  }

  async #follow(): Promise<void> {
    const { era, value } = await this.#catalog.revision();
    const loaded = this.#loaded;
    const before = loaded?.revision;
    const { words, columns } = loaded?.model ?? {};
    const isWorn = words !== undefined && words.changed > FEW_CHANGED + (columns?.size ?? 0) / CHANGED_PART;
    if (loaded === undefined || isWorn || loaded.era < era) {
      const next = new LoadedModel(await ReadModel.load(this.#rows(), this.#steps), { era, value });
      const { leftOut, isLarge } = next.model;
      if (leftOut.words > 0 || leftOut.topics > 0)
        this.#log.info({ leftOut }, "search leaves out words and topics of repositories with very many");
      if (isLarge) await next.prepare();
      this.#loaded = next;
    } else await this.#steps.inTurn(() => this.#apply(loaded, value));
    const isSameEra = loaded?.era === this.#loaded?.era;
    if (before !== undefined && isSameEra && before !== this.#loaded?.revision)
      this.#shown.push({ revision: before, until: this.#clock.monotonic() + CACHED_MS });
  }

  async #apply(loaded: LoadedModel, revision: number): Promise<void> {
    const { model } = loaded;
    const changed = await this.#readChanged(loaded.revision);
    if (changed.length > MOST_CHANGES || changed.some(([id]) => id <= ALL_CHANGED)) {
      const found = new Set<number>();
      for await (const rows of this.#rows()) {
        model.apply([], rows);
        for (const { id } of rows) found.add(id);
        await this.#steps.pause();
      }
      model.keep(found);
    } else
      for (let from = 0; from < changed.length; from += REREAD) {
        const ids = changed.slice(from, from + REREAD).map(([id]) => id);
        model.apply(ids, await this.#source.read({ ids }));
        await this.#steps.pause();
      }
    loaded.revision = Math.max(revision, changed.at(-1)?.[1] ?? 0);
  }

  async *#rows(): AsyncGenerator<readonly CatalogueRow[]> {
    let done = 0;
    for (let after = 0; ; ) {
      const rows = await this.#source.read({ after, limit: LOADED });
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
      yield rows;
      done += rows.length;
      if (done % REPORTED === 0) this.#log.info({ repositories: done }, "loading the catalogue");
    }
  }
}
