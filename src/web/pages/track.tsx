import { MAX_SERIES } from "../../charts/charts.js";
import { AppError } from "../../lib/errors.js";
import {
  explorePage,
  repositoryKey,
  repositoryPage,
  trackListPage,
  trackQuestionPage,
} from "../../lib/page-addresses.js";
import { type RepositoryAddress, readRepositoryAddress } from "../../repositories/repositories.js";
import type { AskOutcome } from "../../tracking/tracking.js";
import { findByLines } from "../naming.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { AskForm, comparisonIn, FIELD_SCRIPTS, mayRequest } from "../tracking.js";
import { toSignIn } from "./sign-in.js";

/** The field for repositories, filled in by the address of the page. Visitors who may not request any get what they named. */
export async function showTrackForm(request: PageRequest): Promise<Page | Redirect> {
  const text = request.url.searchParams.get("repository") ?? "";
  if (text === "" || mayRequest(request)) return formPage(request, text);
  const [id] = (await findByLines(request.modules, [text])).ids;
  const found = id === undefined ? undefined : await request.modules.catalog.find(id);
  const location =
    found === undefined ? explorePage(new URLSearchParams({ q: text })) : repositoryPage(found);
  return { location, status: 302 };
}

/**
 * Opens or requests what a text names, or asks what it means. Visitors who have to sign in first come back to the form, filled in. With
 * `next`, a comparison, its names are requested one by one, so that their histories are read while people wait.
 */
export async function requestRepository(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const text = form.get("repository")?.trim() ?? "";
  const next = comparisonIn(form.get("next"));
  try {
    const { modules, tracking: policy, requester } = request;
    const names = text.split(/\s+/);
    if (next !== undefined && names.length > 1) {
      for (const name of names.slice(0, MAX_SERIES))
        await modules.trackRequests.request(name, policy, requester);
      return { location: next, status: 303 };
    }
    const as = (["repository", "links"] as const).find((one) => one === form.get("as"));
    const outcome = await modules.resolver.ask(text, { policy, requester }, as);
    if (outcome.kind === "choice") return choicePage(outcome);
    return { location: pageOf(outcome, next), status: 303 };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "UNAUTHENTICATED") return toSignIn(request, formPath(request, text));
    if (error.code !== "VALIDATION_FAILED") throw error;
    const [detail] = error.details ?? [];
    return formPage(request, text, detail === undefined ? error.message : `The text ${detail.message}.`);
  }
}

function pageOf(outcome: Exclude<AskOutcome, { kind: "choice" }>, next: string | undefined): string {
  switch (outcome.kind) {
    case "repository":
      return next ?? repositoryPage(outcome.repository);
    case "request":
      return next ?? repositoryPage(outcome.request);
    case "list":
      return trackListPage(outcome.id);
    case "question":
      return trackQuestionPage(outcome.id, next);
  }
}

/** A README may mean its repository, or those that it links to. */
function choicePage({ provider, fullName }: RepositoryAddress): Page {
  const repository = repositoryKey({ provider, fullName });
  return {
    title: `The README of ${fullName}`,
    body: (
      <>
        <h1>
          The README of <bdi>{fullName}</bdi>
        </h1>
        <p class="lead">Track the repository, or those that its README links to?</p>
        <form method="post" action="/track" class="buttons">
          <input type="hidden" name="repository" value={repository} />
          <button type="submit" class="press" name="as" value="repository">
            Track {fullName}
          </button>
          <button type="submit" name="as" value="links">
            Track what its README links to
          </button>
        </form>
      </>
    ),
  };
}

/** The page of a requested repository, which shows the progress. */
export async function showTrackRequest({ modules, params }: PageRequest): Promise<Redirect> {
  const found = await modules.trackRequests.find(params.requestId ?? "");
  if (found === undefined)
    throw new AppError("NOT_FOUND", "No such request. Requests are removed a week after they end.");
  const repository = found.repositoryId === null ? undefined : await modules.catalog.find(found.repositoryId);
  return { location: repositoryPage(repository ?? found), status: 302 };
}

/** The path of the form, filled in. */
function formPath({ tracking }: PageRequest, text: string): string {
  const address = readRepositoryAddress(text, tracking.forges);
  const repository = "problem" in address ? text : repositoryKey(address);
  return `/track?${new URLSearchParams({ repository })}`;
}

function formPage(request: PageRequest, text: string, problem?: string): Page {
  return {
    title: "Track repositories",
    status: problem === undefined ? 200 : 400,
    scripts: FIELD_SCRIPTS,
    body: (
      <>
        <h1>Track repositories</h1>
        <AskForm {...{ request, text, problem }} />
        {request.requester.mayReadLists === true ? (
          <p class="soft small">
            With <code>#readme</code> after its address, a repository can stand for those that its README
            links to.
          </p>
        ) : null}
      </>
    ),
  };
}
