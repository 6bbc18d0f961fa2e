/** Draws campaigns: stars added to a repository by someone, rather than by attention. */
import type { Random } from "../synthetic/random.js";
import { type Changes, firstVisible, logUniform } from "./changes.js";

/** How the stars are spread over days. */
export const SHAPES = ["day", "flat", "ramp", "decay", "pauses", "drip"] as const;
export type Shape = (typeof SHAPES)[number];

/** How many forks come with them: none, up to one for a hundred stars, or up to 0.3 of what is usual. */
export const FORK_SHARES = ["none", "few", "some"] as const;
export type ForkShare = (typeof FORK_SHARES)[number];

export interface Campaign {
  shape: Shape;
  forkShare: ForkShare;
  size: number;
  changes: Changes;
  /** Entry of the first visible day. */
  visible: number;
  /** Days until the last stars are added. */
  days: number;
  /** Stars lost again; 0: none are. */
  purged: number;
}

/** The repository that gets the stars. */
export interface Recipient {
  /** Median gain a day before. */
  usual: number;
  /** null: forks are unknown. */
  forksPerStar: number | null;
}

const LEAST = 100;
const MOST = 20_000;
/** Of forks per star: repositories with more have other reasons to be forked than attention. */
const MOST_FORKS_PER_STAR = 1 / 3;
const FEW_FORKS = 0.01;
const SOME_PART = 0.3;
const LONGEST = 14;
const PURGED_SHARE = 0.4;
const TRIES = 200;

/** A campaign that is visible on the recipient: its peak is a jump. undefined if 200 draws were not. */
export function drawCampaign(random: Random, { usual, forksPerStar }: Recipient): Campaign | undefined {
  for (let tries = 0; tries < TRIES; tries++) {
    const shape = random.pick(SHAPES);
    const size = Math.round(logUniform(random, LEAST, MOST));
    const weights = weightsOf(random, shape).map((weight) => weight * (0.8 + 0.4 * random.next()));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const stars = weights.map((weight) => Math.round((size * weight) / total));
    const visible = firstVisible({ stars }, usual);
    if (visible === -1) continue;
    const forkShare = random.pick(FORK_SHARES);
    const share = forksPerStarOf(random, forkShare, forksPerStar ?? MOST_FORKS_PER_STAR);
    const forks = stars.map((gained) => random.poisson(gained * share));
    const days = stars.length;
    const purged = random.chance(PURGED_SHARE) ? purge(random, stars, size) : 0;
    return {
      shape,
      forkShare,
      size,
      changes: { stars, forks, openIssues: [], idleDays: [] },
      visible,
      days,
      purged,
    };
  }
  return undefined;
}

/** Parts of the stars by day; 0 on days without any. */
function weightsOf(random: Random, shape: Shape): number[] {
  const even = (days: number) => Array.from({ length: days }, () => 1);
  if (shape === "day") return [1];
  if (shape === "flat") return even(random.between(2, 7));
  if (shape === "ramp") return even(random.between(3, 7)).map((_, i) => i + 1);
  if (shape === "drip") return even(random.between(8, LONGEST));
  if (shape === "decay") {
    const rest = 0.5 + 0.3 * random.next();
    return even(random.between(3, 10)).map((_, i) => rest ** i);
  }
  const weights = even(random.between(1, 2));
  while (weights.length <= LONGEST - 5) {
    weights.push(...even(random.between(1, 3)).map(() => 0), ...even(random.between(1, 2)));
    if (weights.length > 4 && random.chance(0.4)) break;
  }
  return weights;
}

function forksPerStarOf(random: Random, share: ForkShare, usual: number): number {
  if (share === "none") return 0;
  if (share === "few") return FEW_FORKS * random.next();
  const most = SOME_PART * Math.min(MOST_FORKS_PER_STAR, usual);
  return FEW_FORKS * 0.5 + random.next() * Math.max(0, most - FEW_FORKS * 0.5);
}

/** Takes 20 to 80 % of the stars back over one to three days, 3 to 14 days after the last. Returns how many. */
function purge(random: Random, stars: number[], size: number): number {
  const lost = Math.round(size * (0.2 + 0.6 * random.next()));
  const days = random.between(1, 3);
  for (let wait = random.between(3, LONGEST) - 1; wait > 0; wait--) stars.push(0);
  for (let day = 0; day < days; day++) stars.push(-Math.floor((lost + day) / days));
  return lost;
}
