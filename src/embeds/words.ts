import { ageText, dateText, exactNumber } from "./numbers.js";
import type { ChartInput } from "./plan.js";
import { type ChartSeries, METRIC_NAMES } from "./series.js";
import { fit } from "./text.js";

/** The chart in words, as its text alternative. */
export function describe(
  { metric, align, asOf, title }: Pick<ChartInput, "metric" | "align" | "asOf" | "title">,
  series: readonly ChartSeries[],
): { title: string; description: string } {
  const name = METRIC_NAMES[metric];
  const when = (at: number) => (align === "age" ? `at the age of ${ageText(at)}` : `on ${dateText(at)}`);
  const sentences = series.map((one) => {
    const [first, last] = [one.points[0], one.points.at(-1)];
    const note = one.note === undefined ? "" : `; ${one.note}`;
    if (first === undefined || last === undefined) return `${fit(one.name, 1, 80)}: nothing is known${note}.`;
    const places = one.gaps.length;
    const gaps = places === 0 ? "" : `; counts are missing in ${places} ${places === 1 ? "place" : "places"}`;
    const difference = last.value - first.value;
    const gained = `${difference < 0 ? "lost" : "gained"} ${exactNumber(Math.abs(difference))}`;
    return `${fit(one.name, 1, 80)}: ${exactNumber(first.value)} ${when(first.at)}, ${exactNumber(last.value)} ${when(last.at)}, ${gained}${gaps}${note}.`;
  });
  const subject = title ?? series.map((one) => one.name).join(", ");
  const asOfText = asOf === null ? "" : ` As of ${dateText(asOf)}.`;
  return {
    title: fit(`${name}${align === "age" ? " by age" : ""}: ${subject}`, 1, 200),
    description: `${sentences.join(" ")}${asOfText}`,
  };
}
