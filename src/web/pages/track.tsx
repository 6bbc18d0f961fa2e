import { AppError } from "../../lib/errors.js";
import { explorePage, repositoryKey, repositoryPage, trackListPage } from "../../lib/page-addresses.js";
import {
  parseAsked,
  type RepositoryAddress,
  readRepositoryAddress,
} from "../../repositories/repositories.js";
import { MAX_PASTED } from "../../tracking/tracking.js";
import { formatCount } from "../components/numbers.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { AskForm, FIELD_SCRIPTS } from "../tracking.js";
import { toSignIn } from "./sign-in.js";

/** The field for repositories, filled in by the address of the page. */
export function showTrackForm(request: PageRequest): Page {
  return formPage(request, request.url.searchParams.get("repository") ?? "");
}

/** Opens or requests repositories. Visitors who have to sign in first come back to the form, filled in. */
export async function requestRepository(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const text = form.get("repository")?.trim() ?? "";
  const next = form.get("next") ?? "";
  try {
    const location = await ask(request, text, form.get("as") === "links");
    return { location: /^\/compare\?/.test(next) ? next : location, status: 303 };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "UNAUTHENTICATED") return toSignIn(request, formPath(request, text));
    if (error.code !== "VALIDATION_FAILED") throw error;
    const [detail] = error.details ?? [];
    return formPage(request, text, detail === undefined ? error.message : `The text ${detail.message}.`);
  }
}

/** Where the answer to a text is shown: a repository, a list, or a search. Throws VALIDATION_FAILED with what is wrong. */
async function ask(request: PageRequest, text: string, asLinks: boolean): Promise<string> {
  const { modules, tracking, requester, operator } = request;
  const { trackRequests } = modules;
  const asked = parseAsked(text, tracking.forges);
  switch (asked.kind) {
    case "problem":
      throw wrong(asked.problem);
    case "name":
      return explorePage(new URLSearchParams({ q: asked.name }));
    case "owner":
      return explorePage(new URLSearchParams({ q: asked.owner }));
    case "readme":
    case "repositories": {
      const addresses = asked.kind === "readme" ? [asked] : asked.addresses;
      const [only, ...others] = addresses;
      if (only === undefined) throw wrong("must name a repository");
      if (others.length > 0) return askSeveral(request, addresses);
      if (asLinks && operator !== undefined) return trackListPage(await trackRequests.addReadme(only));
      const found = await trackRequests.request(repositoryKey(only), tracking, requester);
      return repositoryPage("repository" in found ? found.repository : found.request);
    }
  }
}

const wrong = (message: string) =>
  new AppError("VALIDATION_FAILED", "This text names no repository.", {
    details: [{ parameter: "repository", message }],
  });

async function askSeveral(
  { modules, tracking, requester }: PageRequest,
  addresses: readonly RepositoryAddress[],
): Promise<string> {
  if (tracking.access === "off")
    throw new AppError("FORBIDDEN", "Requests are off: the operator chooses the repositories.");
  if (tracking.access === "accounts" && !requester.hasAccount)
    throw new AppError("UNAUTHENTICATED", "Sign in to request repositories.");
  if (addresses.length > MAX_PASTED)
    throw wrong(`names ${formatCount(addresses.length)} repositories: send at most ${MAX_PASTED} at a time`);
  return trackListPage(await modules.trackRequests.addPasted(addresses, requester.adding));
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
        <AskForm {...{ request, text, problem }} isCentre />
      </>
    ),
  };
}
