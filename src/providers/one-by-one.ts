import type { Clock } from "../clock.js";
import {
  asFailed,
  concernsForge,
  type Found,
  isTemporary,
  type Refreshed,
  type UpstreamFailure,
} from "./contract.js";

/** After this long the rest of a batch is left for later, so that it ends well before the lease of its claims. */
export const BATCH_MS = 2 * 60_000;
/** After this many consecutive requests without a response, the rest of a batch is not tried. */
const MAX_UNREACHABLE = 2;

/**
 * Reads one repository after the other. A failure of one is its own result. Once the forge cannot be asked any more, the rest fails
 * in the same way; what is left BATCH_MS after `beganAt` (monotonic; default: now) is skipped. One result per repository.
 */
export async function oneByOne<T>(
  repositories: readonly T[],
  read: (repository: T) => Promise<Refreshed>,
  { clock, beganAt = clock.monotonic() }: { clock: Clock; beganAt?: number },
): Promise<Refreshed[]> {
  const results: Refreshed[] = [];
  let rest: Refreshed = { kind: "skipped" };
  let unreachable = 0;
  for (const repository of repositories) {
    if (clock.monotonic() - beganAt >= BATCH_MS) break;
    const result = await read(repository).catch(asFailed);
    results.push(result.kind === "found" || result.kind === "unchanged" ? at(result, clock) : result);
    const kind = result.kind === "failed" ? result.failure.kind : null;
    unreachable = kind === "unreachable" ? unreachable + 1 : 0;
    if ((kind !== null && isTemporary(kind)) || unreachable === MAX_UNREACHABLE) {
      rest = result;
      break;
    }
  }
  return repositories.map((_, i) => results[i] ?? rest);
}

/** A response that has just arrived. */
const at = <T extends Found>(result: T, clock: Clock): T => ({ ...result, at: clock.now() });

/** The first failure, if the forge responded about none of the repositories; null otherwise. */
export function failureOfAll(results: readonly Refreshed[]): UpstreamFailure | null {
  const tried = results.filter(({ kind }) => kind !== "skipped");
  const failures = tried.flatMap((result) =>
    result.kind === "failed" && concernsForge(result.failure.kind) ? [result.failure] : [],
  );
  return failures.length === tried.length ? (failures[0] ?? null) : null;
}
