import type { Observation } from "../../src/repositories/repository.js";
import { syntheticRepository } from "../synthetic/synthetic.js";
import { generatorOptions, type Store } from "./stores.js";

/** What a refresh at this time reports of the `index`-th repository of a store: some more stars. */
export function changedAt(index: number, at: number, store: Store): Observation {
  const repository = syntheticRepository(index, generatorOptions(store));
  const last = [...repository.snapshots].at(-1);
  const stars = (last?.stars ?? 0) + 1 + (index % 7);
  return {
    ...repository,
    at,
    facts: { ...repository.facts, stars },
    snapshots: last === undefined ? [] : [{ ...last, capturedAt: at, stars }],
  };
}
