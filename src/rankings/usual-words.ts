import { DAY_MS } from "../clock.js";
import type { Trend } from "./growth/growth.js";

/** A usual day with fewer stars is given in days per star. */
const LEAST_USUAL = 0.5;
/** The least stars for naming a multiple: on a usual day, and in the gain. Multiples of 1 say nothing. */
const TELLING = { usual: 2, gained: 20 };
/** Multiples from here on are as usual. */
const ABOUT = { from: 0.75, to: 1.5 };
const MOST = 100;

const number = new Intl.NumberFormat("en-US");
const rounded = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 2 });

/**
 * How a gain compares with what the repository gains on a usual day: "7× its usual day", "about its usual pace" (in windows of
 * several days), "usually 1 in 5 days", "usual day unknown". The only place with these words.
 */
export function usualWords({
  window,
  from,
  to,
  starsDelta,
  usualPerDay: usual,
}: Pick<Trend, "window" | "from" | "to" | "starsDelta" | "usualPerDay">): string {
  if (usual === null) return "usual day unknown";
  const perDay = (starsDelta * DAY_MS) / (to - from);
  const isTelling = usual >= LEAST_USUAL && (usual >= TELLING.usual || starsDelta >= TELLING.gained);
  if (starsDelta <= 0 || !isTelling) return `usually ${usualText(usual)}`;
  const times = perDay / usual;
  const whole = `its usual ${window === "24h" ? "day" : "pace"}`;
  if (times >= ABOUT.from && times < ABOUT.to) return `about ${whole}`;
  return times > MOST ? `over ${MOST}× ${whole}` : `${rounded.format(times)}× ${whole}`;
}

/** "40 a day", "1 in 5 days", "0 a day". */
function usualText(usual: number): string {
  if (usual >= LEAST_USUAL) return `${number.format(Math.max(1, Math.round(usual)))} a day`;
  return usual < 1 / 60 ? "0 a day" : `1 in ${Math.round(1 / usual)} days`;
}
