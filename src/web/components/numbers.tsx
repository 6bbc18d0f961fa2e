import type { FunctionComponent as FC } from "preact";
import { dateText } from "../../charts/charts.js";
import {
  type CountedGroup,
  type Facet,
  type FacetGain,
  isCovered,
  otherDaysWords,
} from "../../discovery/discovery.js";
import { type GainedMeasure, gainWords, type Trend } from "../../growth/growth.js";
import { DAY_MS, HOUR_MS, isoDay, isoTime } from "../../lib/clock.js";
import { cleanText } from "../../repositories/repositories.js";
import type { RenderContext } from "../page-request.js";

/** How pages write numbers, times and gains. An unknown value is a dash, never 0. */

const whole = new Intl.NumberFormat("en-US");
const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const percents = [0, 1, 2].map(
  (digits) =>
    new Intl.NumberFormat("en-US", {
      style: "percent",
      signDisplay: "exceptZero",
      maximumFractionDigits: digits,
    }),
);

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

/** 12, or 0.4 for rates below 10. */
export function formatRate(value: number | null): string {
  return value === null ? UNKNOWN : value >= 10 ? whole.format(Math.round(value)) : value.toFixed(1);
}

/** Smaller parts would be rounded to 0. */
const LEAST_GROWTH = 0.000_05;

/** +2.4%, for 0.024; small parts with two decimals at most, large ones without any. */
export function formatGrowth(part: number | null): string {
  if (part === null) return UNKNOWN;
  const size = Math.abs(part);
  if (size > 0 && size < LEAST_GROWTH) return part > 0 ? "<0.01%" : "−<0.01%";
  return (size >= 0.1 ? percents[0] : size >= 0.01 ? percents[1] : percents[2])?.format(part) ?? UNKNOWN;
}

const NUMBER_WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** "six", 12 */
export const numberWord = (count: number): string => NUMBER_WORDS[count] ?? formatCount(count);

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "1,234 repositories"; "10,000+ repositories" if there are more. */
export function repositoriesText(total: number): string {
  return `${formatCount(total)} ${total === 1 ? "repository" : "repositories"}`;
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

/** The gain of the repositories of a language or topic; a dash if too few are measured. Below a half, how many are. */
export const FacetDelta: FC<{ gain: FacetGain; of: Pick<Facet, "recent"> }> = ({ gain, of: { recent } }) => (
  <>
    <Delta value={gain.measured > 0 && isCovered(gain, recent) ? gain.starsGained : null} />
    {2 * gain.measured >= recent ? null : (
      <small class="counted">
        of {formatCount(recent)}, {formatCount(gain.measured)} measured
      </small>
    )}
  </>
);

/** 2026-04-30, for machines: values of fields. */
export function formatDay(ms: number | null): string {
  return ms === null ? UNKNOWN : isoDay(ms);
}

/** 30 Apr 2026: a day, in sentences and tables. */
export function formatDate(ms: number | null): string {
  return ms === null ? UNKNOWN : dateText(ms);
}

/** Apr 2026 */
export const monthText = (ms: number): string => dateText(ms).replace(/^\d+ /, "");

/** 2026-04-30 12:00 UTC */
export function formatTime(ms: number): string {
  return `${isoTime(ms).slice(0, 16).replace("T", " ")} UTC`;
}

/** A text for the middle of a sentence: its direction does not change the order of the sentence (UAX #9, 2.4). */
export function isolated(text: string): string {
  return `\u2068${cleanText(text, text.length) ?? ""}\u2069`;
}

/**
 * A time relative to now, such as "3 hours ago", with the exact one in its title. `exact`: the exact one, for rows of a
 * table and for times that readers compare. Relative times also hold in a page that is cached, which is renewed every hour.
 */
export const Time: FC<{ at: number | null; exact?: boolean }> = (
  { at, exact = false },
  { now }: RenderContext,
) => {
  if (at === null) return <span>{UNKNOWN}</span>;
  const full = formatTime(at);
  if (exact || now === undefined) return <time datetime={isoTime(at)}>{full}</time>;
  return (
    <time datetime={isoTime(at)} title={full}>
      {relativeTime(at, now)}
    </time>
  );
};

/** Times up to this many hours away are given in hours. */
const HOURS_SHOWN = 48;

/** "3 hours ago", "91 days ago", "in 2 hours". Counts whole hours and days in UTC, so it changes only when these do. */
export function relativeTime(at: number, now: number): string {
  const hours = Math.floor(now / HOUR_MS) - Math.floor(at / HOUR_MS);
  const days = Math.floor(now / DAY_MS) - Math.floor(at / DAY_MS);
  const [count, unit] = Math.abs(hours) < HOURS_SHOWN ? [hours, "hour"] : [days, "day"];
  const amount = `${formatCount(Math.abs(count))} ${unit}${Math.abs(count) === 1 ? "" : "s"}`;
  if (count === 0) return at > now ? "in less than an hour" : "less than an hour ago";
  return count > 0 ? `${amount} ago` : `in ${amount}`;
}

const MINUTE_MS = 60_000;

/** "40 s", "12 min", "5.5 h" or "3 days": a duration for pages that are made for one reader. */
export function durationWords(ms: number): string {
  if (ms < 1.5 * MINUTE_MS) return `${Math.max(0, Math.round(ms / 1_000))} s`;
  if (ms < 1.5 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  if (ms < 2 * DAY_MS) return `${(ms / HOUR_MS).toFixed(1).replace(/\.0$/, "")} h`;
  return `${Math.round(ms / DAY_MS)} days`;
}

/** "12 min ago" or "in 40 s", to the second: for pages that no cache keeps. The exact time is in the title. */
export const Ago: FC<{ at: number | null }> = ({ at }, { now }: RenderContext) => {
  if (at === null) return <span>never</span>;
  const exact = isoTime(at);
  const words =
    now === undefined ? exact : at > now ? `in ${durationWords(at - now)}` : `${durationWords(now - at)} ago`;
  return (
    <time datetime={exact} title={`${exact.slice(0, 19).replace("T", " ")} UTC`} class="nowrap">
      {words}
    </time>
  );
};

/** From this age, measurements are marked as old. */
const OLD_MS = 36 * HOUR_MS;

/** Whether measurements that end at this time are too old to be called recent. */
export function isOld(at: number | null, now: number): boolean {
  return at !== null && now - at > OLD_MS;
}

/**
 * "Updated 3 hours ago"; of old counts "Updated 22 Aug 2026, 91 days ago", in the colour of caution. `measured`: of several
 * repositories, whose median time it is.
 */
export const AsOf: FC<{ at: number | null; measured?: readonly CountedGroup[] }> = (
  { at, measured = [] },
  { now }: RenderContext,
) => {
  if (at === null) return <span>Not measured yet</span>;
  const others = otherDaysWords({ asOf: at, measured });
  return (
    <span class={now !== undefined && isOld(at, now) ? "as-of old" : "as-of"}>
      Updated{" "}
      <time datetime={isoTime(at)} title={formatTime(at)}>
        {now !== undefined && !isOld(at, now) ? "" : formatDate(at)}
        {now === undefined ? "" : `${isOld(at, now) ? ", " : ""}${relativeTime(at, now)}`}
      </time>
      {others === "" ? "" : `; ${others}`}
    </span>
  );
};

/** Names of the sources of counts. */
export const SOURCE_WORDS = {
  OBSERVED: "measured here",
  IMPORTED: "imported",
  BACKFILLED: "star history",
} as const;

/** A gain, of stars with a note on how much of it counts, explained by a tooltip. */
export const Gain: FC<{ trend: Trend | null | undefined; measure: GainedMeasure }> = ({ trend, measure }) => {
  const words = trend && measure === "stars" ? gainWords(trend) : undefined;
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

/**
 * The short names of emoji that people write in descriptions, as GitHub shows them. The table has the common ones; a short name
 * that is not in it is dropped, as readers would see it as a mistake of ours.
 */
const EMOJI: ReadonlyMap<string, string> = new Map(
  `
  +1 👍, -1 👎, airplane ✈️, art 🎨, atom ⚛️, bar_chart 📊, bird 🐦, book 📖, books 📚, boom 💥, brain 🧠, bug 🐛,
  bulb 💡, camera 📷, chart_with_upwards_trend 📈, cherry_blossom 🌸, clipboard 📋, cloud ☁️, coffee ☕,
  computer 💻, construction 🚧, crab 🦀, crystal_ball 🔮, dart 🎯, desktop_computer 🖥️, dragon 🐉,
  earth_africa 🌍, eyes 👀, fire 🔥, gear ⚙️, gem 💎, globe_with_meridians 🌐, hammer 🔨, hammer_and_wrench 🛠️,
  heart ❤️, honeybee 🐝, hourglass ⌛, iphone 📱, key 🔑, link 🔗, lock 🔒, mag 🔍, mega 📣, memo 📝, microscope 🔬,
  milky_way 🌌, mortar_board 🎓, muscle 💪, notebook 📓, notes 🎶, package 📦, page_facing_up 📄, pencil 📝,
  penguin 🐧, robot 🤖, rocket 🚀, scissors ✂️, scroll 📜, seedling 🌱, shield 🛡️, ship 🚢, snake 🐍,
  snowflake ❄️, sparkles ✨, speech_balloon 💬, star ⭐, star2 🌟, sunflower 🌻, sunny ☀️, tada 🎉, tools 🛠️,
  triangular_ruler 📐, trophy 🏆, tv 📺, unicorn 🦄, warning ⚠️, watch ⌚, whale 🐳, white_check_mark ✅,
  wrench 🔧, zap ⚡
`
    .trim()
    .split(/,\s+/)
    .map((entry) => entry.split(" ") as [string, string]),
);

/** One or more short names in a row, apart from other words: not `std::io::Read`, `10:30:00`, or a role such as `:ref:` of a link. */
const SHORT_NAMES = /(?<=^|[\s(])(?::(?:[+-]1|[a-z][a-z0-9_+-]*):)+(?=$|[\s.,;!?)])/g;

/** A description with its short names of emoji shown as emoji. */
export function withEmoji(description: string): string {
  if (!description.includes(":")) return description;
  return description
    .replaceAll(SHORT_NAMES, (names) =>
      names
        .split(":")
        .map((name) => EMOJI.get(name) ?? "")
        .join(""),
    )
    .replaceAll(/ {2,}/g, " ")
    .trim();
}

/** The usual colours of languages. Others are grey. */
const COLOURS: ReadonlyMap<string, string> = new Map(
  `
  ada #02f88c, assembly #6e4c13, astro #ff5a03, c #555555, c# #178600, c++ #f34b7d, clojure #db5855,
  common lisp #3fb68b, crystal #000100, css #663399, cuda #3a4e3a, d #ba595e, dart #00b4ab,
  dockerfile #384d54, elixir #6e4a7e, elm #60b5cc, emacs lisp #c065db, erlang #b83998, f# #b845fc,
  fortran #4d41b1, gleam #ffaff3, go #00add8, groovy #4298b8, hack #878787, haskell #5e5086, hcl #844fba,
  html #e34c26, java #b07219, javascript #f1e05a, julia #a270ba, jupyter notebook #da5b0b, kotlin #a97bff,
  lean #4d3b8f, lua #000080, makefile #427819, matlab #e16737, mdx #fcb32c, mojo #ff4c1f, nim #ffc200,
  nix #7e7eff, objective-c #438eff, ocaml #ef7a08, odin #60affe, perl #0298c3, php #4f5d95,
  powershell #012456, python #3572a5, r #198ce7, racket #3c5caa, ruby #701516, rust #dea584,
  scala #c22d40, scss #c6538c, shell #89e051, solidity #aa6746, svelte #ff3e00, swift #f05138,
  tex #3d6117, typescript #3178c6, typst #239dad, v #4f87c4, vim script #199f4b, vue #41b883,
  webassembly #04133b, zig #ec915c
`
    .trim()
    .split(/,\s+/)
    .map((entry) => [entry.slice(0, -8), entry.slice(-7)]),
);

/** A dot in the colour of a language. */
export const Dot: FC<{ name: string }> = ({ name }) => (
  <svg class="dot" viewBox="0 0 10 10" aria-hidden="true">
    <circle
      cx="5"
      cy="5"
      r="4.5"
      fill={COLOURS.get(name.toLowerCase()) ?? "#8b93a1"}
      stroke="#8b93a1"
      stroke-width="1"
    />
  </svg>
);
