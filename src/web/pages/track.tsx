import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { AppError } from "../../errors.js";
import { forgeName } from "../../forges.js";
import { repositoryKey, repositoryPage, trackRequestPage } from "../../page-addresses.js";
import { MAX_ADDRESS, readRepositoryAddress } from "../../repository-addresses/repository-addresses.js";
import type { TrackRequest } from "../../track-requests/track-requests.js";
import { Field } from "../components/field.js";
import { formatCount } from "../components/numbers.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { mayRequest, needsSignIn } from "../tracking-offer.js";
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
  const { modules, tracking, requester } = request;
  const text = form.get("repository") ?? "";
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

/** The progress of a request; the page of the repository once all is done. */
export async function showTrackRequest(request: PageRequest): Promise<Page | Redirect> {
  const { modules, params } = request;
  const found = await modules.trackRequests.find(params.requestId ?? "");
  if (found === undefined)
    throw new AppError("NOT_FOUND", "There is no such request. Requests are removed a week after they end.");
  const { repositoryId, state, fullName } = found;
  const repository = repositoryId === null ? undefined : await modules.catalog.find(repositoryId);
  if (state === "FINISHED" && repository !== undefined)
    return { location: repositoryPage(repository), status: 302 };
  const retry = mayRequest(request) ? formPath(request, repositoryKey(found)) : undefined;
  const refreshSeconds = found.finishedAt === null ? refreshSecondsOf(found) : undefined;
  return {
    title: state === "FAILED" ? `${fullName} is not tracked` : `Tracking ${fullName}`,
    ...(refreshSeconds !== undefined && { refreshSeconds }),
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

interface FormProps {
  text: string;
  problem?: string;
}

function formPage(request: PageRequest, props: FormProps): Page {
  const forges = request.tracking.forges.map(({ name }) => forgeName(name));
  return {
    title: "Track a repository",
    status: props.problem === undefined ? 200 : 400,
    body: <TrackForm {...props} forges={forges} needsSignIn={needsSignIn(request)} />,
  };
}

const TrackForm: FC<FormProps & { forges: readonly string[]; needsSignIn: boolean }> = ({
  text,
  problem,
  forges,
  needsSignIn: signInFirst,
}) => (
  <div class="narrow">
    <h1>Track a repository</h1>
    <p class="lead">
      Any public repository on {new Intl.ListFormat("en", { type: "disjunction" }).format(forges)}.
    </p>
    <form method="post" action="/track" class="box">
      <Field
        name="repository"
        label="Address or name"
        problem={problem}
        value={text.slice(0, MAX_ADDRESS)}
        required
        maxlength={MAX_ADDRESS}
        placeholder="owner/name or URL"
        isLiteral
      />
      <button type="submit" class="press">
        Track this repository
      </button>
      {signInFirst ? <p class="soft small">You sign in first, and come back here afterwards.</p> : null}
    </form>
  </div>
);

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
    <div class="read">
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
