import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import {
  type Facet,
  type FacetDays,
  type FacetKind,
  type FacetSort,
  isCovered,
  type ListRow,
  timesOfDays,
} from "../../discovery/discovery.js";
import type { Window } from "../../growth/growth.js";
import { LANGUAGES_PAGE, languagePage, TOPICS_PAGE, topicPage } from "../../lib/page-addresses.js";
import type { Modules } from "../../modules.js";
import type { RenderContext } from "../page-request.js";
import { OwnerImage } from "./badges.js";
import { Link, NameLink } from "./elements.js";
import { timeWords } from "./front.js";
import { Delta, Dot, FacetDelta, formatCompact, formatCount, isOld, repositoriesText } from "./numbers.js";
import { Bars, DayBars } from "./small-charts.js";
import { TimesChip } from "./why.js";

/** Languages and topics as cards: what each gained, in bars of days, and who made it. */

/** Names and paths of the two kinds. */
export const KINDS = {
  language: {
    path: LANGUAGES_PAGE,
    pageOf: languagePage,
    title: "Languages",
    one: "Language",
    many: "languages",
  },
  topic: { path: TOPICS_PAGE, pageOf: topicPage, title: "Topics", one: "Topic", many: "topics" },
} as const;

/** A language or topic with what its card shows. */
interface ShownFacet {
  facet: Facet;
  days: FacetDays;
  /** The repositories that gained most, first. */
  makers: readonly ListRow[];
}

/** The repositories that made the gain of a lead or a page, and of a card. */
export const MAKERS = 5;
const CARD_MAKERS = 3;

/** Reads what the cards of some languages or topics show, by one statement for all rows that are not remembered. */
export async function readCards(
  { rankings, lists }: Pick<Modules, "rankings" | "lists">,
  facets: readonly Facet[],
  { kind, window }: { kind: FacetKind; window: Window },
): Promise<ShownFacet[]> {
  const days = await rankings.facetDays(
    kind,
    facets.map(({ name }) => name),
  );
  const ids = await Promise.all(
    facets.map(async ({ name }) => {
      const leaders = await rankings.leaders({ scope: kind, name, limit: MAKERS });
      return { ids: leaders("stars-gained", window), window };
    }),
  );
  const makers = await lists.rowsOfEach(ids);
  return facets.map((facet, i) => ({
    facet,
    days: days.get(facet.name) ?? { gains: [], known: 0 },
    makers: makers[i] ?? [],
  }));
}

interface CardsProps {
  kind: FacetKind;
  window: Window;
  /** The end of the newest day. */
  end: number;
}

type OneCardProps = CardsProps & { shown: ShownFacet };

/** The one that is most unusual, as a story. */
export const FacetLead: FC<OneCardProps> = ({ kind, window, end, shown }, { now }: RenderContext) => {
  const { facet, days, makers } = shown;
  const times = timesOfDays(days, { ...facet, window });
  const when = timeWords(window, now !== undefined && isOld(end, now));
  return (
    <article class="card facet-lead">
      <div>
        <p class="record small">
          {(times ?? 0) >= 2 ? "Hottest" : "Most gained"} {when}
        </p>
        <h2>
          <FacetName {...{ kind, window }} name={facet.name} />
        </h2>
        <p class="hero">
          <Delta value={facet.starsGained} /> <small>stars {when}</small> <TimesChip times={times} />
        </p>
        <p class="say">
          <MadeBy {...shown} isDay={window === "24h"} />
        </p>
      </div>
      <div>
        {days.known === 0 ? null : (
          <DayBars
            values={days.gains}
            end={end}
            wide={{ width: 420, height: 172 }}
            narrow={{ width: 326, height: 150 }}
          />
        )}
      </div>
      <Makers rows={makers} />
    </article>
  );
};

/** "zed made 80 % of it. All 32 repositories together had their best day in 30." */
const MadeBy: FC<ShownFacet & { isDay: boolean }> = ({ facet, days, makers: [first], isDay }) => {
  const part = madePart(first, facet.starsGained);
  const { gains, known } = days;
  const isBest = isDay && known > 0 && gains.at(-1) === Math.max(...gains);
  const all = repositoriesText(facet.repositories);
  const together = known === facet.repositories ? `All ${all}` : `${formatCount(known)} of ${all}`;
  return (
    <>
      {first === undefined || part < LEAST_PART ? null : (
        <>
          <b>{first.repository.name}</b> made {part} % of it.{" "}
        </>
      )}
      {isBest ? `${together} together had their best day in ${gains.length}.` : `It has ${all}.`}
    </>
  );
};

/** A smaller part of a gain is not that of one repository. */
const LEAST_PART = 20;

/** The percentage of a gain that one repository made. */
export function madePart(row: Pick<ListRow, "trend"> | undefined, starsGained: number): number {
  return Math.round((100 * gainOf(row)) / Math.max(1, starsGained));
}

/** A link to the page of one, which shows the same window. */
export const FacetName: FC<Omit<CardsProps, "end"> & { name: string }> = ({ kind, window, name }) => (
  <>
    {kind === "language" ? <Dot name={name} /> : null}
    <Link href={KINDS[kind].pageOf(name) + (window === "30d" ? "" : `?window=${window}`)}>
      <bdi>{name}</bdi>
    </Link>
  </>
);

/** Repositories with what each gained; `bars`: as parts of the largest. */
export const Makers: FC<{ rows: readonly ListRow[]; hasBars?: boolean }> = ({ rows, hasBars = false }) => (
  <ol class={hasBars ? "side made" : "side"}>
    {rows.map(({ repository, trend }) => (
      <li>
        <OwnerImage owner={repository.owner} provider={repository.provider} size={hasBars ? 32 : 24} />
        <NameLink repository={repository} {...(trend && { window: trend.window })} />
        <b>
          <Delta value={trend?.starsDelta} />
        </b>
        {hasBars ? (
          <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect
              class="past"
              width={((100 * gainOf({ trend })) / Math.max(1, gainOf(rows[0]))).toFixed(1)}
              height="8"
            />
          </svg>
        ) : null}
      </li>
    ))}
  </ol>
);

const gainOf = (row: Pick<ListRow, "trend"> | undefined): number => Math.max(0, row?.trend?.starsDelta ?? 0);

/** The number that cards are sorted by. */
const SORTED: Readonly<Record<FacetSort, (facet: Facet) => Child>> = {
  "stars-gained": (facet) => <FacetDelta gain={facet} of={facet} />,
  stars: ({ stars }) => `${formatCompact(stars)} stars`,
  "repository-count": ({ repositories }) => formatCount(repositories),
};

/** Languages or topics in the order of a list, which is that of the number next to each name. */
export const FacetCards: FC<CardsProps & { sort: FacetSort; cards: readonly ShownFacet[] }> = ({
  cards,
  sort,
  ...props
}) => (
  <ol class="facet-cards">
    {cards.map((shown) => (
      <li class="card">
        <FacetCard {...props} sort={sort} shown={shown} />
      </li>
    ))}
  </ol>
);

const FacetCard: FC<OneCardProps & { sort: FacetSort }> = ({ sort, shown, kind, window }) => {
  const { facet, days, makers } = shown;
  const shownMakers = makers.slice(0, CARD_MAKERS);
  return (
    <>
      <div class="facet-head">
        <h2>
          <FacetName {...{ kind, window }} name={facet.name} />
        </h2>
        <p>
          <b>{SORTED[sort](facet)}</b>{" "}
          {sort === "stars-gained" ? <TimesChip times={timesOfDays(days, { ...facet, window })} /> : null}
        </p>
      </div>
      <Bars values={days.gains} width={336} height={64} />
      <Shares
        gains={shownMakers.map(gainOf)}
        total={isCovered(facet, facet.recent) ? facet.starsGained : 0}
      />
      <Makers rows={shownMakers} />
      <p class="soft small">
        {repositoriesText(facet.repositories)}
        {2 * days.known < facet.recent ? `, ${formatCount(days.known)} in the bars` : ""}
      </p>
    </>
  );
};

/** The parts of a gain that single repositories made, in one thin bar. Hidden from screen readers, which get their numbers below it. */
const Shares: FC<{ gains: readonly number[]; total: number }> = ({ gains, total }) => {
  const before = (i: number) => gains.slice(0, i).reduce((sum, gain) => sum + gain, 0);
  const widthOf = (gain: number) => (320 * gain) / Math.max(1, total, before(gains.length));
  return (
    <svg class="shares" viewBox="0 0 320 6" preserveAspectRatio="none" aria-hidden="true">
      <rect width="320" height="6" />
      {gains.map((gain, i) => (
        <path
          class={`share-${i + 1}`}
          d={`M${widthOf(before(i)).toFixed(1)} 0v6h${Math.max(0, widthOf(gain) - 1.5).toFixed(1)}v-6z`}
        />
      ))}
    </svg>
  );
};
