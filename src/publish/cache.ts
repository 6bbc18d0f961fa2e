/**
 * What `chart` has read, in the cache folder of the user: a file for each repository, with its newest counts and the days of its star
 * history. Only the newest page of a history is requested again, as older weeks change by withdrawn stars at most. A file that is damaged
 * or of another version is ignored, and so is a folder that cannot be written. Nothing in it is secret.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
import {
  asFailed,
  isTemporary,
  type PastDays,
  type RepositoryRef,
  type UpstreamFailure,
  type UpstreamRepository,
} from "../forges/forges.js";
import { DAY_MS } from "../lib/clock.js";
import { replaceFile } from "../lib/replace-file.js";
import type { RepositoryAddress } from "../repositories/repositories.js";
import type { TrackingContext } from "../tracking/tracking.js";
import { fileName } from "./files.js";

const MAX_FILES = 200;
const MAX_BYTES = 1_000_000;
/** Then withdrawn stars may matter. A page of GitHub has 30 weeks, so that the newest one reaches the days of a younger file. */
const MAX_AGE_MS = 90 * DAY_MS;

const text = z.string().nullable();
const count = z.int().nullable();
const flag = z.boolean().nullable();
const cachedSchema = z.object({
  version: z.literal(1),
  /** When its counts were read. */
  readAt: z.int(),
  repository: z.object({
    ...{ providerId: z.string(), nodeId: text, owner: z.string(), name: z.string(), url: z.string() },
    ...{ avatarUrl: text.default(null), description: text.default(null), homepage: text.default(null) },
    ...{ language: text, license: text, topics: z.array(z.string()).nullable(), stars: z.int() },
    ...{ forks: count, openIssues: count, watchers: count, fork: flag, archived: flag },
    ...{ createdAt: count, pushedAt: count },
  }),
  /** The first day that was read before `next`, and what it and each later day gained; empty: nothing was read. */
  first: z.int(),
  gained: z.array(z.int()),
  /** The cursor of the next page; null: this is the last one. */
  next: text,
});

interface Cached extends PastDays {
  readAt: number;
  repository: UpstreamRepository;
}

/** Requests of one repository, as far as the cache does not have what they return. */
export class CachedRequests {
  readonly #context: TrackingContext;
  readonly #folder: string;
  readonly #file: string;
  readonly #cached: Cached | undefined;
  readonly #days = new Map<number, number>();
  #next: string | null = null;
  #repository: UpstreamRepository | undefined;
  #readAt: number;
  #newest: PastDays | undefined;
  /** Why the cached counts are shown in place of new ones. */
  failure: UpstreamFailure | undefined;

  constructor(context: TrackingContext, folder: string, { fullName }: RepositoryAddress) {
    const { url } = context.provider.settings;
    this.#context = context;
    this.#folder = folder;
    this.#file = join(folder, `${fileName(`${url}/${fullName}`.toLowerCase())}.gz`);
    this.#readAt = context.clock.now();
    this.#cached = this.#read();
  }

  /** The same context, with these requests and the time of its counts. */
  get context(): TrackingContext {
    const { provider, clock } = this.#context;
    const own: Partial<typeof provider> = {
      refreshOne: (...given) => this.#refreshOne(...given),
      history: (...given) => this.#history(...given),
    };
    return {
      ...this.#context,
      clock: {
        now: () => this.#readAt,
        monotonic: () => clock.monotonic(),
        sleep: (...given) => clock.sleep(...given),
      },
      provider: new Proxy(provider, {
        get(target, key) {
          const value = Reflect.get(own, key) ?? Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      }),
    };
  }

  /** When the counts were read. */
  get readAt(): number {
    return this.#readAt;
  }

  async #refreshOne(fullName: string, signal: AbortSignal): Promise<UpstreamRepository> {
    const { provider } = this.#context;
    try {
      this.#repository = await provider.refreshOne(fullName, signal);
      // New counts without the gains that led to them would move the whole line.
      if (this.#cached !== undefined && this.#cached.days.length > 0)
        this.#newest = await provider.history(
          { ...this.#repository, fullName, etag: null } satisfies RepositoryRef,
          null,
          signal,
        );
    } catch (error) {
      const { failure } = asFailed(error);
      if (isTemporary(failure.kind) && this.#cached !== undefined) {
        this.failure = failure;
        this.#readAt = this.#cached.readAt;
        return this.#cached.repository;
      }
      if (this.#repository === undefined) throw error;
    }
    return this.#repository;
  }

  async #history(ref: RepositoryRef, cursor: string | null, signal: AbortSignal): Promise<PastDays> {
    const cached = this.#cached;
    if (this.failure !== undefined) {
      if (cursor === null && cached !== undefined && cached.days.length > 0) return cached;
      throw this.failure;
    }
    const page =
      (cursor === null ? this.#newest : undefined) ??
      (await this.#context.provider.history(ref, cursor, signal));
    const oldest = Math.min(...page.days.map(({ day }) => day));
    const older =
      cursor === null && cached?.repository.providerId === ref.providerId
        ? cached.days.filter(({ day }) => day < oldest)
        : [];
    const isJoined = older.some(({ day }) => day >= oldest - DAY_MS);
    const result = isJoined ? { days: [...page.days, ...older], next: cached?.next ?? null } : page;
    for (const { day, gained } of result.days) this.#days.set(day, gained);
    this.#next = result.next;
    return result;
  }

  #read(): Cached | undefined {
    try {
      const packed = readFileSync(this.#file);
      const unpacked = gunzipSync(packed, { maxOutputLength: MAX_BYTES });
      const { first, gained, ...cached } = cachedSchema.parse(JSON.parse(unpacked.toString()));
      const ageMs = this.#readAt - cached.readAt;
      if (ageMs < 0 || ageMs >= MAX_AGE_MS) return undefined;
      return { ...cached, days: gained.map((one, i) => ({ day: first + i * DAY_MS, gained: one })) };
    } catch {
      return undefined;
    }
  }

  /** Keeps what was read, and the files that were written last. */
  write(): void {
    if (this.#repository === undefined || this.failure !== undefined) return;
    const [first = 0, ...days] = [...this.#days.keys()].sort((a, b) => a - b);
    const length = this.#days.size === 0 ? 0 : ((days.at(-1) ?? first) - first) / DAY_MS + 1;
    const gained = Array.from({ length }, (_, i) => this.#days.get(first + i * DAY_MS) ?? 0);
    const cached: z.input<typeof cachedSchema> = {
      ...{ version: 1, readAt: this.#readAt, first, gained, next: this.#next },
      repository: { ...this.#repository, topics: this.#repository.topics && [...this.#repository.topics] },
    };
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      replaceFile(this.#file, gzipSync(JSON.stringify(cached)));
      const files = readdirSync(this.#folder)
        .filter((name) => name.endsWith(".gz"))
        .map((name) => join(this.#folder, name));
      if (files.length <= MAX_FILES) return;
      const byAge = files.map((path) => ({ path, at: statSync(path).mtimeMs })).sort((a, b) => b.at - a.at);
      for (const { path } of byAge.slice(MAX_FILES)) rmSync(path);
    } catch {
      // The next run requests it again.
    }
  }
}
