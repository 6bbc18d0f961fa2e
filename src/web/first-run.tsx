import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../config/config.js";
import { databaseFault } from "../database/database.js";
import { Note } from "./components/elements.js";
import {
  type ForgeProgress,
  Interruption,
  isInterrupted,
  Progress,
  readProgress,
} from "./components/tracking-state.js";
import { SAMPLE_HIDDEN, setCookie } from "./cookies.js";
import type { PageRequest, Redirect, Result } from "./page-request.js";

/** The progress of the first hours, the note on the sample, and the reasons why forges are not read. */

/** How often the progress is updated, and the page loaded again without scripts. */
const UPDATE_SECONDS = 5;
const RELOAD_SECONDS = 60;

/** Adds to a first page why forges are not read, and the first steps if they are needed. Both change without the catalogue. */
export async function withFirstRun(request: PageRequest, result: Result): Promise<Result> {
  if ("location" in result || (result.status ?? 200) !== 200) return result;
  const { operator, modules, members } = request;
  const tracked = await modules.forges.current();
  const walked = tracked.filter(({ onDemand }) => onDemand !== true);
  const kind = await kindOf(request, walked.length > 0);
  // Visitors see how old the data is.
  if (kind === undefined && operator === undefined) return result;
  const forges = await readProgress(modules).catch((error: unknown) => {
    if (databaseFault(error) === undefined) throw error;
  });
  if (forges === undefined) return { ...result, isFresh: true };
  const tokensPage =
    operator !== undefined ? "/operator/tokens" : members.operators.hasKeys ? "/operator" : undefined;
  const shown =
    kind === "sample" ? [] : forges.filter(({ provider }) => walked.some(({ name }) => name === provider));
  return {
    ...result,
    // Without a forge nothing is being read.
    ...(kind !== undefined && walked.length > 0 && { refreshSeconds: RELOAD_SECONDS, isLive: true }),
    ...(kind !== undefined && { isFresh: true }),
    body: (
      <>
        <div data-live="interruptions" data-seconds={UPDATE_SECONDS}>
          <Interruptions {...{ request, forges, tokensPage }} />
        </div>
        {result.body}
        {kind === undefined || tracked.length > 0 ? null : <NoForge tokensPage={tokensPage} />}
        {kind === undefined || shown.length === 0 ? null : (
          <FirstProgress {...{ request, tokensPage }} forges={shown} />
        )}
      </>
    ),
  };
}

interface FirstRunProps {
  request: PageRequest;
  forges: readonly ForgeProgress[];
  /** Where tokens are entered; undefined if nobody can. */
  tokensPage: string | undefined;
}

/** Which forges are not read, for visitors; for operators why. */
const Interruptions: FC<FirstRunProps> = ({ request: { operator, now }, forges, tokensPage }) => {
  if (operator !== undefined)
    return (
      <>
        {forges.map(({ provider, status }) => (
          <Interruption provider={provider} worker={status?.worker} now={now} />
        ))}
      </>
    );
  const late = forges.filter(({ status }) => isInterrupted(status?.worker, now));
  return late.length === 0 ? null : (
    <Note>
      {new Intl.ListFormat("en").format(late.map(({ provider }) => forgeName(provider)))} cannot be read at
      the moment, so {late.length === 1 ? "its" : "their"} numbers are late.
      {tokensPage === undefined ? null : (
        <>
          {" "}
          <a href={tokensPage}>Operators see why</a>
        </>
      )}
    </Note>
  );
};

const NoForge: FC<Pick<FirstRunProps, "tokensPage">> = ({ tokensPage }) => (
  <p>
    No forge is tracked: the operator of this service enters a token at{" "}
    {tokensPage === undefined ? <code>/operator/tokens</code> : <a href={tokensPage}>/operator/tokens</a>}, or
    starts the service with <code>SIDEREAL_PROVIDERS=github,codeberg</code>.
  </p>
);

const FirstProgress: FC<FirstRunProps> = ({ request, forges, tokensPage }) => (
  <section>
    <h2>Tracking</h2>
    <div data-live="progress">
      <Progress forges={forges} request={request} />
    </div>
    {tokensPage === undefined || forges.every(hasToken) ? null : (
      <p>
        <a href={tokensPage}>Enter a token</a> for more requests an hour.
      </p>
    )}
  </section>
);

/** Whether the worker has used a token for this forge. */
const hasToken = ({ status }: ForgeProgress): boolean =>
  status?.worker?.report.quota.some(({ token }) => token !== "anonymous") ?? false;

/** `isWalked`: whether the lists of some forge are read. */
async function kindOf(
  { summary, modules }: PageRequest,
  isWalked: boolean,
): Promise<"empty" | "sample" | "young" | undefined> {
  if (summary.catalogue === "sample") return "sample";
  if (summary.catalogue !== "real") return undefined;
  if (summary.repositories === 0) return "empty";
  const { trending } = await modules.rankings.home();
  return isWalked && trending.ids.length === 0 ? "young" : undefined;
}

/** An empty catalogue. The home page and Explore say how to begin; other pages lead there. */
export const Nothing: FC<{ leadsHome?: boolean }> = ({ leadsHome = false }) => (
  <>
    <h1>No repositories yet</h1>
    <p class="lead">
      Type a repository above. Its chart appears in seconds.
      {leadsHome ? (
        <>
          {" "}
          <a href="/">How to begin</a>
        </>
      ) : null}
    </p>
  </>
);

/** Hides the note on the sample in this browser. */
export function dismissSample(request: PageRequest): Redirect {
  return { location: "/", status: 303, cookies: [setCookie(request, SAMPLE_HIDDEN, "hidden")] };
}
