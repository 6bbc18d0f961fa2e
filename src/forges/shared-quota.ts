/**
 * Shared quota: permission to send a request, from a state that all processes share. It follows the decisions of this process' own
 * `Gate` and `Quota`, so it only ever adds waits. Each request takes one change of the state: taking the next permission also
 * reports the last response, unless others should know of it sooner.
 *
 * The state is plain data: paces, and each token's quota, blocks and requests in flight. Its rules are those of `Gate` and `Quota`,
 * on the wall clock, which all processes have in common. No time further away than MAX_WAIT_MS is believed, and no turn
 * further away than any process can have taken.
 */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Clock } from "../lib/clock.js";
import type { SharedStates } from "./contract.js";
import { UpstreamFailure } from "./failures.js";
import { MAX_TURN_MS, type NamedPace, Pace } from "./gate.js";
import { Allowances, isCount, isEnough, MAX_WAIT_MS, OPEN_MS, type QuotaReport } from "./limits.js";

/** After a shorter wait the quota is not checked again. */
const SOON_MS = 100;

/** Permission for one request. */
export interface SharedLease extends SharedUse {
  id: string;
  /** The quota left after all requests in flight; null: unknown. */
  left: number | null;
}

export interface SharedQuotaOptions {
  states: SharedStates;
  /** Name of the provider. */
  forge: string;
  clock: Clock;
  /** Whether somebody waits for the response: then requests count, but wait for no turn. */
  isUrgent?: boolean;
}

type Turns = readonly (readonly NamedPace[])[];
type Step =
  | { kind: "waits"; waitMs: number; turns: Turns }
  | { kind: "refused"; refusal: Refusal }
  | { kind: "granted"; waitMs: number; left: number | null };

export class SharedQuota {
  readonly #options: SharedQuotaOptions;
  /** Not stored yet. */
  #reports: SharedReport[] = [];
  /** Requests sent without permission: their paces and times. */
  #sent: { paces: readonly NamedPace[]; at: number }[] = [];

  constructor(options: SharedQuotaOptions) {
    this.#options = options;
  }

  /**
   * Waits until the paces allow a request, one after the other, then takes permission for it. Returns why the token may not be
   * used, if so. Throws UpstreamFailure: `quota` if its turn is more than a minute away, or while the state cannot be read;
   * `unreachable` if `signal` is aborted while waiting.
   */
  async take(use: SharedUse, paces: Turns, signal: AbortSignal): Promise<SharedLease | Refusal> {
    const { clock } = this.#options;
    const id = randomUUID();
    for (let turns = paces; ; ) {
      const step = await this.#change((state, now) => this.#step(state, now, { id, use, turns }));
      if (step.kind === "refused") return step.refusal;
      if (step.waitMs > 0) await clock.sleep(step.waitMs, signal);
      if (signal.aborted) {
        if (step.kind === "granted") this.#reports.push({ id, ...use, report: {} });
        throw new UpstreamFailure("unreachable", "the request was aborted");
      }
      if (step.kind === "granted") return { id, left: step.left, ...use };
      turns = step.turns;
    }
  }

  /** Reports a response. Resolves once it is stored, if others should know of it soon, otherwise immediately. Never rejects. */
  async report(lease: SharedLease, report: QuotaReport): Promise<void> {
    this.#reports.push({ ...lease, report });
    const { remaining, blockedUntil } = report;
    const isNews = lease.left === null ? remaining !== undefined : (remaining ?? lease.left) < lease.left;
    if (isNews || blockedUntil !== undefined) await this.flush();
  }

  /** Counts a request that must not wait. */
  count(paces: readonly NamedPace[]): void {
    this.#sent.push({ paces, at: this.#options.clock.now() });
  }

  /** Stores pending reports. Never rejects: those that cannot be stored now are kept for the next time. */
  async flush(): Promise<void> {
    if (this.#reports.length === 0 && this.#sent.length === 0) return;
    await this.#change(() => undefined).catch(() => {});
  }

  /** Takes turns until one is some time away, then permission. `turns` has those not taken yet. */
  #step(
    state: SharedState,
    now: number,
    { id, use, turns }: { id: string; use: SharedUse; turns: Turns },
  ): Step {
    const { isUrgent = false } = this.#options;
    const refusal = refusalOf(state, use, now);
    if (refusal !== undefined) return { kind: "refused", refusal };
    let at = now;
    for (const [i, turn] of turns.entries()) {
      at = isUrgent ? now : Math.max(at, paceReadyAt(state, turn, now));
      if (at - now > MAX_TURN_MS) {
        const message = `the pace of all workers allows no request before ${new Date(Math.ceil(at)).toJSON()}`;
        throw new UpstreamFailure("quota", message, { until: Math.ceil(at) });
      }
      spendPaces(state, turn, at);
      if (at - now > SOON_MS) return { kind: "waits", waitMs: at - now, turns: turns.slice(i + 1) };
    }
    return { kind: "granted", waitMs: at - now, left: openRequest(state, use, { id, now: at }) };
  }

  /** Stores pending reports, then changes the state. */
  async #change<T>(work: (state: SharedState, now: number) => T): Promise<T> {
    const { states, forge, clock } = this.#options;
    const [reports, sent] = [this.#reports, this.#sent];
    this.#reports = [];
    this.#sent = [];
    try {
      return await states.change(forge, (text) => {
        const now = clock.now();
        const state = readState(text);
        for (const { paces, at } of sent) spendPaces(state, paces, at);
        for (const report of reports) applyReport(state, report, now);
        tidyState(state, now);
        const result = work(state, now);
        return { state: JSON.stringify(state), result };
      });
    } catch (error) {
      this.#reports = [...reports, ...this.#reports];
      this.#sent = [...sent, ...this.#sent];
      throw error;
    }
  }
}

const blockSchema = z.object({ until: z.number(), message: z.string().nullable() });
const quotaSchema = z.object({
  limit: z.number().nullable(),
  remaining: z.number().nullable(),
  /** null: not reported. */
  resetAt: z.number().nullable(),
});
const tokenSchema = z.object({
  usedAt: z.number(),
  /** By resource, as last reported; excludes requests in flight. */
  quotas: z.record(z.string(), quotaSchema),
  /** Waits that the forge asked for, by part; ANY: for the token as a whole. */
  blocks: z.record(z.string(), blockSchema),
  /** Requests in flight by id. `at`: when they were sent. */
  open: z.record(z.string(), z.object({ resource: z.string(), cost: z.number(), at: z.number() })),
});
const stateSchema = z.object({
  /** When the next request is due, by the name of a pace; see Pace. */
  paces: z.record(z.string(), z.number()),
  /** By the name of the token. */
  tokens: z.record(z.string(), tokenSchema),
});

/** Times in ms since 1970. */
type SharedState = z.infer<typeof stateSchema>;
type TokenState = z.infer<typeof tokenSchema>;

/** Most requests sent without waiting for their turn that others wait for. */
const URGENT = 10;
const ANY = "any";
/** A token unused for this long is forgotten: everything known about it is over. */
const FORGOTTEN_MS = 2 * MAX_WAIT_MS;

/** The stored state; an empty one if the text is damaged or of an unknown version. */
export function readState(text: string | null): SharedState {
  const empty: SharedState = { paces: {}, tokens: {} };
  if (text === null) return empty;
  try {
    const parsed = stateSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : empty;
  } catch {
    return empty;
  }
}

/** When the next request is allowed by all of these paces; may be in the past. */
function paceReadyAt(state: SharedState, paces: readonly NamedPace[], now: number): number {
  return Math.max(now, ...paces.map((pace) => paceOf(state, pace, now).readyAt));
}

/** Counts a request that is sent at `at`, which may be in the future. */
function spendPaces(state: SharedState, paces: readonly NamedPace[], at: number): void {
  for (const named of paces) {
    const pace = paceOf(state, named, at);
    pace.spend(at);
    state.paces[named.name] = pace.dueAt;
  }
}

function paceOf(state: SharedState, { name, perHour }: NamedPace, now: number): Pace {
  const pace = new Pace(perHour, state.paces[name]);
  // Nobody takes a turn that is further away, so the clock was set back since.
  const isPossible = pace.readyAt - now <= MAX_TURN_MS + URGENT * pace.intervalMs;
  return isPossible ? pace : new Pace(perHour);
}

/** What a request counts against. `part`: see `Use`. */
export interface SharedUse {
  token: string;
  resource: string;
  cost: number;
  part: string | null;
}

/** Why a token must not be used now, as a report for `Quota`, and until when. */
export interface Refusal {
  report: QuotaReport;
  until: number;
}

/** Why a request must not be sent now; undefined: it may be. */
function refusalOf(
  state: SharedState,
  { token, resource, cost, part }: SharedUse,
  now: number,
): Refusal | undefined {
  const known = tokenOf(state, token, now);
  const slow = [known.blocks[ANY], known.blocks[part ?? ANY]]
    .filter((block) => block !== undefined)
    .toSorted((a, b) => b.until - a.until)[0];
  if (slow !== undefined)
    return { report: { blockedUntil: slow.until, message: slow.message }, until: slow.until };
  const { limit, resetAt } = allowancesOf(known).of(resource, now);
  const left = leftOf(known, resource, now);
  if (left === null || isEnough(left, cost, limit)) return undefined;
  return { report: { limit: limit ?? 0, remaining: left, resetAt }, until: resetAt };
}

/** Notes a request that is sent now. Returns the quota left after all requests in flight; null: unknown. */
function openRequest(
  state: SharedState,
  { token, resource, cost }: SharedUse,
  { id, now }: { id: string; now: number },
): number | null {
  const known = tokenOf(state, token, now);
  known.usedAt = now;
  known.open[id] = { resource, cost, at: now };
  return leftOf(known, resource, now);
}

/** What the response to a request reported; empty if there was none. */
interface SharedReport extends Omit<SharedUse, "cost"> {
  /** Of the request, which ends with its first report. */
  id: string;
  report: QuotaReport;
}

/** Ends a request and applies its report. Later reports win, but a block is never shortened. */
function applyReport(
  state: SharedState,
  { id, token, resource, part, report }: SharedReport,
  now: number,
): void {
  const known = tokenOf(state, token, now);
  const open = known.open[id];
  delete known.open[id];
  const allowances = allowancesOf(known);
  if (open !== undefined && !isCount(report.remaining)) allowances.spend(resource, open.cost, now);
  const { limit, remaining, resetAt } = report;
  // A slow response may be about a period that is over.
  const isPast = resetAt !== undefined && resetAt <= now && allowances.of(resource, now).resetAt > now;
  if (!isPast) allowances.learn(resource, { limit, remaining, resetAt: believed(resetAt, now) }, now);
  known.quotas = storable(allowances);
  const { blockedUntil, message = null } = report;
  const until = believed(blockedUntil, now);
  const key = part ?? ANY;
  if (until !== undefined && until > Math.max(now, known.blocks[key]?.until ?? 0))
    known.blocks[key] = { until, message };
}

/** Removes tokens that are no longer used, so that a state stays small. */
function tidyState(state: SharedState, now: number): void {
  for (const [name, { usedAt }] of Object.entries(state.tokens))
    if (Math.abs(now - usedAt) > FORGOTTEN_MS) delete state.tokens[name];
}

/** The state of a token now, without blocks that are over and requests that got no response. */
function tokenOf(state: SharedState, name: string, now: number): TokenState {
  const token = state.tokens[name] ?? { usedAt: now, quotas: {}, blocks: {}, open: {} };
  state.tokens[name] = token;
  for (const [key, { until }] of Object.entries(token.blocks))
    if (until <= now || until > now + MAX_WAIT_MS) delete token.blocks[key];
  const lost = Object.entries(token.open).filter(([, { at }]) => Math.abs(now - at) >= OPEN_MS);
  if (lost.length === 0) return token;
  // Their process has ended; their cost stays spent until the reset.
  const allowances = allowancesOf(token);
  for (const [id, { resource, cost }] of lost) {
    allowances.spend(resource, cost, now);
    delete token.open[id];
  }
  token.quotas = storable(allowances);
  return token;
}

function leftOf(token: TokenState, resource: string, now: number): number | null {
  const { remaining } = allowancesOf(token).of(resource, now);
  if (remaining === null) return null;
  const inFlight = Object.values(token.open).filter((open) => open.resource === resource);
  return Math.max(0, remaining - inFlight.reduce((sum, { cost }) => sum + cost, 0));
}

function allowancesOf({ quotas }: TokenState): Allowances {
  return new Allowances(
    Object.entries(quotas).map(([resource, { resetAt, ...counts }]) => [
      resource,
      { ...counts, resetAt: resetAt ?? Number.NEGATIVE_INFINITY },
    ]),
  );
}

function storable(allowances: Allowances): TokenState["quotas"] {
  return Object.fromEntries(
    allowances
      .all()
      .map(([resource, { limit, remaining, resetAt }]) => [
        resource,
        { limit, remaining, resetAt: Number.isFinite(resetAt) ? resetAt : null },
      ]),
  );
}

function believed(time: number | undefined, now: number): number | undefined {
  if (time === undefined || !Number.isFinite(time)) return undefined;
  return Math.min(time, now + MAX_WAIT_MS);
}
