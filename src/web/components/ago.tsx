import type { FC } from "hono/jsx";
import { DAY_MS, HOUR_MS, isoTime } from "../../clock.js";

const MINUTE_MS = 60_000;

/** "40 s", "12 min", "5.5 h" or "3 days": a duration for pages that are made for one reader. */
export function durationWords(ms: number): string {
  if (ms < 1.5 * MINUTE_MS) return `${Math.max(0, Math.round(ms / 1_000))} s`;
  if (ms < 1.5 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${(ms / HOUR_MS).toFixed(1).replace(/\.0$/, "")} h`;
  return `${Math.round(ms / DAY_MS)} days`;
}

/** "12 min ago" or "in 40 s", to the second: for pages that no cache keeps. The exact time is in the title. */
export const Ago: FC<{ at: number | null; now: number }> = ({ at, now }) => {
  if (at === null) return <span>never</span>;
  const exact = isoTime(at);
  return (
    <time datetime={exact} title={`${exact.slice(0, 19).replace("T", " ")} UTC`} class="nowrap">
      {at > now ? `in ${durationWords(at - now)}` : `${durationWords(now - at)} ago`}
    </time>
  );
};
