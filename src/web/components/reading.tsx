import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { TrackRequest } from "../../tracking/tracking.js";
import { type Fact, Facts } from "./elements.js";
import { formatCount, Time } from "./numbers.js";

/** How often the progress is updated, and the page loaded again without scripts. */
export const READING_SECONDS = 1;

/** Whether a request still has something to do. */
export const isReading = ({ finishedAt }: TrackRequest): boolean => finishedAt === null;

/** How far a requested repository is read, and when it continues if its forge permits nothing now. */
export const Reading: FC<{ request: TrackRequest }> = ({ request }) => {
  const facts = factsOf(request);
  return (
    <>
      <p class="lead" role="status">
        {stateWords(request)}
      </p>
      <Wait {...request} />
      {facts.length === 0 ? null : <Facts facts={facts} />}
    </>
  );
};

/** Why nothing is read from a forge at the moment, and until when; nothing if it is. */
export const Wait: FC<Pick<TrackRequest, "provider" | "waitsUntil" | "isUnreachable">> = ({
  provider,
  waitsUntil,
  isUnreachable,
}) =>
  waitsUntil === null ? null : (
    <p>
      {forgeName(provider)}{" "}
      {isUnreachable
        ? "does not respond. Next try: "
        : "permits no more requests at the moment. This continues "}
      <Time at={waitsUntil} exact />.
    </p>
  );

function stateWords({ state, provider, points }: TrackRequest): string {
  const forge = forgeName(provider);
  switch (state) {
    case "WAITING":
      return `Waiting for its turn at ${forge}.`;
    case "FOUND":
      return `Found on ${forge}. Its star history is next.`;
    case "HISTORY":
      return `Its star history is being read, newest first: ${formatCount(points)} counts so far.`;
    default:
      return "Done.";
  }
}

function factsOf({ state, position, estimatedSeconds, pointsFrom }: TrackRequest): Fact[] {
  if (state === "WAITING")
    return [
      { name: "Position", value: position === null ? "–" : formatCount(position) },
      {
        name: "Estimated wait",
        value: estimatedSeconds === null ? "unknown: no worker is running" : waitWords(estimatedSeconds),
        isText: true,
      },
    ];
  return pointsFrom === null || state !== "HISTORY"
    ? []
    : [{ name: "Read back to", value: <Time at={pointsFrom} />, isText: true }];
}

function waitWords(seconds: number): string {
  if (seconds < 60) return "less than a minute";
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 90) return minutes === 1 ? "about a minute" : `about ${minutes} minutes`;
  return `about ${formatCount(Math.ceil(minutes / 60))} hours`;
}
