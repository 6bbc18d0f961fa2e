import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../config/config.js";
import { databaseFault } from "../database/database.js";
import { writeCookie } from "../lib/cookies.js";
import { Note } from "./components/elements.js";
import {
  type ForgeProgress,
  Interruption,
  isInterrupted,
  Progress,
  readProgress,
} from "./components/tracking-state.js";
import { SAMPLE_HIDDEN } from "./cookies.js";
import type { Page, PageRequest, Redirect, Result } from "./page-request.js";

/** The progress of the first hours, the note on the sample, and what keeps forges from being read. */

/** The pages that show what keeps forges from being read. */
const PAGES: ReadonlySet<string> = new Set(["/", "/explore"]);
/** How often the progress is updated, and the page loaded again without scripts. */
const UPDATE_SECONDS = 5;
const RELOAD_SECONDS = 60;

/** Adds to a first page why forges are not read, and the first steps if they are needed. Both change without the catalogue. */
export async function withFirstRun(request: PageRequest, result: Result): Promise<Result> {
  if ("location" in result || !PAGES.has(request.url.pathname) || (result.status ?? 200) !== 200)
    return result;
  const kind = await kindOf(request);
  const { operator, members, now } = request;
  // Visitors see how old the data is.
  if (kind === undefined && operator === undefined) return result;
  const forges = await readProgress(request).catch((error: unknown) => {
    if (databaseFault(error) === undefined) throw error;
  });
  if (forges === undefined) return { ...result, isFresh: true };
  const tokensPage =
    operator !== undefined ? "/operator/tokens" : members.operators.hasKeys ? "/operator" : undefined;
  // Visitors see which forges are not read, operators why.
  const late = forges.filter(({ status }) => isInterrupted(status?.worker, now));
  const interruptions = (
    <div data-live="interruptions" data-seconds={UPDATE_SECONDS}>
      {operator === undefined ? (
        late.length === 0 ? null : (
          <Note>
            {new Intl.ListFormat("en").format(late.map(({ provider }) => forgeName(provider)))} cannot be read
            at the moment, so {late.length === 1 ? "its" : "their"} numbers are late.
            {tokensPage === undefined ? null : (
              <>
                {" "}
                <a href={tokensPage}>Operators see why</a>
              </>
            )}
          </Note>
        )
      ) : (
        forges.map(({ provider, status }) => (
          <Interruption provider={provider} worker={status?.worker} now={now} />
        ))
      )}
    </div>
  );
  if (kind === undefined)
    return {
      ...result,
      body: (
        <>
          {interruptions}
          {result.body}
        </>
      ),
    };
  const walked = forges.filter(({ provider }) => request.walked.includes(provider));
  const page: Page = {
    ...result,
    // Without a forge nothing is being read.
    ...(walked.length > 0 && { refreshSeconds: RELOAD_SECONDS, isLive: true }),
    isFresh: true,
    body: (
      <>
        {interruptions}
        {result.body}
        {request.tracking.forges.length > 0 ? null : (
          <p>
            No forge is tracked: the operator of this service enters a token at{" "}
            {tokensPage === undefined ? (
              <code>/operator/tokens</code>
            ) : (
              <a href={tokensPage}>/operator/tokens</a>
            )}
            , or starts the service with <code>SIDEREAL_PROVIDERS=github,codeberg</code>.
          </p>
        )}
        {walked.length === 0 || kind === "sample" ? null : (
          <section>
            <h2>Tracking</h2>
            <div data-live="progress">
              <Progress forges={walked} request={request} />
            </div>
            {tokensPage === undefined || walked.every(hasToken) ? null : (
              <p>
                <a href={tokensPage}>Enter a token</a> for more requests an hour.
              </p>
            )}
          </section>
        )}
      </>
    ),
  };
  return page;
}

/** Whether the worker has used a token for this forge. */
const hasToken = ({ status }: ForgeProgress): boolean =>
  status?.worker?.report.quota.some(({ token }) => token !== "anonymous") ?? false;

async function kindOf({
  summary,
  modules,
  walked,
}: PageRequest): Promise<"empty" | "sample" | "young" | undefined> {
  if (summary.catalogue === "sample") return "sample";
  if (summary.catalogue !== "real") return undefined;
  if (summary.repositories === 0) return "empty";
  const { trending } = await modules.rankings.home();
  return walked.length > 0 && trending.ids.length === 0 ? "young" : undefined;
}

/** An empty catalogue. The home page and Explore say how to begin; other pages lead there. */
export const Nothing: FC<{ leadsHome?: boolean }> = ({ leadsHome = false }) => (
  <>
    <h1>No repositories yet</h1>
    <p class="lead">
      Repositories show up here after their first snapshot, and their growth after the second.
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
export function dismissSample({ baseUrl }: PageRequest): Redirect {
  return { location: "/", status: 303, cookies: [writeCookie(SAMPLE_HIDDEN, "hidden", baseUrl)] };
}
