import type { ForgeRequest } from "./answers.js";
import type { Counters } from "./counters.js";
import type { SecondaryLimit, Violation } from "./limits.js";

/** Turns of the event loop that an answer may take to its reader: requests sent before that knew nothing of it. */
const TURNS_TO_READ = 2;

/** Watches whether clients do as they are told, and how much they send at once. */
export class Conduct {
  readonly violations: Violation[] = [];
  readonly #now: () => number;
  readonly #counters: Counters;
  readonly #told = new Map<string, { until: number; kind: Violation["kind"] }>();
  readonly #active = new Map<string, number>();
  readonly #minutes = new Map<string, { minute: number; count: number }>();

  constructor(now: () => number, counters: Counters) {
    this.#now = now;
    this.#counters = counters;
  }

  /** A request has come. Says whether it is more than the limit on bursts allows. */
  begin(request: ForgeRequest, resource: string, secondary: SecondaryLimit | null): "ok" | "too-much" {
    const who = request.token ?? "";
    for (const key of [`${who} ${resource}`, `${who} *`]) {
      const told = this.#told.get(key);
      // Asking what is left is free.
      const isAllowed = told?.kind === "spent" && request.kind === "rate-limit";
      if (told !== undefined && this.#now() < told.until && !isAllowed)
        this.report(told.kind, request, resource);
    }
    const active = (this.#active.get(who) ?? 0) + 1;
    this.#active.set(who, active);
    this.#counters.peakConcurrent = Math.max(this.#counters.peakConcurrent, active);
    const minute = Math.floor(this.#now() / 60_000);
    const last = this.#minutes.get(who);
    const count = last?.minute === minute ? last.count + 1 : 1;
    this.#minutes.set(who, { minute, count });
    this.#counters.peakPerMinute = Math.max(this.#counters.peakPerMinute, count);
    if (secondary === null) return "ok";
    if (active > secondary.concurrent) this.report("concurrent", request, resource);
    else if (count > secondary.pointsPerMinute) this.report("points", request, resource);
    else return "ok";
    return "too-much";
  }

  /** A request has been answered, or its sender has left. */
  end(request: ForgeRequest): void {
    const who = request.token ?? "";
    this.#active.set(who, (this.#active.get(who) ?? 1) - 1);
  }

  /** An answer has been sent that says to wait until then. `resource`: `*` for everything. */
  tell(token: string | null, resource: string, until: number, kind: "spent" | "retry-after"): void {
    const key = `${token ?? ""} ${resource}`;
    afterTurns(TURNS_TO_READ, () => this.#told.set(key, { until, kind }));
  }

  report(kind: Violation["kind"], { token, path }: ForgeRequest, resource: string): void {
    this.violations.push({ kind, at: this.#now(), token, resource, path });
  }
}

function afterTurns(turns: number, action: () => void): void {
  if (turns === 0) action();
  else setImmediate(afterTurns, turns - 1, action);
}
