import { type ChartPoint, countAt, dateText, dayOf } from "../../charts/charts.js";
import { DAY_MS } from "../../lib/clock.js";
import type { Repository } from "../../repositories/repositories.js";
import { leadingStep } from "./next.js";
import { formatCount, monthText, numberWord } from "./numbers.js";

/** News of repositories in their last 30 days: a round number passed, the best month for long, or that one is new. */

export interface News {
  kind: "passed" | "best" | "new";
  repository: Repository;
  /** What follows its name in the sentence. */
  words: string;
}

interface Past {
  repository: Repository;
  /** Its stars, oldest first. */
  points: readonly ChartPoint[];
}

/** Sentences in all. */
const MOST = 3;
const MONTH_MS = 30 * DAY_MS;
/** Smaller numbers and gains are no news. */
const LEAST = 10;
/** A month is compared with those that ended before, as far apart. */
const STEP_MS = 7 * DAY_MS;
/** A best month is news if none was better for so long. */
const LONG_MS = 365 * DAY_MS;

/** At most three, of as many kinds as there are, and one of each repository; those of the largest repositories. `pasts`: the largest first. */
export function newsOf(pasts: readonly Past[]): News[] {
  const kinds = [passedOf, bestOf, newOf].map((of) => pasts.flatMap((past) => of(past) ?? []));
  const chosen: News[] = [];
  for (let round = 0; round < MOST; round++)
    for (const news of kinds) {
      const next = news.find(({ repository }) => chosen.every((one) => one.repository !== repository));
      if (next !== undefined && chosen.length < MOST) chosen.push(next);
    }
  return chosen.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

const ORDER: readonly News["kind"][] = ["passed", "best", "new"];

/** The last multiple of its leading digit that it passed: 9,000 of 9,476. */
function passedOf({ repository, points }: Past): News | undefined {
  const last = points.at(-1);
  const before = last && countAt(points, last.at - MONTH_MS);
  if (last === undefined || before === undefined || last.value < LEAST) return undefined;
  const step = leadingStep(last.value);
  const round = Math.floor(last.value / step) * step;
  const at = before < round && points.find((point) => point.value >= round)?.at;
  if (!at) return undefined;
  return {
    kind: "passed",
    repository,
    words: `passed ${formatCount(round)} stars on ${dateText(dayOf(at))}.`,
  };
}

function bestOf({ repository, points }: Past): News | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const gainOf = (end: number) =>
    (countAt(points, end) ?? 0) - (countAt(points, end - MONTH_MS) ?? Number.POSITIVE_INFINITY);
  const gain = gainOf(last.at);
  if (gain < LEAST || last.at - first.at < LONG_MS + MONTH_MS) return undefined;
  let end = last.at - MONTH_MS;
  while (end - MONTH_MS >= first.at && gainOf(end) < gain) end -= STEP_MS;
  if (end - MONTH_MS < first.at) return { kind: "best", repository, words: "had its best month on record." };
  if (last.at - end < LONG_MS) return undefined;
  return { kind: "best", repository, words: `had its best month since ${monthText(end)}.` };
}

function newOf({ repository, points }: Past): News | undefined {
  const { createdAt } = repository;
  const last = points.at(-1);
  const days = last && createdAt !== null && Math.floor((last.at - createdAt) / DAY_MS);
  if (last === undefined || typeof days !== "number" || days >= MONTH_MS / DAY_MS) return undefined;
  const stars = last.value === 1 ? "one star" : `${numberWord(last.value)} stars`;
  const time = days < 1 ? "on its first day" : `in ${numberWord(days + 1)} days`;
  return { kind: "new", repository, words: last.value < 1 ? "is new." : `is new: ${stars} ${time}.` };
}
