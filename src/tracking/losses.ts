/**
 * Losses: when to believe a forge that reports a repository missing. A single response is hearsay: node ids expire, endpoints break,
 * tokens lose rights, whole forges respond 404. A loss is confirmed if a second endpoint reports it too, and that endpoint returns a
 * repository known to exist; if the forge has only one, its version or a list. Pages, redirects and errors confirm nothing. `daily-limits.ts` decides how many confirmed losses are
 * recorded, but for private repositories: the next reading shows one again that was hidden wrongly, while a publication is final.
 */
import { sql } from "kysely";
import { asFailed, concernsForge, UpstreamFailure, type UpstreamRepository } from "../forges/forges.js";
import { isLimited, lossesLeft } from "./daily-limits.js";
import type { Lane } from "./lane.js";
import { isLoss, type Outcome } from "./outcomes.js";
import { refOf } from "./schedule.js";

/** Losses of a batch that are confirmed immediately, as each takes a request. Others wait for their next refresh. */
const MAX_CONFIRMATIONS = 10;
/** After this long no further loss of a batch is confirmed, so that a slow forge holds up no other refreshes. */
const MAX_MS = 3 * 60_000;

/**
 * The outcomes: losses of available repositories are confirmed, or replaced by the record that the second endpoint returned, or
 * left as they are. Sends at most twice MAX_CONFIRMATIONS + 2 requests, and none while no further loss may be recorded.
 * Catches the provider's failures: a loss that cannot be confirmed now waits.
 */
export async function confirmLosses(lane: Lane, outcomes: readonly Outcome[]): Promise<readonly Outcome[]> {
  const { provider, clock, reporter, modules } = lane;
  const losses = outcomes.filter(({ asked, result }) => isLoss(result) && asked.availability === "AVAILABLE");
  const limited = losses.filter(({ asked, result }) => kindOf(result) !== "private" && isLimited(asked));
  const limit = { provider: provider.name, at: clock.now(), batch: outcomes.length };
  const isFull = limited.length > 0 && (await lossesLeft(modules.database.read, limit)) === 0;
  if (isFull) reporter.add("held", limited.length);
  const open = isFull ? losses.filter((loss) => !limited.includes(loss)) : losses;
  const settled = await new Confirmation(lane, open).run();
  return outcomes.map((outcome) => settled.get(outcome) ?? outcome);
}

const kindOf = (result: Outcome["result"]) => (result.kind === "failed" ? result.failure.kind : null);

class Confirmation {
  readonly #lane: Lane;
  readonly #losses: readonly Outcome[];
  /** Outcomes that replace losses. */
  readonly #settled = new Map<Outcome, Outcome>();
  #requests = 0;
  readonly #endAt: number;
  /** Whether the forge fails as a whole, so that it gets no further requests. */
  #hasFailed = false;

  constructor(lane: Lane, losses: readonly Outcome[]) {
    this.#lane = lane;
    this.#losses = losses;
    this.#endAt = lane.clock.monotonic() + MAX_MS;
  }

  async run(): Promise<ReadonlyMap<Outcome, Outcome>> {
    // Which endpoint reads again depends on the node id; see Provider.
    const hasNodeId = ({ asked: { providerId, nodeId } }: Outcome) => providerId !== null && nodeId !== null;
    await this.#confirm(this.#losses.filter(hasNodeId), true);
    await this.#confirm(
      this.#losses.filter((loss) => !hasNodeId(loss)),
      false,
    );
    return this.#settled;
  }

  async #confirm(losses: readonly Outcome[], hasNodeId: boolean): Promise<void> {
    const agreed: { outcome: Outcome; failure: UpstreamFailure }[] = [];
    let isWorking = false;
    for (const outcome of losses) {
      const { asked, result } = outcome;
      // One that was requested by name has no other endpoint.
      const second = asked.providerId === null ? first(result) : await this.#readAgain(outcome);
      if (second === undefined) continue;
      if (!(second instanceof UpstreamFailure)) {
        isWorking = true;
        this.#settled.set(outcome, { asked, result: { kind: "found", repository: second, etag: null } });
      } else if (saysHidden(second)) agreed.push({ outcome, failure: second });
    }
    // The record of a private repository shows by itself that the endpoint works.
    const shown = agreed.filter(({ failure }) => failure.kind === "private");
    const isEach = shown.length < agreed.length && (isWorking || (await this.#returnsControl(hasNodeId)));
    for (const { outcome, failure } of isEach ? agreed : shown)
      this.#settled.set(outcome, {
        asked: outcome.asked,
        result: { kind: "failed", failure },
        isConfirmed: true,
      });
  }

  /** The second endpoint's record; if that finds by name, also one with a new id and the same creation date. Undefined: not requested. */
  async #readAgain({ asked }: Outcome): Promise<UpstreamRepository | UpstreamFailure | undefined> {
    const { provider, signal, clock } = this.#lane;
    if (this.#hasFailed || this.#requests === MAX_CONFIRMATIONS || clock.monotonic() >= this.#endAt)
      return undefined;
    this.#requests++;
    const second = await this.#read(asked);
    const { createdAt, nodeId, owner, name } = asked;
    const isOpen = second instanceof UpstreamFailure && second.kind === "gone" && nodeId === null;
    if (!isOpen || createdAt === null) return second;
    const named = await provider.refreshOne(`${owner}/${name}`, signal).catch(asFailed);
    return !("kind" in named) && named.createdAt === createdAt ? named : second;
  }

  /** Whether the second endpoint returns a recently read repository; of a single one, whether the forge returns a document. */
  async #returnsControl(hasNodeId: boolean): Promise<boolean> {
    if (this.#hasFailed) return false;
    const { modules, provider } = this.#lane;
    const { read, dialect } = modules.database;
    const lost = this.#losses.map(({ asked }) => asked.repositoryId);
    const control = await read
      .selectFrom("repositories")
      .innerJoin("tracking", "tracking.repository_id", "repositories.id")
      .select(["provider_id as providerId", "node_id as nodeId", "owner", "name"])
      .where("repositories.provider", "=", provider.name)
      .where("availability", "=", "AVAILABLE")
      .where("provider_id", "is not", null)
      .where("refreshed_at", "is not", null)
      .where("missing_since", "is", null)
      .where(({ eb }) => (hasNodeId ? eb("node_id", "is not", null) : eb.val(true)))
      .where(({ not }) => not(dialect.among(sql.ref("repositories.id"), lost)))
      .orderBy("refreshed_at", "desc")
      .limit(1)
      .executeTakeFirst();
    if (control === undefined) return lost.length === 1 && (await this.#forgeWorks());
    const found = await this.#read(hasNodeId ? control : { ...control, nodeId: null });
    return !(found instanceof UpstreamFailure);
  }

  async #forgeWorks(): Promise<boolean> {
    const { provider, signal } = this.#lane;
    const result = await provider.checkWorks(signal).catch(asFailed);
    return result === undefined;
  }

  async #read(repository: Parameters<typeof refOf>[0]): Promise<UpstreamRepository | UpstreamFailure> {
    const { provider, signal } = this.#lane;
    try {
      return await provider.recheck(refOf(repository), signal);
    } catch (error) {
      const { failure } = asFailed(error);
      if (concernsForge(failure.kind)) this.#hasFailed = true;
      return failure;
    }
  }
}

const first = (result: Outcome["result"]) => (result.kind === "failed" ? result.failure : undefined);

/** Whether the forge says with this failure that a repository is not public. A redirect does not: many lead to a login. */
function saysHidden({ kind }: UpstreamFailure): boolean {
  return kind === "gone" || kind === "private" || kind === "blocked";
}
