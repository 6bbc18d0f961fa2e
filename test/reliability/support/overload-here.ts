import { absoluteRow, type ResultRow } from "../../../bench/support/results.js";
import { OVERLOADED, type Priority, RunQueue } from "../../../src/http/limits.js";
import { ManualClock } from "../../support/manual-clock.js";
import { assertHappened } from "./harness.js";

/** Time that computing one response takes, in ms of the manual clock; all of it passes in its turn, as on SQLite. */
const COST_MS = 2;
const TURNS = 1_500;
/** Requests that arrive while one is computed. */
const ARRIVALS = 3;
const PATIENCE_MS = 500;
const DEADLINE_MS = 1_000;

interface Sent {
  priority: Priority;
  at: number;
  /** When its response was computed; undefined: it was refused. */
  endedAt?: number;
}

/** Sends three times as many requests to the queue of the service as it can compute, in the time of a manual clock. */
export async function overloadQueue(): Promise<ResultRow[]> {
  const clock = new ManualClock(0);
  const queue = new RunQueue({ maxRunning: 8, bounds: { length: 400, patienceMs: PATIENCE_MS }, clock });
  const sent: Sent[] = [];
  const refusals: Promise<unknown>[] = [];
  const send = () => {
    const priority = sent.length % 10 === 0 ? "account" : "anonymous";
    const one: Sent = { priority, at: clock.monotonic() };
    const waiter = { priority, caller: `caller ${sent.length}`, isGone: () => false } as const;
    sent.push(one);
    const { result } = queue.add(waiter, async () => {
      clock.advance(COST_MS);
      one.endedAt = clock.monotonic();
    });
    refusals.push(
      result.then(
        () => false,
        (error: unknown) => error === OVERLOADED,
      ),
    );
  };
  for (let turn = 0; turn < TURNS; turn++) {
    for (let i = 0; i < ARRIVALS; i++) send();
    await new Promise((resolve) => setImmediate(resolve));
  }
  while (queue.waiting > 0) await new Promise((resolve) => setImmediate(resolve));
  const refused = (await Promise.all(refusals)).filter(Boolean).length;
  assertHappened(refused, "refused requests", TURNS);
  const inTime = sent.filter(({ at, endedAt }) => endedAt !== undefined && endedAt - at <= DEADLINE_MS);
  const late = sent.length - refused - inTime.length;
  const shareOf = (wanted: Priority) =>
    (100 * inTime.filter(({ priority }) => priority === wanted).length) /
    sent.filter(({ priority }) => priority === wanted).length;
  return [
    absoluteRow(
      { measure: "computed in time, of what can be computed", unit: "%", target: { atLeast: 99 } },
      [(100 * inTime.length * COST_MS) / clock.monotonic()],
    ),
    absoluteRow({ measure: "computed too late", unit: "responses", target: { atMost: 0 } }, [late]),
    absoluteRow({ measure: "callers with an account, in time", unit: "%", target: { atLeast: 100 } }, [
      shareOf("account"),
    ]),
    absoluteRow({ measure: "other callers, in time", unit: "%" }, [shareOf("anonymous")]),
  ];
}
