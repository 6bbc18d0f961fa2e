/**
 * What all processes together have sent to one forge, as plain data: the pace, the quota of each token, blocks and requests in
 * flight. The rules are those of `Quota` and `Gate`, on the wall clock, which all processes have in common. No time is believed
 * that is further away than MAX_WAIT_MS, and no turn that nobody can have taken.
 */
import { z } from "zod";
import { Allowances, isCount } from "./allowances.js";
import { Pace } from "./pace.js";
import { MAX_WAIT_MS, OPEN_MS, type QuotaReport } from "./quota.js";

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
  /** Waits that the forge asked for, by part; ANY: for the token as a whole; REJECTED: the token is not accepted. */
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
export type SharedState = z.infer<typeof stateSchema>;
type TokenState = z.infer<typeof tokenSchema>;

/** A longer wait for a turn ends as `quota`, so that a batch is not held for hours. */
export const MAX_TURN_MS = 60_000;
/** Most requests that were sent without waiting for their turn, and that others wait for. */
const URGENT = 10;
const ANY = "any";
const REJECTED = "rejected";
/** How long a rejected token rests, as in `Quota`. */
const REJECTED_MS = 3_600_000;
/** A token that was not used for so long is forgotten: all that is known of it is over. */
const FORGOTTEN_MS = 2 * MAX_WAIT_MS;

/** The stored state; an empty one for a text that is damaged, or that this version does not understand. */
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

/** A pace that a request keeps. */
export interface NamedPace {
  name: string;
  perHour: number;
}

/** When the next request is allowed by all of these paces; may be in the past. */
export function paceReadyAt(state: SharedState, paces: readonly NamedPace[], now: number): number {
  return Math.max(now, ...paces.map((pace) => paceOf(state, pace, now).readyAt));
}

/** Counts a request that is sent at `at`, which may be in the future. */
export function spendPaces(state: SharedState, paces: readonly NamedPace[], at: number): void {
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

/** Why a token may not be used now, as a report that tells a `Quota` the same, and until when. */
export interface Refusal {
  report: QuotaReport;
  until: number;
}

/** Why such a request may not be sent now; undefined: it may. `mayBeRejected`: also with a token that was rejected. */
export function refusalOf(
  state: SharedState,
  { token, resource, cost, part }: SharedUse,
  { now, mayBeRejected = false }: { now: number; mayBeRejected?: boolean },
): Refusal | undefined {
  const known = tokenOf(state, token, now);
  const rejected = mayBeRejected ? undefined : known.blocks[REJECTED];
  if (rejected !== undefined)
    return { report: { isRejected: true, message: rejected.message }, until: rejected.until };
  const slow = [known.blocks[ANY], known.blocks[part ?? ANY]]
    .filter((block) => block !== undefined)
    .toSorted((a, b) => b.until - a.until)[0];
  if (slow !== undefined)
    return { report: { blockedUntil: slow.until, message: slow.message }, until: slow.until };
  const { limit, resetAt } = allowancesOf(known).of(resource, now);
  const left = leftOf(known, resource, now);
  if (left === null || left >= Math.max(1, Math.min(cost, limit ?? cost))) return undefined;
  return { report: { limit: limit ?? 0, remaining: left, resetAt }, until: resetAt };
}

/** Notes a request that is sent now. Returns what is left of the quota besides it and the others in flight; null: not known. */
export function openRequest(
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
export interface SharedReport extends Omit<SharedUse, "cost"> {
  /** Of the request, which ends with its first report. */
  id: string;
  report: QuotaReport;
}

/** Ends a request and applies its report. Later reports win, but a block is never shortened. */
export function applyReport(
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
  const { isRejected, blockedUntil, message = null } = report;
  if (isRejected === true) known.blocks[REJECTED] = { until: now + REJECTED_MS, message };
  if (isRejected === false) delete known.blocks[REJECTED];
  const until = believed(blockedUntil, now);
  const key = part ?? ANY;
  if (until !== undefined && until > Math.max(now, known.blocks[key]?.until ?? 0))
    known.blocks[key] = { until, message };
}

/** Removes what is over, so that a state stays small. */
export function tidyState(state: SharedState, now: number): void {
  for (const [name, { usedAt }] of Object.entries(state.tokens))
    if (Math.abs(now - usedAt) > FORGOTTEN_MS) delete state.tokens[name];
}

/** The state of a token now: blocks that are over and requests that were given up are left out. */
function tokenOf(state: SharedState, name: string, now: number): TokenState {
  const token = state.tokens[name] ?? { usedAt: now, quotas: {}, blocks: {}, open: {} };
  state.tokens[name] = token;
  for (const [key, { until }] of Object.entries(token.blocks))
    if (until <= now || until > now + MAX_WAIT_MS) delete token.blocks[key];
  const lost = Object.entries(token.open).filter(([, { at }]) => Math.abs(now - at) >= OPEN_MS);
  if (lost.length === 0) return token;
  // Whoever sent them has ended; what they took stays spent until the reset.
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
