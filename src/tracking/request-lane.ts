/** The lane of requests to a forge: lookups by name, the star histories that people wait for, questions, and READMEs with links. */

import type { Tx } from "../database/database.js";
import {
  concernsForge,
  isTemporary,
  type Provider,
  UpstreamFailure,
  type UpstreamRepository,
} from "../forges/forges.js";
import { DAY_MS } from "../lib/clock.js";
import { addressReader, linksIn } from "../repositories/repositories.js";
import { spread } from "./cadence.js";
import { type Lane, lookupQuota, type Step, spareAt } from "./lane.js";
import { Recorder } from "./recorder.js";
import { answerText } from "./requests/request.js";
import {
  FURTHEST_MS,
  lockOpen,
  nextWanted,
  updateWanted,
  type Wanted,
  type WantedKind,
  watchlistsOf,
} from "./requests/wanted.js";
import { readTracked, type Tracked } from "./schedule.js";
import {
  type HistoryPage,
  hasUnreadHistory,
  isOfForge,
  MAX_HISTORY_PAGES,
  postponeHistory,
  recordHistoryPage,
  retryLater,
} from "./star-history.js";

/** How often to look for new requests: people wait for them, and a check reads two rows of indexes. */
const IDLE_MS = 500;
/** Longest wait while the forge accepts no requests, as it may accept them earlier than it said. */
const PAUSED_MS = 10_000;
/** How long the backfill leaves a history to this lane. */
const HELD_MS = 10 * 60_000;
/** Attempts until a lookup, a question or a README fails, or a history is left to the backfill. */
const MAX_ATTEMPTS = { lookup: 3, history: 5, question: 3, readme: 5 } as const;
/** The first pause between them, which doubles. */
const RETRY_MS = 5_000;
const README_RETRY_MS = 30_000;
/** Longest pause of the lane, and of one request, while the forge fails as a whole. */
const MAX_REST_MS = 60_000;
const MAX_PAUSE_MS = 10 * 60_000;
/** How long the forge may fail as a whole until a lookup does. */
const PATIENCE_MS = DAY_MS;

interface RequestLaneOptions {
  providers: readonly Provider[];
  /** Called when something was recorded that people wait for. */
  onRecorded: () => void;
  /** Called when the forge permits no requests for a while, which people who wait want to know. */
  onPaused: () => void;
  idleMs?: number | undefined;
}

/**
 * Works off the requests to track repositories of one provider: looks each one up by name, records it, and reads its star history page
 * by page. Every request ends in a bounded time, unless the forge allows no requests. Contacts no link of a README.
 */
export class RequestLane {
  readonly #lane: Lane;
  readonly #recorder: Recorder;
  readonly #options: RequestLaneOptions;
  readonly #idleMs: number;
  /** When the forge may be tried again after it has failed. */
  #restUntil = 0;
  #forgeFailures = 0;
  #historiesRestUntil = 0;
  /** Names in one search, fewer after one was refused. */
  #namesAtOnce = Number.POSITIVE_INFINITY;
  #isPaused = false;

  constructor(lane: Lane, options: RequestLaneOptions) {
    this.#lane = lane;
    this.#recorder = new Recorder(lane);
    this.#options = options;
    this.#idleMs = options.idleMs ?? IDLE_MS;
  }

  /** Sends one request to the forge, if anything waits for it. */
  async step(): Promise<Step> {
    const { provider, clock, modules, reporter } = this.#lane;
    const now = clock.now();
    const restAt = Math.min(this.#restUntil, now + PAUSED_MS);
    // Lookups and second readings use the same quota.
    const readyAt = Math.max(provider.readyAt("recheck"), restAt);
    const spare = spareAt(provider, now, { isWaitedFor: true });
    const historyAt = Math.max(readyAt, provider.readyAt("history"), spare, this.#historiesRestUntil);
    const searchAt = Math.max(restAt, provider.readyAt("discover"));
    const isSearched = provider.namesPerSearch > 0;
    const isResting = restAt > now;
    reporter.report.lookups = {
      readyAt,
      historyAt,
      searchAt,
      isSearched,
      isResting,
      ...lookupQuota(provider),
    };
    if (historyAt > now && !this.#isPaused) this.#options.onPaused();
    this.#isPaused = historyAt > now;
    const next = (kind: WantedKind, limit = 1) =>
      nextWanted(modules.database.read, provider.name, { now, limit, kind });
    const [question] = searchAt > now ? [] : await next("questions");
    if (question !== undefined) return this.#work(question);
    const untried = isSearched ? await next("untried", provider.namesPerSearch) : [];
    // The record of a single one is newer than a search, and has all fields.
    const isAlone = untried.length === 1 && readyAt <= now;
    if (untried.length > 0 && !isAlone && searchAt <= now)
      return this.#search(untried.slice(0, this.#namesAtOnce));
    if (readyAt > now) return { waitMs: Math.min(isSearched ? this.#idleMs : PAUSED_MS, readyAt - now) };
    const [all, lookups] =
      isSearched && !isAlone ? (["tried", "triedLookups"] as const) : (["repositories", "lookups"] as const);
    const [request] = await next(historyAt > now ? lookups : all);
    if (request !== undefined && request.pages > 0 && untried.length > 0) return { waitMs: this.#idleMs };
    const [wanted = request] = request === undefined ? await next("readmes") : [];
    return wanted === undefined ? { waitMs: this.#idleMs } : this.#work(wanted);
  }

  /** Sends the request to the forge that is next for a row. */
  async #work(wanted: Wanted): Promise<Step> {
    const { kind, repository_id } = wanted;
    try {
      if (kind === "readme") await this.#readLinks(wanted);
      else if (kind !== "repository") await this.#answer(wanted);
      else if (repository_id === null) await this.#lookUp(wanted);
      else await this.#readPage(wanted, repository_id);
    } catch (error) {
      await this.#failed(wanted, this.#failureIn(error));
    }
    return { waitMs: 0, hasResponse: true };
  }

  /** Throws errors that are no failures of the forge, and all once the worker stops. */
  #failureIn(error: unknown): UpstreamFailure {
    if (!(error instanceof UpstreamFailure) || this.#lane.signal.aborted) throw error;
    return error;
  }

  async #lookUp(request: Wanted): Promise<void> {
    const { provider, clock, reporter, signal, lease } = this.#lane;
    const found = await provider.refreshOne(request.text, signal);
    const at = clock.now();
    const isNew = await lease.write((tx) => this.#record(tx, request, { found, at }));
    this.#responded();
    reporter.add("discovered", isNew ? 1 : 0);
    reporter.succeeded(at);
    this.#options.onRecorded();
  }

  /** Looks for several repositories by one search. Those that it does not find are looked up by name. */
  async #search(requests: readonly Wanted[]): Promise<Step> {
    const { provider, clock, reporter, signal, lease } = this.#lane;
    const names = requests.map(({ text }) => text);
    try {
      const { asked, repositories } = await provider.findNamed(names, signal);
      const at = clock.now();
      const byName = new Map(repositories.map((one) => [`${one.owner}/${one.name}`.toLowerCase(), one]));
      const added = await lease.write(async (tx) => {
        let count = 0;
        for (const request of requests.slice(0, asked)) {
          const found = byName.get(request.text_key);
          if (found === undefined) await updateWanted(tx, request.id, { attempts: 1 });
          else if (await this.#record(tx, request, { found, at, isListed: true })) count++;
        }
        return count;
      });
      this.#responded();
      this.#namesAtOnce *= 2;
      reporter.add("discovered", added);
      reporter.succeeded(at);
      if (repositories.length > 0) this.#options.onRecorded();
    } catch (error) {
      await this.#searchFailed(requests, this.#failureIn(error));
    }
    return { waitMs: 0, hasResponse: true };
  }

  /** One name may be the cause, so fewer are tried; those of a search that keeps failing are looked up by name. */
  async #searchFailed(requests: readonly Wanted[], failure: UpstreamFailure): Promise<void> {
    const { clock, lease } = this.#lane;
    const { kind, until } = failure;
    this.#report(failure);
    if (concernsForge(kind)) this.#rest(clock.now(), until);
    if (isTemporary(kind)) return;
    this.#namesAtOnce = Math.ceil(requests.length / 2);
    if (requests.length > 1) return;
    await lease.write((tx) => updateWanted(tx, requests[0]?.id ?? 0, { attempts: 1 }));
  }

  /** Records the requested repository. Returns whether it is new. `isListed`: see `recordNamed`. */
  async #record(
    tx: Tx,
    { id, is_batch, text: requested }: Wanted,
    { found, at, isListed = false }: { found: UpstreamRepository; at: number; isListed?: boolean },
  ): Promise<boolean> {
    const { modules, provider } = this.#lane;
    const open = await lockOpen(tx, modules.database.dialect, id);
    if (open === undefined) return false;
    // The backfill reads the histories of batches in its own time.
    const hasHistory = is_batch === 0 && provider.kind === "github";
    const times = { at, requested, isListed, ...(hasHistory && { historyAt: at + HELD_MS }) };
    const recorded = await this.#recorder.recordNamed(tx, found, times);
    if (recorded === undefined) {
      // An operator has hidden it: as if the forge did not have it.
      await updateWanted(tx, id, { failure: "gone", finished_at: at });
      return false;
    }
    const { repositoryId, isNew } = recorded;
    const untried = { retry_at: 0, attempts: 0, failing_since: null, watchlists: null };
    const finished_at = hasHistory ? null : at;
    await updateWanted(tx, id, { ...untried, repository_id: repositoryId, finished_at });
    for (const list of watchlistsOf(open)) await modules.watchlists.appendIn(tx, { id: list, repositoryId });
    return isNew;
  }

  /** Reads the next page of a history. Unreadable ones are left to the backfill. */
  async #readPage(request: Wanted, repositoryId: number): Promise<void> {
    const { clock, reporter, modules } = this.#lane;
    const { read, dialect } = modules.database;
    const [row] = await readTracked(read, dialect, { ids: [repositoryId] });
    if (row === undefined || !hasUnreadHistory(row) || request.pages >= MAX_HISTORY_PAGES)
      return this.#finish(request);
    let page: HistoryPage;
    try {
      page = await recordHistoryPage(this.#lane, row);
    } catch (error) {
      return this.#historyFailed(request, row, this.#failureIn(error));
    }
    // The backfill continues soon, whatever went wrong here.
    if (page.kind !== "recorded") await postponeHistory(this.#lane, row, clock.now() + HELD_MS);
    this.#responded();
    reporter.succeeded(clock.now());
    if (page.kind === "taken") return;
    if (page.kind !== "recorded") return this.#finish(request);
    reporter.add("backfilled", page.snapshots);
    const isLast = !page.hasMore;
    const finished_at = isLast ? clock.now() : null;
    await this.#update(request, { pages: request.pages + 1, attempts: 0, finished_at });
    if (isLast || request.pages === 0) this.#options.onRecorded();
  }

  /** Tries a history again soon, without the backfill, if that may help; else the request ends. Other requests do not wait. */
  async #historyFailed(request: Wanted, row: Tracked, failure: UpstreamFailure): Promise<void> {
    const { clock, reporter, chance } = this.#lane;
    const now = clock.now();
    reporter.failed(failure, now);
    if (isTemporary(failure.kind)) {
      if (failure.kind === "clock") this.#restUntil = now + PAUSED_MS;
      return postponeHistory(this.#lane, row, now + HELD_MS);
    }
    if (isOfForge(this.#lane, row)) this.#historiesRestUntil = now + MAX_REST_MS;
    const attempts = request.attempts + 1;
    const mayHelp = failure.kind === "unreachable" || failure.kind === "malformed";
    if (mayHelp && attempts < MAX_ATTEMPTS.history) {
      await postponeHistory(this.#lane, row, now + HELD_MS);
      const retry_at = now + spread(RETRY_MS * 2 ** request.attempts, chance());
      return this.#update(request, { attempts, retry_at });
    }
    await retryLater(this.#lane, row, failure);
    await this.#finish(request);
  }

  /** Decides the effect of a failure on a request: it is tried again, or ends. */
  async #failed(wanted: Wanted, failure: UpstreamFailure): Promise<void> {
    const now = this.#lane.clock.now();
    this.#report(failure);
    const { kind, until } = failure;
    if (isTemporary(kind)) {
      if (kind === "clock") this.#restUntil = now + PAUSED_MS;
      // A limit of lists alone does not pause the lane, so others come first.
      const pause = Math.min(PAUSED_MS, Math.max(this.#idleMs, (until ?? 0) - now));
      if (wanted.kind !== "repository") await this.#update(wanted, { retry_at: now + pause });
      return;
    }
    if (concernsForge(kind)) this.#rest(now, until);
    else this.#responded();
    await this.#update(wanted, this.#retryOf(wanted, failure, now) ?? { failure: kind, finished_at: now });
  }

  /** When it is tried again after a failure; undefined: that would not help. */
  #retryOf(wanted: Wanted, { kind, until }: UpstreamFailure, now: number): Partial<Wanted> | undefined {
    const { chance } = this.#lane;
    const attempts = wanted.attempts + 1;
    const ofForge = concernsForge(kind);
    if (wanted.kind !== "repository") {
      const [most, firstMs] =
        wanted.kind === "readme" ? [MAX_ATTEMPTS.readme, README_RETRY_MS] : [MAX_ATTEMPTS.question, RETRY_MS];
      const retryAt = Math.max(now + spread(firstMs * 2 ** wanted.attempts, chance()), until ?? 0);
      const retry_at = Math.min(retryAt, now + FURTHEST_MS);
      return ofForge && attempts < most ? { attempts, retry_at } : undefined;
    }
    if (ofForge) {
      const failing_since = Math.min(now, wanted.failing_since ?? now);
      if (now - failing_since >= PATIENCE_MS) return undefined;
      // The failure may concern this one alone, so others come first.
      const pause = Math.min(MAX_PAUSE_MS, Math.max(RETRY_MS, now - failing_since));
      return { failing_since, retry_at: now + spread(pause, chance()) };
    }
    const mayHelp = kind === "malformed" && attempts < MAX_ATTEMPTS.lookup;
    return mayHelp ? { attempts, retry_at: now + spread(RETRY_MS, chance()) } : undefined;
  }

  /** Ends a request whose history is read, or left to the backfill. */
  #finish(request: Wanted): Promise<void> {
    return this.#update(request, { finished_at: this.#lane.clock.now() });
  }

  #update({ id }: Wanted, change: Partial<Wanted>): Promise<void> {
    return this.#lane.lease.write((tx) => updateWanted(tx, id, change));
  }

  /** Pauses the lane after a failure of the forge as a whole. `until`: when to retry, if the forge said so. */
  #rest(now: number, until: number | null): void {
    const pause = spread(Math.min(MAX_REST_MS, RETRY_MS * 2 ** this.#forgeFailures), this.#lane.chance());
    this.#forgeFailures++;
    this.#restUntil = Math.max(now + pause, Math.min(until ?? 0, now + PAUSED_MS));
  }

  /** One that pauses the lane is a failure of the forge, so that nobody who waits takes it for a used-up quota. */
  #report(failure: UpstreamFailure): void {
    const { clock, reporter } = this.#lane;
    reporter[concernsForge(failure.kind) ? "stopped" : "failed"](failure, clock.now());
  }

  #responded(): void {
    this.#restUntil = 0;
    this.#forgeFailures = 0;
  }

  /** Looks for the repositories that a question is about. */
  async #answer(question: Wanted): Promise<void> {
    const { provider, clock, reporter, signal } = this.#lane;
    const sought = question.kind === "owner" ? { owner: question.text } : { name: question.text };
    const found = await provider.seek(sought, signal);
    this.#responded();
    reporter.succeeded(clock.now());
    const answer = answerText(provider.name, found);
    await this.#update(question, { answer, finished_at: clock.now() });
  }

  /** Reads a README, and queues the repositories of tracked forges that it links to. */
  async #readLinks({ id, text }: Wanted): Promise<void> {
    const { provider, clock, modules, reporter, signal, lease } = this.#lane;
    const readme = await provider.readme(text, signal);
    reporter.succeeded(clock.now());
    const read = addressReader(this.#options.providers.map(({ settings }) => settings));
    const links = linksIn(readme, read).addresses;
    await modules.trackRequests.fillList(id, links, (work) => lease.write(work));
  }
}
