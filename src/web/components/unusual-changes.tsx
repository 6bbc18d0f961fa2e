import type { FC } from "hono/jsx";
import { type Anomaly, type Trend, WINDOW_LABELS, WINDOWS, type Window } from "../../rankings/rankings.js";
import { formatCount, formatDate } from "./numbers.js";

/** The name of each kind of anomaly, and its effect on the scores. */
const KINDS: Readonly<Record<Anomaly["kind"], { title: string; effect: string }>> = {
  FAILED_READING: { title: "Failed reading", effect: "It is not compared with any other." },
  UNCONFIRMED: {
    title: "Unconfirmed reading",
    effect: "Until it is confirmed, the reading before it is used.",
  },
  RETURN: { title: "Dropped and recovered", effect: "Neither way counts as growth." },
  LEVEL_SHIFT: { title: "Level shift", effect: "The gain does not count." },
  BURST: { title: "Burst", effect: "Only the part supported by other counts is counted." },
  PURGE: { title: "Purge", effect: "The loss counts in full." },
};

const CLEARED = {
  BREADTH: "Forks have followed since, so the part they support counts.",
  TIME: "It has kept its stars for a month, so all of it counts.",
} as const;

/** Events of one kind shown before the others are folded. */
const SHOWN = 1;

/** What happened at one time: an anomaly of stars, and those of other counts that came with it. */
interface Event {
  kind: Anomaly["kind"];
  anomalies: readonly Anomaly[];
  at: number;
  until: number;
  /** The windows whose growth it is in. */
  windows: readonly Window[];
}

/** The anomalies of all windows, each once, joined where counts moved at the same time; the latest first. */
function eventsOf(trends: Readonly<Record<Window, Trend | null>>): Event[] {
  const found = WINDOWS.flatMap((window) =>
    (trends[window]?.anomalies ?? []).map((anomaly) => ({ window, anomaly })),
  );
  const together = Map.groupBy(found, ({ anomaly: { kind, at } }) => `${kind} ${at}`);
  return [...together.values()]
    .flatMap((same): Event[] => {
      const [first] = same;
      if (first === undefined) return [];
      const byMeasure = new Map(same.map(({ anomaly }) => [anomaly.measure, anomaly]));
      const anomalies = [...byMeasure.values()];
      return [
        {
          kind: first.anomaly.kind,
          anomalies,
          at: first.anomaly.at,
          until: Math.max(...anomalies.map(({ until }) => until)),
          windows: WINDOWS.filter((window) => same.some((one) => one.window === window)),
        },
      ];
    })
    .sort((a, b) => b.at - a.at);
}

/** What is unusual in the growth of a repository, each event once, whatever window is shown; nothing without any. */
export const UnusualChanges: FC<{ trends: Readonly<Record<Window, Trend | null>> }> = ({ trends }) => {
  const byKind = Map.groupBy(eventsOf(trends), ({ kind }) => kind);
  if (byKind.size === 0) return null;
  return (
    <div class="note" role="note">
      <p>
        <strong>Unusual changes.</strong> The numbers do not say who caused them or why.
      </p>
      <ul>
        {[...byKind.values()].map((events) => (
          <li>
            {events.slice(0, SHOWN).map((event) => (
              <EventText event={event} />
            ))}
            {events.length <= SHOWN ? null : (
              <details>
                <summary>{formatCount(events.length - SHOWN)} more like this</summary>
                <ul>
                  {events.slice(SHOWN).map((event) => (
                    <li>
                      <EventText event={event} />
                    </li>
                  ))}
                </ul>
              </details>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
};

const EventText: FC<{ event: Event }> = ({ event: { kind, anomalies, at, until, windows } }) => {
  const { cleared, sameDay } = anomalies[0] ?? {};
  const [from, to] = [formatDate(at), formatDate(until)];
  return (
    <>
      <strong>{KINDS[kind].title}</strong>, {from === to ? from : `${from} to ${to}`}:{" "}
      {anomalies.map(({ reason }) => reason).join("; ")}.{" "}
      {cleared === undefined ? KINDS[kind].effect : CLEARED[cleared.by]}{" "}
      {`Affects growth over ${windows.map((window) => WINDOW_LABELS[window]).join(", ")}.`}
      {sameDay === undefined
        ? null
        : ` On that day ${formatCount(sameDay.fell)} of ${formatCount(sameDay.compared)} repositories of the forge lost stars, and ${formatCount(sameDay.jumped)} gained far more than usual.`}
    </>
  );
};
