import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import { AppError } from "../../lib/errors.js";
import { repositoryKey, repositoryPage, trackListPage, trackRequestPage } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import { addressReader, linksIn, readRepositoryAddress } from "../../repositories/repositories.js";
import { MAX_PASTED, type TrackRequest } from "../../tracking/tracking.js";
import { formatCount } from "../components/numbers.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { mayRequest, needsSignIn, TrackForm, type TrackFormProps } from "../tracking.js";
import { toSignIn } from "./sign-in.js";

/** The form that requests a repository, filled in by the address of the page. Where requests are off, it does not exist. */
export function showTrackForm(request: PageRequest): Page {
  if (!mayRequest(request)) throw new AppError("NOT_FOUND", "This address does not exist.");
  return formPage(request, { text: request.url.searchParams.get("repository") ?? "" });
}

/** Requests a repository. Visitors who have to sign in first come back to the form, filled in. */
export async function requestRepository(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const { modules, tracking, requester, operator } = request;
  const text = form.get("repository")?.trim() ?? "";
  if (/\s/.test(text)) return requestList(request, text);
  if (form.has("readme") && operator !== undefined) return requestReadme(request, text);
  try {
    const requested = await modules.trackRequests.request(text, tracking, requester);
    const location =
      "repository" in requested
        ? repositoryPage(requested.repository)
        : trackRequestPage(requested.request.id);
    return { location, status: 303 };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "UNAUTHENTICATED") return toSignIn(request, formPath(request, text));
    if (error.code !== "VALIDATION_FAILED") throw error;
    return formPage(request, {
      text,
      problem: `The address ${error.details?.[0]?.message ?? "is not valid"}.`,
    });
  }
}

/** Requests the repositories that a pasted text links to, under the same rules and daily quota as single ones. */
async function requestList(request: PageRequest, text: string): Promise<Page | Redirect> {
  const { modules, tracking, requester } = request;
  if (!mayRequest(request))
    throw new AppError("FORBIDDEN", "Requests are off: the operator chooses the repositories.");
  if (needsSignIn(request)) return toSignIn(request, "/track");
  const { addresses } = linksIn(text, addressReader(tracking.forges));
  if (addresses.length === 0)
    return formPage(request, { text, problem: "The text names no repository of a tracked forge." });
  if (addresses.length > MAX_PASTED)
    return formPage(request, {
      text,
      problem: `The text names ${formatCount(addresses.length)} repositories. Send at most ${MAX_PASTED} at a time.`,
    });
  const id = await modules.trackRequests.addPasted(addresses, requester.adding);
  return { location: trackListPage(id), status: 303 };
}

/** Requests the repositories that a README links to. The worker reads it. */
async function requestReadme(request: PageRequest, text: string): Promise<Page | Redirect> {
  const address = readRepositoryAddress(text, request.tracking.forges);
  if ("problem" in address) return formPage(request, { text, problem: `The address ${address.problem}.` });
  const id = await request.modules.trackRequests.addReadme(address);
  return { location: trackListPage(id), status: 303 };
}

/** The progress of a request; the page of the repository once all is done. */
export async function showTrackRequest(request: PageRequest): Promise<Page | Redirect> {
  const { modules, params } = request;
  const found = await modules.trackRequests.find(params.requestId ?? "");
  if (found === undefined)
    throw new AppError("NOT_FOUND", "No such request. Requests are removed a week after they end.");
  const { repositoryId, state, fullName } = found;
  const repository = repositoryId === null ? undefined : await modules.catalog.find(repositoryId);
  if (state === "FINISHED" && repository !== undefined)
    return { location: repositoryPage(repository), status: 302 };
  const retry = mayRequest(request) ? formPath(request, repositoryKey(found)) : undefined;
  const refreshSeconds = found.finishedAt === null ? refreshSecondsOf(found) : undefined;
  return {
    title: state === "FAILED" ? `${fullName} is not tracked` : `Tracking ${fullName}`,
    ...(refreshSeconds !== undefined && { refreshSeconds, isLive: true }),
    body: <Progress {...{ request: found, repository, retry, refreshSeconds }} />,
  };
}

/** The path of the form, filled in. */
function formPath({ tracking }: PageRequest, text: string): string {
  const address = readRepositoryAddress(text, tracking.forges);
  const repository = "problem" in address ? text : repositoryKey(address);
  return `/track?${new URLSearchParams({ repository })}`;
}

/** The page reloads itself more often if something is about to happen. */
function refreshSecondsOf({ state, estimatedSeconds }: TrackRequest): number {
  const isSoon = state !== "WAITING" || (estimatedSeconds !== null && estimatedSeconds <= 60);
  return isSoon ? 3 : 15;
}

type FormProps = Pick<TrackFormProps, "text" | "problem">;

function formPage(request: PageRequest, props: FormProps): Page {
  const forges = request.tracking.forges.map(({ name }) => forgeName(name));
  return {
    title: "Track repositories",
    status: props.problem === undefined ? 200 : 400,
    body: (
      <div class="narrow">
        <h1>Track repositories</h1>
        <p class="lead">
          Any public repositories on {new Intl.ListFormat("en", { type: "disjunction" }).format(forges)}.
        </p>
        <TrackForm
          {...props}
          needsSignIn={needsSignIn(request)}
          mayReadLists={request.operator !== undefined}
        />
      </div>
    ),
  };
}

interface ProgressProps {
  request: TrackRequest;
  /** Once it is recorded. */
  repository: Repository | undefined;
  /** Where it can be requested again; undefined where the visitor may not. */
  retry: string | undefined;
  refreshSeconds: number | undefined;
}

const Progress: FC<ProgressProps> = ({ request, repository, retry, refreshSeconds }) => {
  const { state, fullName, failure } = request;
  return (
    <div class="read" data-live="request">
      <h1>{state === "FAILED" ? `${fullName} is not tracked` : `Tracking ${fullName}`}</h1>
      <p class="lead">{failure === null ? stateWords(request) : failure.message}</p>
      {state === "WAITING" ? <Waiting {...request} /> : null}
      {repository === undefined ? null : (
        <p>
          <a class="button press" href={repositoryPage(repository)}>
            Open {repository.fullName}
          </a>
        </p>
      )}
      {state === "FAILED" && retry !== undefined ? (
        <p>
          <a class="button" href={retry}>
            Try again
          </a>
        </p>
      ) : null}
      {refreshSeconds === undefined ? null : (
        <p class="soft small">
          This page updates itself every {refreshSeconds} seconds. You can close it and come back to its
          address.
        </p>
      )}
    </div>
  );
};

function stateWords({ state, provider, historyPages }: TrackRequest): string {
  const forge = forgeName(provider);
  switch (state) {
    case "WAITING":
      return `It waits to be looked up on ${forge}.`;
    case "FOUND":
      return `${forge} has it, and its counts are recorded. Its star history is next.`;
    case "HISTORY":
      return `It is recorded. Its star history is being read: ${formatCount(historyPages)} ${historyPages === 1 ? "page" : "pages"} so far.`;
    default:
      return "It was recorded, and is no longer here.";
  }
}

const Waiting: FC<Pick<TrackRequest, "position" | "estimatedSeconds">> = ({ position, estimatedSeconds }) => (
  <dl class="facts">
    <div>
      <dt>Position</dt>
      <dd>{position === null ? "–" : formatCount(position)}</dd>
    </div>
    <div>
      <dt>Estimated wait</dt>
      <dd>{estimatedSeconds === null ? "unknown: no worker is running" : waitWords(estimatedSeconds)}</dd>
    </div>
  </dl>
);

function waitWords(seconds: number): string {
  if (seconds < 60) return "less than a minute";
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 90) return minutes === 1 ? "about a minute" : `about ${minutes} minutes`;
  return `about ${formatCount(Math.ceil(minutes / 60))} hours`;
}
