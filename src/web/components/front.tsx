import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { CurrentCounters, ListRow } from "../../discovery/discovery.js";
import { gainWords, type Trend, timesUsual, WINDOW_LABELS, type Window } from "../../growth/growth.js";
import { repositoryKey } from "../../lib/page-addresses.js";
import { type ListStars, SaveButton } from "../saving.js";
import { OwnerImage } from "./badges.js";
import { Language, NameLink } from "./elements.js";
import { capital, Delta, formatCount, withEmoji } from "./numbers.js";
import { Move } from "./repository-list.js";
import { Bars, DayBars, gainsBetween } from "./small-charts.js";
import { Times } from "./why.js";

/** The first places of a ranking: one as a story, others as cards, and short lists of names. */

/** Places at the front: the story and two cards. */
export const FRONT = 3;

/** What a time is called: of old measurements, without words for the present. */
export function timeWords(window: Window, isPast: boolean): string {
  if (isPast || window === "30d") return `in ${WINDOW_LABELS[window]}`;
  return window === "24h" ? "today" : "this week";
}

/** "GitHub and Codeberg", "GitHub and 2 more forges": those that have repositories. */
export function forgesText(providers: CurrentCounters["providers"]): string {
  const [first = "", second, ...others] = providers
    .filter(({ repositories }) => repositories > 0)
    .sort((a, b) => b.repositories - a.repositories)
    .map(({ provider }) => forgeName(provider));
  const more = others.length === 0 ? second : `${others.length + 1} more forges`;
  return more === undefined ? first : `${first} and ${more}`;
}

interface FrontProps {
  rows: readonly ListRow[];
  window: Window;
  isPast: boolean;
  /** Stars at the ends of the last 30 days, by repository. */
  days: ReadonlyMap<number, readonly (number | null)[]>;
  /** As in a list. */
  moves: ReadonlyMap<number, number>;
  stars: ListStars;
  /** Why the day of the first place is a record; empty if it is none. */
  record: string;
}

/** The first place as a story, and the next two next to it. */
export const Front: FC<FrontProps> = (home) => {
  const [first, ...others] = home.rows.slice(0, FRONT);
  return first?.trend === undefined ? null : (
    <div class="front">
      <Lead {...home} row={first} trend={first.trend} />
      <div class="cards">
        {others.map((row, i) => (
          <SmallCard
            row={row}
            days={home.days.get(row.repository.id) ?? []}
            place={<Place {...home} row={row} place={i + 2} />}
          />
        ))}
      </div>
    </div>
  );
};

const Place: FC<{ row: ListRow; place: number; moves: FrontProps["moves"] }> = ({ row, place, moves }) => (
  <span class="place">
    {place}
    {moves.size === 0 ? null : <Move ranks={moves.get(row.repository.id)} />}
  </span>
);

type LeadProps = FrontProps & { row: ListRow; trend: Trend };

const Lead: FC<LeadProps> = (home) => {
  const { row, trend, days, window, isPast, stars } = home;
  const { repository } = row;
  const { saved, next = "/" } = stars;
  const { owner, provider, language, description } = repository;
  return (
    <article class="card story">
      <div>
        <div class="story-head">
          <Place {...home} place={1} />
          <OwnerImage owner={owner} provider={provider} size={48} isFirst />
          <div>
            <h2>
              <NameLink repository={repository} window={window} />
            </h2>
            <Language name={language} />
          </div>
        </div>
        <p class="soft">
          <bdi>{withEmoji(description ?? "")}</bdi>
        </p>
        <p class="hero">
          <Delta value={trend.starsDelta} /> <small>stars {timeWords(window, isPast)}</small>
        </p>
        <p class="say">
          <Story {...home} />
        </p>
        <div class="buttons">
          {saved === undefined ? null : (
            <SaveButton repositoryId={repository.id} isSaved={saved.has(repository.id)} next={next} />
          )}
          <a class="button" href={`/compare?repo=${repositoryKey(repository)}`}>
            Compare
          </a>
        </div>
      </div>
      <div>
        <DayBars
          values={gainsBetween(days.get(repository.id) ?? [])}
          end={trend.to}
          usual={trend.usualPerDay}
          wide={{ width: 432, height: 296 }}
          narrow={{ width: 340, height: 150 }}
        />
      </div>
    </article>
  );
};

/** At most three facts: how unusual the gain is, whether it is a record, and the totals before and after. */
const Story: FC<LeadProps> = ({ row: { repository }, trend, days, window, isPast, record }) => {
  const isUnusual = (timesUsual(trend) ?? 0) >= 2;
  const counted = gainWords(trend)?.full ?? record;
  const before = window === "24h" ? (days.get(repository.id)?.at(-8) ?? null) : trend.starsFrom;
  const ago = window === "30d" ? "30 days" : "a week";
  const total = formatCount(repository.stars);
  return (
    <>
      {isUnusual ? (
        <>
          <Times trend={trend} /> its usual {window === "24h" ? "day" : "pace"}
        </>
      ) : null}
      {counted === "" ? (isUnusual ? ". " : "") : `${isUnusual ? `, ${counted}` : capital(counted)}. `}
      {before === null
        ? `It ${isPast ? "had" : "has"} ${total} stars.`
        : isPast
          ? `It had ${formatCount(before)} stars ${ago} earlier, ${total} then.`
          : `It had ${formatCount(before)} stars ${ago} ago, ${total} now.`}
    </>
  );
};

interface SmallCardProps {
  row: ListRow;
  days: readonly (number | null)[];
  place?: Child;
}

/** A repository with its gain and its days. */
export const SmallCard: FC<SmallCardProps> = ({ row: { repository, trend }, days, place }) => (
  <article class="card small-card">
    {place}
    <div>
      <h3>
        <OwnerImage owner={repository.owner} provider={repository.provider} isFirst />
        <NameLink repository={repository} {...(trend && { window: trend.window })} />
      </h3>
      <p class="about">
        <bdi>{withEmoji(repository.description ?? "")}</bdi>
      </p>
    </div>
    <div>
      <Bars values={gainsBetween(days)} width={168} height={56} />
      <p>
        <b>
          <Delta value={trend?.starsDelta} />
        </b>{" "}
        <Times trend={trend} />
        <small>{formatCount(repository.stars)} stars</small>
      </p>
    </div>
  </article>
);

interface SideProps {
  heading: string;
  /** The whole list. */
  href?: string;
  rows: readonly { row: ListRow; lead?: Child; facts: Child }[];
}

/** A short list of names with a fact or two each; nothing without rows. */
export const Side: FC<SideProps> = ({ heading, href, rows }) =>
  rows.length === 0 ? null : (
    <section>
      <h2>{href === undefined ? heading : <a href={href}>{heading}</a>}</h2>
      <ol class="side">
        {rows.map(({ row: { repository, trend }, lead, facts }) => (
          <li>
            {lead ?? <OwnerImage owner={repository.owner} provider={repository.provider} />}
            <NameLink repository={repository} {...(trend && { window: trend.window })} />
            {facts}
          </li>
        ))}
      </ol>
    </section>
  );
