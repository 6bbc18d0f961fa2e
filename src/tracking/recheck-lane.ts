import { concernsForge, UpstreamFailure, type UpstreamRepository } from "../providers/providers.js";
import { type Claim, release, stillClaimed } from "./claims.js";
import { type Lane, LEASE_MS, responded, type Step, waiting } from "./lane.js";
import { keptNodeId } from "./node-id.js";
import { observationOf } from "./outcomes.js";
import { claimRecheck, endRecheck, nextRecheck, RECHECK_MS } from "./recheck.js";

/** How often to look for second readings; those planned since are due later than that. */
const CHECK_MS = 0.8 * RECHECK_MS;

/** Reads repositories again whose counts have fallen doubtfully. The schedule of their refreshes stays as it is. */
export class RecheckLane {
  readonly #lane: Lane;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  /** Reads one repository. Throws what the provider throws about the forge as a whole. */
  async step(): Promise<Step> {
    const { modules, provider, clock, reporter } = this.#lane;
    const { database } = modules;
    const now = clock.now();
    const readyAt = provider.readyAt("recheck");
    if (readyAt > now) return waiting(readyAt - now);
    const next = (await nextRecheck(database, provider.name)) ?? Number.POSITIVE_INFINITY;
    if (next > now) return waiting(Math.min(CHECK_MS, next - now));
    const leasedUntil = now + LEASE_MS;
    const claim = await claimRecheck(database, provider.name, { now, leasedUntil });
    // Another worker holds it.
    if (claim === undefined) return waiting(CHECK_MS);
    try {
      await this.#record(claim, await this.#request(claim));
    } catch (error) {
      await release(database, [claim.repositoryId], { leasedUntil });
      throw error;
    }
    reporter.succeeded(clock.now());
    return responded(0);
  }

  /** What the forge sent; undefined if it sent no record. The next refresh then finds out why. */
  async #request(claim: Claim): Promise<UpstreamRepository | undefined> {
    const { provider, clock, reporter, signal } = this.#lane;
    const { providerId, nodeId, owner, name } = claim;
    if (providerId === null) return undefined;
    try {
      return await provider.recheck({ providerId, nodeId, fullName: `${owner}/${name}`, etag: null }, signal);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || concernsForge(error.kind)) throw error;
      reporter.failed(error, clock.now());
      return undefined;
    }
  }

  async #record(claim: Claim, found: UpstreamRepository | undefined): Promise<void> {
    const { repositoryId, nodeId } = claim;
    const { modules, provider, clock, reporter } = this.#lane;
    const { database, catalog } = modules;
    const at = clock.now();
    const isOwn = await database.dialect.exclusively(database.write, "catalogue", async (tx) => {
      if (!(await stillClaimed(tx, database.dialect, [claim])).has(repositoryId)) return false;
      if (found !== undefined)
        await catalog.recordIn(tx, [{ ...observationOf(provider.name, found, at), repositoryId }]);
      await endRecheck(tx, repositoryId, found && { at, nodeId: keptNodeId(nodeId, found.nodeId) });
      return true;
    });
    if (found !== undefined && isOwn) reporter.add("rechecked", 1);
  }
}
