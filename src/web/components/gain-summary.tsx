import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import {
  gainWords,
  type Trend,
  usualWords,
  WINDOW_LABELS,
  WINDOWS,
  type Window,
  whyWords,
} from "../../rankings/rankings.js";
import { withQuery } from "./addresses.js";
import { type NoGrowthFacts, noGrowthText } from "./no-growth.js";
import { AsOf, Delta, formatCount } from "./numbers.js";
import { Tabs } from "./tabs.js";

interface GainSummaryProps {
  url: URL;
  repository: Repository;
  window: Window;
  trend: Trend | null;
  facts: NoGrowthFacts;
}

/** The stars of a repository, what it gained in the window of the page, and why that can be believed. */
export const GainSummary: FC<GainSummaryProps> = ({ url, repository, window, trend, facts }) => (
  <section class="gain-summary" aria-label="Stars and gain">
    <div class="apart">
      <p class="tally">
        <strong>{formatCount(repository.stars)}</strong> stars
        {trend === null ? null : (
          <span class="gained">
            <Delta value={trend.starsDelta} /> in {WINDOW_LABELS[window]}
            <CountedPart trend={trend} />
          </span>
        )}
      </p>
      <Tabs
        label="Window"
        tabs={WINDOWS.map((name) => ({
          name,
          href: withQuery(url, { window: name }),
          isCurrent: name === window,
        }))}
      />
    </div>
    <p class="soft small">
      {trend === null ? noGrowthText([window], facts) : <WhyText trend={trend} asOf={facts.asOf} />}
    </p>
  </section>
);

/** The two counts, how unusual the gain is, how far it can be trusted, and how old it is. */
const WhyText: FC<{ trend: Trend; asOf: number | null }> = ({ trend, asOf }) => {
  const { compared, confidence } = whyWords(trend, "stars");
  return (
    <>
      <a href="#snapshots">{compared}</a>
      {` · ${usualWords(trend)} · ${confidence}${doubtText(trend)} · `}
      <AsOf at={asOf} />
    </>
  );
};

const CountedPart: FC<{ trend: Trend }> = ({ trend }) => {
  const words = gainWords(trend, "stars");
  return words === undefined ? null : <small class="soft"> ({words.full})</small>;
};

/** Why the gain is not reliable; empty for one that is. */
function doubtText({ reliable, confidenceReasons }: Trend): string {
  return reliable ? "" : `, not reliable: ${confidenceReasons.join(", ") || "too low"}`;
}
