import type { SecondaryLimit, Violation } from "./limits.js";
import type { ForgeRequest } from "./responses.js";

/** Turns of the event loop until a response has reached its client, and what that sent just before has reached us. */
const TURNS_TO_READ = 3;

/** Checks whether clients respect limits, and how much they send concurrently. */
export class Conduct {
  readonly violations: Violation[] = [];
  readonly #now: () => number;
  readonly #notices = new Map<string, { until: number; kind: Violation["kind"] }>();
  readonly #active = new Map<string, number>();
  readonly #minutes = new Map<string, { minute: number; count: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Call when a request arrives. Returns whether it exceeds the secondary limit. */
  begin(request: ForgeRequest, resource: string, secondary: SecondaryLimit | null): "ok" | "too-much" {
    const who = request.token ?? "";
    for (const key of new Set([`${who} ${resource}`, `${who} ${request.kind}`, `${who} *`])) {
      const notice = this.#notices.get(key);
      // Requesting the rate limits is free.
      const isAllowed = notice?.kind === "spent" && request.kind === "rate-limit";
      if (notice !== undefined && this.#now() < notice.until && !isAllowed)
        this.report(notice.kind, request, resource);
    }
    const active = (this.#active.get(who) ?? 0) + 1;
    this.#active.set(who, active);
    const minute = Math.floor(this.#now() / 60_000);
    const last = this.#minutes.get(who);
    const count = last?.minute === minute ? last.count + 1 : 1;
    this.#minutes.set(who, { minute, count });
    if (secondary === null) return "ok";
    if (active > secondary.concurrent) this.report("concurrent", request, resource);
    else if (count > secondary.pointsPerMinute) this.report("points", request, resource);
    else return "ok";
    return "too-much";
  }

  /** Call when a request has its response, or the client has disconnected. */
  end(request: ForgeRequest): void {
    const who = request.token ?? "";
    this.#active.set(who, (this.#active.get(who) ?? 1) - 1);
  }

  /** Call when a response asked the client to wait until then. `resource`: also a kind of request, or `*` for all. */
  notify(token: string | null, resource: string, until: number, kind: "spent" | "retry-after"): void {
    const key = `${token ?? ""} ${resource}`;
    afterTurns(TURNS_TO_READ, () => this.#notices.set(key, { until, kind }));
  }

  report(kind: Violation["kind"], { token, path }: ForgeRequest, resource: string): void {
    this.violations.push({ kind, at: this.#now(), token, resource, path });
  }
}

function afterTurns(turns: number, action: () => void): void {
  if (turns === 0) action();
  else setImmediate(afterTurns, turns - 1, action);
}
