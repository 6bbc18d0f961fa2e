import type { FunctionComponent as FC } from "preact";
import { MAX_SERIES } from "../../charts/charts.js";
import { forgeName } from "../../config/config.js";
import { AppError } from "../../lib/errors.js";
import {
  explorePage,
  repositoryKey,
  repositoryPage,
  trackListPage,
  trackQuestionPage,
} from "../../lib/page-addresses.js";
import { addressReader, type RepositoryAddress } from "../../repositories/repositories.js";
import type { AskOutcome, TrackList, TrackPolicy } from "../../tracking/tracking.js";
import { type Fact, Facts } from "../components/elements.js";
import { formatCount, repositoriesText } from "../components/numbers.js";
import { findNamed, spelledOut } from "../naming.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { AskForm, comparisonIn, FIELD_SCRIPTS, Requested, readAsking, withTaken } from "../tracking.js";
import { toSignIn } from "./sign-in.js";

/** The field for repositories, filled in by the address of the page. Visitors who may not request any get a search for it. */
export async function showTrackForm(request: PageRequest): Promise<Page | Redirect> {
  const text = request.url.searchParams.get("repository") ?? "";
  if (text === "" || (await readAsking(request)).isOpen) return formPage(request, text);
  const [id] = (await findNamed(request.modules, text)).ids;
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
  const asking = await readAsking(request);
  try {
    const { modules } = request;
    const isName = form.get("as") === "name";
    const { text: spelled, taken } = isName ? { text, taken: [] } : await spelledOut(modules, text);
    const names = spelled.split(/\s+/);
    if (next !== undefined && names.length > 1) {
      for (const name of names.slice(0, MAX_SERIES)) await modules.trackRequests.request(name, asking);
      return { location: next, status: 303 };
    }
    const as = (["repository", "links"] as const).find((one) => one === form.get("as"));
    const outcome = await modules.trackRequests.ask(spelled, asking, as);
    if (outcome.kind === "choice") return choicePage(outcome);
    const isTaken = taken.length === 1 && names.length === 1 && outcome.kind === "repository";
    const location = pageOf(outcome, next);
    return { location: isTaken ? withTaken(location, text) : location, status: 303 };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "UNAUTHENTICATED") return toSignIn(request, formPath(asking.policy, text));
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
export async function showTrackRequest({ modules, http }: PageRequest): Promise<Redirect> {
  const found = await modules.trackRequests.find(http.params.requestId ?? "");
  if (found === undefined)
    throw new AppError("NOT_FOUND", "No such request. Requests are removed a week after they end.");
  const repository = found.repositoryId === null ? undefined : await modules.catalog.find(found.repositoryId);
  return { location: repositoryPage(repository ?? found), status: 302 };
}

/** The path of the form, filled in. */
function formPath({ forges }: TrackPolicy, text: string): string {
  const address = addressReader(forges)(text);
  const repository = "problem" in address ? text : repositoryKey(address);
  return `/track?${new URLSearchParams({ repository })}`;
}

async function formPage(request: PageRequest, text: string, problem?: string): Promise<Page> {
  const asking = await readAsking(request);
  return {
    title: "Track repositories",
    status: problem === undefined ? 200 : 400,
    scripts: FIELD_SCRIPTS,
    body: (
      <>
        <h1>Track repositories</h1>
        <AskForm {...{ asking, text, problem }} />
        {asking.requester.mayReadLists === true ? (
          <p class="soft small">
            With <code>#readme</code> after its address, a repository can stand for those that its README
            links to.
          </p>
        ) : null}
      </>
    ),
  };
}

const REFRESH_SECONDS = 3;

/** The progress of repositories that were requested together. */
export async function showTrackList(request: PageRequest): Promise<Page> {
  const list = await request.modules.trackRequests.findList(request.http.params.listId ?? "");
  if (list === undefined)
    throw new AppError("NOT_FOUND", "No such list. Lists are removed a week after they are requested.");
  const isOver = list.failure !== null || (list.isRead && list.waiting === 0);
  return {
    title: titleOf(list),
    ...(isOver ? {} : { refreshSeconds: REFRESH_SECONDS, isLive: true }),
    body: (
      <div data-live="list">
        <h1>{titleOf(list)}</h1>
        <p class="lead" role="status">
          {leadOf(list, isOver)}
        </p>
        {list.isRead && list.failure === null ? (
          <>
            <p>
              <label>
                <span class="hidden">Done</span>
                <progress value={list.found - list.waiting} max={Math.max(1, list.found)} />
              </label>
            </p>
            <Facts facts={factsOf(list)} />
          </>
        ) : null}
        <Requested list={list} />
        {list.leftOutNames.length === 0 ? null : <LeftOut list={list} />}
        {isOver ? (
          <p>
            <a class="button press" href="/explore?sort=created">
              Explore
            </a>{" "}
            <a class="button" href="/track">
              Track others
            </a>
          </p>
        ) : (
          <p class="soft small">This page updates itself. You can close it and come back to its address.</p>
        )}
      </div>
    ),
  };
}

function titleOf({ source, found, isRead }: TrackList): string {
  if (source !== null) return `Tracking what ${source.fullName} links to`;
  return isRead && found === 1 ? "Tracking 1 repository" : `Tracking ${formatCount(found)} repositories`;
}

const LeftOut: FC<{ list: TrackList }> = ({ list: { leftOut, leftOutNames } }) => (
  <form method="post" action="/track" class="box">
    <div class="field">
      <label for="left-out">
        Left out: {repositoriesText(leftOut)}
        {leftOut > leftOutNames.length ? `; the first ${formatCount(leftOutNames.length)}` : ""}
      </label>
      <textarea id="left-out" name="repository" rows={8} spellcheck={false}>
        {leftOutNames.join("\n")}
      </textarea>
    </div>
    <button type="submit">Track these too</button>
    <p class="soft small">
      Each list, each day and the queue of each forge has a limit. What is refused now fits tomorrow (UTC).
    </p>
  </form>
);

function leadOf({ source, isRead, failure, waiting, found }: TrackList, isOver: boolean): string {
  if (failure !== null) return `Its README cannot be read. ${failure.message}`;
  if (!isRead && source !== null) return `Its README waits to be read on ${forgeName(source.provider)}.`;
  if (found === 0) return "It links to no repository of a tracked forge.";
  if (isOver) return "All of them are looked up. Their star histories follow, where the forge has them.";
  return `${formatCount(waiting)} wait to be looked up.`;
}

function factsOf({ found, known, recorded, waiting, failed, leftOut }: TrackList): Fact[] {
  const others = found - known - recorded - waiting - failed - leftOut;
  return [
    { name: "Named", value: formatCount(found) },
    { name: "Tracked before", value: formatCount(known) },
    { name: "Added", value: formatCount(recorded) },
    { name: "Waiting", value: formatCount(waiting) },
    ...(failed === 0 ? [] : [{ name: "Not found", value: formatCount(failed) }]),
    ...(leftOut === 0 ? [] : [{ name: "Left out", value: formatCount(leftOut), more: "see below" }]),
    ...(others <= 0 ? [] : [{ name: "Requested by others", value: formatCount(others) }]),
  ];
}
