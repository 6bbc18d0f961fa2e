/** Keeps the catalogue in memory up to date with the database: loads it once, then applies what the log of changes names. */
import { sql } from "kysely";
import type { Database, Prepared } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import type { Logger } from "../../lib/log.js";
import { ALL_CHANGED, type Catalog } from "../../repositories/repositories.js";
import { Facets } from "../facets.js";
import { RankHeads } from "../ranks/heads.js";
import { FREQUENT_FROM, Vocabulary } from "../search/typos.js";
import { LARGE_FROM, ReadModel } from "./read-model.js";
import { type CatalogueRow, RowSource } from "./read-rows.js";
import { type Derived, Steps } from "./steps.js";

/** Repositories read by one statement: while loading, and after a change. */
const LOADED = 1_000;
const REREAD = 200;
/** After more changes than this the catalogue is loaded anew, as it is if this part (one in …) of all texts have changed. */
const MOST_CHANGES = 50_000;
const CHANGED_PART = 8;
const FEW_CHANGED = 1_000;
/** When to ask again while a large catalogue is loaded, in seconds. */
const RETRY_S = 2;
/** Time between two looks for changes. */
const FOLLOWED_MS = 1_000;
/** Repositories between two lines of the log. */
const REPORTED = 100_000;

/** A model, and what is derived from it when it is wanted. */
export class LoadedModel {
  readonly model: ReadModel;
  readonly facets: Facets;
  readonly ranks: Derived<RankHeads>;
  readonly vocabulary: Derived<Vocabulary>;
  /** The revision of the catalogue whose changes it has. */
  revision: number;

  constructor(model: ReadModel, revision: number) {
    this.model = model;
    this.revision = revision;
    this.facets = new Facets(model);
    this.ranks = model.derive(() => RankHeads.compute(model));
    this.vocabulary = model.derive(function* () {
      return new Vocabulary(yield* model.words.frequentWords(FREQUENT_FROM));
    });
  }
}

export class LiveModel {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #log: Logger;
  readonly #source: RowSource;
  readonly #steps: Steps;
  readonly #readChanged: Prepared<number, [id: number, revision: number]>;
  #loaded: LoadedModel | undefined;
  #work: Promise<void> | undefined;

  constructor(database: Database, catalog: Catalog, { clock, log }: { clock: Clock; log: Logger }) {
    this.#database = database;
    this.#catalog = catalog;
    this.#log = log;
    this.#source = new RowSource(database);
    this.#steps = new Steps(clock);
    this.#readChanged = database.prepare(
      (
        given,
      ) => sql`select repository_id, revision from changes where revision > ${given((revision) => revision)}
        order by revision limit ${MOST_CHANGES + 1}`,
    );
  }

  /** Grows with each change that responses show. */
  get version(): string {
    return `${this.#loaded?.revision} ${this.#loaded?.model.version}`;
  }

  /**
   * The model with all changes that were committed a second ago. Of a large catalogue, it may lack those that are being applied.
   * Throws UNAVAILABLE while a large one is loaded for the first time.
   */
  async current(): Promise<LoadedModel> {
    const revision = await this.#catalog.recentRevision();
    if (this.#loaded?.revision !== revision) {
      this.#work ??= this.#follow().finally(() => {
        this.#work = undefined;
      });
      const isLarge =
        this.#loaded?.model.isLarge ??
        (await this.#database.dialect.lastId(this.#database.read)) >= LARGE_FROM;
      if (!isLarge) await this.#work;
      // Whoever follows reports it.
      else this.#work.catch(() => {});
    }
    if (this.#loaded === undefined)
      throw new AppError("UNAVAILABLE", "The catalogue is being loaded. Lists and search will work soon.", {
        headers: { "Retry-After": String(RETRY_S) },
      });
    return this.#loaded;
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

  /** Keeps up with changes that nobody asks for, and loads the catalogue before anybody does. */
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
    const revision = await this.#catalog.revision();
    const loaded = this.#loaded;
    const isApplied =
      loaded !== undefined && revision >= loaded.revision && (await this.#apply(loaded, revision));
    if (!isApplied) this.#loaded = await this.#load(revision);
  }

  /** Returns false, having applied nothing, if loading anew takes less. */
  async #apply(loaded: LoadedModel, revision: number): Promise<boolean> {
    const { model } = loaded;
    const changed = await this.#readChanged(loaded.revision);
    if (changed.length > MOST_CHANGES || changed.some(([id]) => id === ALL_CHANGED)) return false;
    if (model.words.changed > FEW_CHANGED + model.columns.size / CHANGED_PART) return false;
    for (let from = 0; from < changed.length; from += REREAD) {
      const ids = changed.slice(from, from + REREAD).map(([id]) => id);
      model.apply(ids, await this.#source.read({ ids }));
      await this.#steps.pause();
    }
    loaded.revision = Math.max(revision, changed.at(-1)?.[1] ?? 0);
    return true;
  }

  async #load(revision: number): Promise<LoadedModel> {
    const model = await ReadModel.load(this.#rows(), this.#steps);
    return new LoadedModel(model, revision);
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
