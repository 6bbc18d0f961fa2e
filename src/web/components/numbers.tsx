import type { FC } from "hono/jsx";
import { isoTime } from "../../clock.js";
import { RETAINED_WORDS } from "../../embeds/embeds.js";
import { type CountedMeasure, gainWords, type Trend } from "../../rankings/rankings.js";

/** Number and time formats of all pages. An unknown value is a dash, never 0. */

const whole = new Intl.NumberFormat("en-US");
const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat("en-US", {
  style: "percent",
  signDisplay: "exceptZero",
  maximumSignificantDigits: 3,
});

const UNKNOWN = "–";

/** 12,345 */
export function formatCount(value: number | null): string {
  return value === null ? UNKNOWN : whole.format(value);
}

/** 12.3K */
export function formatCompact(value: number | null): string {
  return value === null ? UNKNOWN : compact.format(value);
}

/** +1,234 */
export function formatDelta(value: number | null): string {
  return value === null ? UNKNOWN : signed.format(value);
}

/** +2.4%, of a part such as 0.024 */
export function formatGrowth(part: number | null): string {
  return part === null ? UNKNOWN : percent.format(part);
}

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;
const short = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

/** 1.23 MB; a kilobyte is 1,000 bytes. */
export function formatBytes(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${short.format(bytes / 1_000 ** step)} ${UNITS[step]}`;
}

/** A difference with its sign, coloured by it. */
export const Delta: FC<{ value: number | null | undefined }> = ({ value = null }) => (
  <span class={value === null || value === 0 ? "soft" : value > 0 ? "rise" : "fall"}>
    {formatDelta(value)}
  </span>
);

/** 2026-04-30 */
export function formatDay(ms: number | null): string {
  return ms === null ? UNKNOWN : isoTime(ms).slice(0, 10);
}

/** 2026-04-30 12:00 UTC, as a time element. */
export const Time: FC<{ at: number | null }> = ({ at }) =>
  at === null ? (
    <span>{UNKNOWN}</span>
  ) : (
    <time datetime={isoTime(at)}>{isoTime(at).slice(0, 16).replace("T", " ")} UTC</time>
  );

/** "90 days ago"; undefined for less than a day. */
export function agoText(days: number | null): string | undefined {
  if (days === null || days === 0) return undefined;
  return days === 1 ? "1 day ago" : `${formatCount(days)} days ago`;
}

/** "as of 2026-04-30 12:00 UTC, 90 days ago": the end of the windows, and its age. */
export const AsOf: FC<{ at: number | null; ageDays: number | null }> = ({ at, ageDays }) => {
  const ago = agoText(ageDays);
  return (
    <span>
      as of <Time at={at} />
      {ago === undefined ? "" : `, ${ago}`}
    </span>
  );
};

/** A gain, and what readers must know about it: what it compares, what of it counts. The explanation is a tooltip. */
export const Gain: FC<{ trend: Trend | undefined; measure: CountedMeasure }> = ({ trend, measure }) => {
  const words = trend && gainWords(trend, measure);
  return (
    <>
      <Delta value={measure === "stars" ? trend?.starsDelta : trend?.forksDelta} />
      {words === undefined ? null : (
        <small class="counted" title={words.full}>
          {words.short}
        </small>
      )}
    </>
  );
};

/** Names of the sources of counts. */
export const SOURCE_WORDS = {
  OBSERVED: "measured here",
  IMPORTED: "imported",
  BACKFILLED: RETAINED_WORDS,
} as const;
