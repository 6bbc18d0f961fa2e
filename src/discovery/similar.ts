/** Repositories like another one. */
import type { ReadModel } from "./memory/read-model.js";

/** Topics that more repositories have say little about any of them; the bound also limits the cost, to about 5 ms. */
const MOST_WITH_TOPIC = 5_000;
const MOST_TOPICS = 20;
/** The value of the same language; a topic of n repositories has the value 1 ÷ log2(2 + n). */
const SAME_LANGUAGE = 0.1;
/** The cost of one order of magnitude more or fewer stars. */
const PER_MAGNITUDE = 0.05;

/**
 * The ids of the repositories most like one: those that share its topics, rare ones counting more, then its language, then its
 * size. Only those that share a topic, or without any its language. Costs one pass over the catalogue at most.
 */
export function similarTo(model: ReadModel, id: number, most: number): number[] {
  const own = model.slotOf(id);
  if (own < 0) return [];
  const { columns, topics } = model;
  const { listed, plain, named } = columns;
  const language = named.language[own] ?? 0;
  const shared = new Map<number, number>();
  let topicsLeft = MOST_TOPICS;
  topics.forEach(own, (topic) => {
    const count = topics.sizeOf(topic);
    if (count > MOST_WITH_TOPIC || topicsLeft-- <= 0) return;
    const worth = 1 / Math.log2(2 + count);
    topics.forEachWith(topic, (slot) => shared.set(slot, (shared.get(slot) ?? 0) + worth));
  });
  shared.delete(own);
  const size = (slot: number) => Math.log10(1 + (plain.stars[slot] ?? 0));
  const ownSize = size(own);
  /** The stars within which one that shares only the language can still be among the best, with a margin of one for rounding. */
  let [least, greatest] = [0, Number.POSITIVE_INFINITY];
  /** The best so far, best first: a language may have most of the catalogue, so not all are sorted. */
  const best: { slot: number; score: number }[] = [];
  const offer = (slot: number, worth: number) => {
    if (!listed.has(slot) || columns.archived.has(slot) || columns.fork.has(slot)) return;
    const sameLanguage = language > 0 && named.language[slot] === language ? SAME_LANGUAGE : 0;
    const score = worth + sameLanguage - PER_MAGNITUDE * Math.abs(size(slot) - ownSize);
    const at = best.findIndex((one) => score > one.score || (score === one.score && slot < one.slot));
    if (at < 0 && best.length === most) return;
    best.splice(at < 0 ? best.length : at, 0, { slot, score });
    best.length = Math.min(best.length, most);
    if (best.length < most) return;
    const magnitudes = (SAME_LANGUAGE - (best.at(-1)?.score ?? 0)) / PER_MAGNITUDE;
    [least, greatest] = [10 ** (ownSize - magnitudes) - 2, 10 ** (ownSize + magnitudes)];
  };
  for (const [slot, worth] of shared) offer(slot, worth);
  if (shared.size < most && language > 0)
    for (let slot = 0; slot < columns.size; slot++) {
      if (named.language[slot] !== language) continue;
      const stars = plain.stars[slot] ?? 0;
      if (stars >= least && stars <= greatest && slot !== own && !shared.has(slot)) offer(slot, 0);
    }
  return best.map(({ slot }) => columns.id[slot] ?? 0);
}
