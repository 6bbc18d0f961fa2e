import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../config/config.js";
import { quotaOf } from "../http/http.js";
import { DAY_MS } from "../lib/clock.js";
import { repositoryKey, repositoryPage } from "../lib/page-addresses.js";
import { addressReader, type Repository, type RepositoryAddress } from "../repositories/repositories.js";
import type { Requester, TrackList, TrackPolicy, TrackRequest } from "../tracking/tracking.js";
import { MainButton, RepositoryField } from "./components/elements.js";
import { isReading } from "./components/tracking-state.js";
import type { Taken } from "./naming.js";
import type { FrameRequest, PageRequest, RenderContext } from "./page-request.js";

/** Requests to track repositories, as pages offer them: who may request which, and the forms. */

/** A repository that is not tracked yet and may be requested. */
export interface TrackingOffer extends RepositoryAddress {
  /** Whether the visitor has to sign in first. */
  needsSignIn: boolean;
}

/** Maximum number of offers on a page. */
const MAX_OFFERS = 6;

/** Who may request repositories here, as far as it concerns the sender of a request. */
export interface Asking {
  policy: TrackPolicy;
  requester: Requester;
  /** Whether the sender may request some, perhaps after signing in. */
  isOpen: boolean;
  needsSignIn: boolean;
}

/** Costs a query at most once a second. */
export async function readAsking(request: FrameRequest): Promise<Asking> {
  const { site, modules, members, http, account, operator } = request;
  // Operators decide what is tracked.
  const { access, perDay } =
    operator === undefined ? site.tracking : ({ access: "everyone", perDay: undefined } as const);
  const forges = await modules.forges.current();
  const needsSignIn = access === "accounts" && account === undefined;
  const { mail, sites } = members.accounts;
  return {
    policy: { access, forges },
    requester: {
      hasAccount: account !== undefined,
      mayReadLists: operator !== undefined,
      adding: quotaOf(http.caller, perDay === undefined ? undefined : { tracked: perDay }),
    },
    isOpen: access !== "off" && forges.length > 0 && (!needsSignIn || mail.isOn || sites.length > 0),
    needsSignIn,
  };
}

/** A text that names a repository which is being read. */
export interface ReadName {
  text: string;
  request: TrackRequest;
}

/**
 * Of the repositories that these texts name, each once and at most six: those that may be requested, and those that are being
 * read. Leaves out texts that are no addresses and repositories that are known. Costs two queries per repository; none while
 * requests are off.
 */
export async function offerTracking(
  { modules: { trackRequests } }: Pick<PageRequest, "modules">,
  { policy, isOpen, needsSignIn }: Asking,
  texts: readonly string[],
): Promise<{ offers: TrackingOffer[]; reading: ReadName[] }> {
  const offers: TrackingOffer[] = [];
  const reading: ReadName[] = [];
  if (!isOpen) return { offers, reading };
  const addresses = new Map<string, RepositoryAddress & { text: string }>();
  for (const text of texts) {
    const address = addressReader(policy.forges)(text);
    if (!("problem" in address)) addresses.set(repositoryKey(address).toLowerCase(), { ...address, text });
  }
  for (const { provider, fullName, text } of [...addresses.values()].slice(0, MAX_OFFERS)) {
    if ((await trackRequests.known({ provider, fullName })) !== undefined) continue;
    const asked = await trackRequests.progress({ provider, fullName });
    if (asked !== undefined && isReading(asked)) reading.push({ text, request: asked });
    else offers.push({ provider, fullName, needsSignIn });
  }
  return { offers, reading };
}

/** The open request of a repository that was recorded in the last day; undefined without one. Costs a query for those alone. */
export async function readingOf(
  { modules, now }: PageRequest,
  { provider, fullName, discoveredAt }: Repository,
): Promise<TrackRequest | undefined> {
  if (discoveredAt < now - DAY_MS) return undefined;
  const asked = await modules.trackRequests.progress({ provider, fullName });
  return asked !== undefined && isReading(asked) ? asked : undefined;
}

/** The comparison that a form comes back to; undefined for any other address. */
export function comparisonIn(next: string | null): string | undefined {
  return next?.startsWith("/compare?") === true ? next : undefined;
}

interface TrackButtonProps {
  offers: readonly TrackingOffer[];
  /** The comparison to come back to; default: the progress. */
  next?: string;
}

/** The button that requests repositories; nothing without offers. */
export const TrackButton: FC<TrackButtonProps> = ({ offers, next }) => {
  const [first, ...others] = offers;
  if (first === undefined) return null;
  const forges = [...new Set(offers.map(({ provider }) => forgeName(provider)))].join(" and ");
  return (
    <form method="post" action="/track" class="buttons">
      <input type="hidden" name="repository" value={offers.map(repositoryKey).join(" ")} />
      {next === undefined ? null : <input type="hidden" name="next" value={next} />}
      <MainButton>
        {others.length === 0 ? `Track ${first.fullName}` : `Track all ${offers.length}`}
      </MainButton>
      <span class="soft small">
        Reads {others.length === 0 ? "its history" : "their histories"} on {forges}.
        {first.needsSignIn ? " Sign in to add it." : ""}
      </span>
    </form>
  );
};

/**
 * Requests those of the names that are addresses, for a watchlist that they are added to. Returns the id of the list of requests;
 * undefined if the sender may not request any, or none is an address.
 */
export async function requestFor(
  request: PageRequest,
  names: readonly string[],
  watchlist: () => Promise<{ id: number }>,
): Promise<string | undefined> {
  const { policy, requester, isOpen, needsSignIn } = await readAsking(request);
  const read = addressReader(policy.forges);
  const found = names.map((name) => ({ name, address: read(name) }));
  const addresses = found.flatMap(({ address }) => ("problem" in address ? [] : address));
  if (!isOpen || needsSignIn || addresses.length === 0) return undefined;
  const wrong = found.flatMap(({ name, address }) => ("problem" in address ? name : []));
  const { id: watchlistId } = await watchlist();
  return request.modules.trackRequests.addPasted(addresses, requester.adding, { wrong, watchlistId });
}

const STATE_WORDS: Readonly<Record<TrackRequest["state"], string>> = {
  WAITING: "waiting",
  FOUND: "added",
  HISTORY: "added",
  FINISHED: "added",
  FAILED: "not added",
};

/** Repositories that were requested together, each with its state, and the words that name none. */
export const Requested: FC<{ list: Pick<TrackList, "requests" | "wrong"> }> = ({
  list: { requests, wrong },
}) =>
  requests.length + wrong.length === 0 ? null : (
    <ul class="plain" aria-label="Requested repositories">
      {requests.map((one) => (
        <li>
          <a href={repositoryPage(one)}>
            <bdi>{one.fullName}</bdi>
          </a>
          : {one.failure?.message ?? STATE_WORDS[one.state]}
        </li>
      ))}
      {wrong.map((word) => (
        <li>
          <code>{word.slice(0, 100)}</code>: not tracked here
        </li>
      ))}
    </ul>
  );

/** The address of a page with the name that its repository was taken for. */
export function withTaken(location: string, text: string): string {
  const [path = "", query = ""] = location.split("?");
  const parameters = new URLSearchParams(query);
  parameters.set("asked", text);
  return `${path}?${parameters}`;
}

interface NotItProps extends Pick<Taken, "text" | "others"> {
  mayAsk: boolean;
  /** The comparison that it is for: its address with another repository, and as it was sent. */
  comparison?: { hrefOf: (repository: Repository) => string; next: string };
}

/** Other repositories that a name without an owner may have meant, and the way to look for more. */
export const NotIt: FC<NotItProps> = ({ text, others, mayAsk, comparison }) =>
  others.length === 0 && !mayAsk ? null : (
    <form method="post" action="/track" class="not-it soft small">
      Not it?{" "}
      {others.map((repository) => (
        <>
          <a href={comparison?.hrefOf(repository) ?? repositoryPage(repository)}>{repository.fullName}</a>,{" "}
        </>
      ))}
      <input type="hidden" name="repository" value={text} />
      {comparison === undefined ? null : <input type="hidden" name="next" value={comparison.next} />}
      {mayAsk ? (
        <button type="submit" class="plain" name="as" value="name">
          Look for “{text}” on the forges
        </button>
      ) : null}
    </form>
  );

interface AskFormProps {
  asking: Asking;
  /** The last text. */
  text?: string;
  /** Why it names nothing. */
  problem?: string | undefined;
  /** Whether it is the first thing on its page. */
  isCentre?: boolean;
  /** Whether its page shows what it adds, and says so. */
  isAdding?: boolean;
}

/** Browser modules of a page with the field. */
export const FIELD_SCRIPTS = ["field.js"] as const;

/**
 * The one field for repositories: names, addresses of any page of a repository, several of them, or an owner. Opens what is
 * tracked, and requests the rest; for visitors who may not request any, it searches for it.
 */
export const AskForm: FC<AskFormProps> = (
  { asking, text = "", problem, isCentre = false, isAdding = false },
  { isStatic }: RenderContext,
) => {
  if (isStatic) return null;
  const { isOpen: isAsking, needsSignIn } = asking;
  return (
    <form
      method={isAsking ? "post" : "get"}
      action="/track"
      class={isCentre ? "row-form ask" : isAdding ? "row-form add" : "row-form"}
      data-opens=""
    >
      <RepositoryField
        name="repository"
        label={isCentre || isAdding ? "Type a repository, see its history" : "Repository"}
        problem={problem}
        value={text}
        {...(isAsking ? {} : { maxlength: 200 })}
        required
      />
      <MainButton>{isAdding ? "Add" : "Show"}</MainButton>
      {isAsking && !needsSignIn ? null : (
        <p class="soft small">
          {isAsking
            ? "Sign in to add new ones."
            : asking.policy.access === "accounts"
              ? "New repositories need sign-in, which is not set up here: the operator of this service adds them."
              : "The operator of this service adds repositories, and may let others do so."}
        </p>
      )}
    </form>
  );
};
