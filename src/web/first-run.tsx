import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../config/config.js";
import { databaseFault } from "../database/database.js";
import { Note } from "./components/elements.js";
import { Interruption, isInterrupted } from "./components/forge-state.js";
import type { Page, PageRequest, Result } from "./page-request.js";
import { type ForgeProgress, Progress, readProgress } from "./progress.js";
import { mayRequest, needsSignIn, TrackForm } from "./tracking.js";

/**
 * The first steps, shown until there is growth of one's own: in an empty catalogue, beside the sample, and in the first hours. And what
 * keeps forges from being read.
 */

/** The pages that show them. */
const PAGES: ReadonlySet<string> = new Set(["/", "/explore"]);
/** How often the progress is updated, and the page loaded again without scripts. */
const UPDATE_SECONDS = 5;
const RELOAD_SECONDS = 60;

interface FirstRunProps {
  kind: "empty" | "sample" | "young";
  tracked: readonly string[];
  forges: readonly ForgeProgress[];
  now: number;
  /** Where tokens are entered; undefined for visitors who may not. */
  tokensPage: string | undefined;
  form: { needsSignIn: boolean; mayReadLists: boolean } | undefined;
}

/** Adds to a first page why forges are not read, and the first steps if they are needed. Both change without the catalogue. */
export async function withFirstRun(request: PageRequest, result: Result): Promise<Result> {
  if ("location" in result || !PAGES.has(request.url.pathname) || (result.status ?? 200) !== 200)
    return result;
  const kind = await kindOf(request);
  const { operator, members, tracked, now } = request;
  // Visitors see how old the data is.
  if (kind === undefined && operator === undefined) return result;
  const forges = await readProgress(request).catch((error: unknown) => {
    if (databaseFault(error) === undefined) throw error;
  });
  if (forges === undefined) return { ...result, isFresh: true };
  const tokensPage =
    operator !== undefined ? "/operator/tokens" : members.operators.hasCodes ? "/operator" : undefined;
  const interruptions = (
    <div data-live="interruptions" data-seconds={UPDATE_SECONDS}>
      {operator === undefined ? (
        <Late forges={forges} now={now} tokensPage={tokensPage} />
      ) : (
        forges.map(({ provider, worker }) => <Interruption provider={provider} worker={worker} now={now} />)
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
  const props: FirstRunProps = {
    kind,
    tracked,
    forges,
    now,
    tokensPage,
    form: mayRequest(request)
      ? { needsSignIn: needsSignIn(request), mayReadLists: operator !== undefined }
      : undefined,
  };
  const page: Page = {
    ...result,
    // Without a forge nothing is being read.
    ...(props.forges.length > 0 && { refreshSeconds: RELOAD_SECONDS, isLive: true }),
    isFresh: true,
    body: (
      <>
        {interruptions}
        {kind === "empty" ? result.body : null}
        <FirstRun {...props} />
        {kind === "empty" ? null : result.body}
      </>
    ),
  };
  return page;
}

async function kindOf({
  summary,
  modules,
  tracked,
}: PageRequest): Promise<FirstRunProps["kind"] | undefined> {
  if (summary.catalogue === "sample") return "sample";
  if (summary.catalogue !== "real") return undefined;
  if (summary.repositories === 0) return "empty";
  const { trending } = await modules.rankings.home();
  return tracked.length > 0 && trending.ids.length === 0 ? "young" : undefined;
}

/** Names the forges that are not read, to visitors. */
const Late: FC<Pick<FirstRunProps, "forges" | "now" | "tokensPage">> = ({ forges, now, tokensPage }) => {
  const late = forges.filter(({ worker }) => isInterrupted(worker, now));
  if (late.length === 0) return null;
  return (
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

const TITLES = {
  empty: "How to begin",
  sample: "Track what you care about",
  young: "The first hours",
} as const;

const FirstRun: FC<FirstRunProps> = ({ kind, tracked, forges, now, tokensPage, form }) => (
  <aside class="start" aria-label={TITLES[kind]}>
    <p class="start-title">{TITLES[kind]}</p>
    <p class="read">
      Sidereal takes snapshots of public repositories, and ranks them by how fast they grow. Every number
      comes from what this service has read itself or imported.
    </p>
    <ol class="steps">
      <li>
        <strong>Turn on a forge.</strong>{" "}
        {tracked.length > 0 ? (
          <>
            {new Intl.ListFormat("en").format(tracked.map(forgeName))} {tracked.length === 1 ? "is" : "are"}{" "}
            tracked.
            {tokensPage === undefined || forges.every(hasToken) ? null : (
              <>
                {" "}
                <a href={tokensPage}>Enter a token</a> for more requests.
              </>
            )}
          </>
        ) : tokensPage === undefined ? (
          <>
            Its operator enters a token at <code>/operator/tokens</code>, or starts the service with{" "}
            <code>SIDEREAL_PROVIDERS=github,codeberg</code>.
          </>
        ) : (
          <>
            <a class="button press" href={tokensPage}>
              Enter a token
            </a>{" "}
            of GitHub, GitLab or Codeberg, or start the service with{" "}
            <code>SIDEREAL_PROVIDERS=github,codeberg</code>. <ThisMachine tokensPage={tokensPage} />
          </>
        )}
      </li>
      <li>
        <strong>Choose repositories.</strong>{" "}
        {tracked.length === 0
          ? "Then there is a field here for names, addresses and lists; popular ones are found without it."
          : form === undefined
            ? "Popular ones are found on their own. Its operator may add others."
            : "Popular ones are found on their own. Add others here:"}
        {form === undefined ? null : <TrackForm {...form} />}
      </li>
      <li>
        <strong>Watch them being read.</strong>{" "}
        {forges.length === 0 ? (
          "Counts show up within a minute, and growth after the second snapshot, half a day later."
        ) : (
          <div data-live="progress">
            <Progress forges={forges} now={now} />
          </div>
        )}
      </li>
    </ol>
    <p class="soft small">
      Have history already? <code>sidereal import</code> reads files of archives.{" "}
      <a href="/about#begin">More ways to begin</a>
    </p>
  </aside>
);

/** Whether the worker has used a token for this forge. */
const hasToken = ({ worker }: ForgeProgress): boolean =>
  worker?.report.quota.some(({ token }) => token !== "anonymous") ?? false;

/** A hint for somebody who is not known as an operator yet. */
const ThisMachine: FC<{ tokensPage: string }> = ({ tokensPage }) =>
  tokensPage === "/operator" ? (
    <>This works in a browser on the machine itself, with a code from its log.</>
  ) : null;

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
