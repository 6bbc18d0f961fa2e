import { Random } from "../../../bench/synthetic/random.js";
import { address } from "./case-parts.js";
import type { CatalogueFacts } from "./facts.js";
import { queryChoices } from "./parameters.js";

/** A request found by searching, and what it took. */
export interface Climbed {
  path: string;
  cost: number;
}

type State = Map<string, readonly string[]>;

/**
 * Searches for expensive values of the declared parameters of a route: starts at random, changes one or two at a time, and keeps
 * what costs more. The same seed tries the same first requests everywhere.
 */
export async function climb(
  {
    path,
    query,
    facts,
    seed,
    steps,
  }: {
    path: string;
    query: readonly string[];
    facts: CatalogueFacts;
    seed: number;
    steps: number;
  },
  costOf: (path: string) => Promise<number>,
): Promise<Climbed> {
  const random = new Random(seed);
  const choices = queryChoices(facts);
  const change = (state: State, name: string): void => {
    state.set(name, random.pick(choices[name] ?? [[]]));
  };
  const pathOf = (state: State): string => address(path, Object.fromEntries(state));
  let state: State = new Map();
  for (const name of query) if (random.chance(0.4)) change(state, name);
  let best = { path: pathOf(state), cost: await costOf(pathOf(state)) };
  for (let step = 0; step < steps; step++) {
    const next = new Map(state);
    for (let changes = random.between(1, 3); changes > 0; changes--) change(next, random.pick(query));
    // The same request again may find its total remembered.
    if (query.includes("minStars") && random.chance(0.8)) next.set("minStars", [String(step % 50)]);
    const cost = await costOf(pathOf(next));
    if (cost <= best.cost) continue;
    state = next;
    best = { path: pathOf(next), cost };
  }
  return best;
}
