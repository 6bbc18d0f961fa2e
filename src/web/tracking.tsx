import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../config/config.js";
import { repositoryKey } from "../lib/page-addresses.js";
import { type RepositoryAddress, readRepositoryAddress } from "../repositories/repositories.js";
import { MAX_PASTED } from "../tracking/tracking.js";
import type { FrameRequest, PageRequest } from "./page-request.js";

/** Requests to track repositories, as pages offer them: who may request which, and the forms. */

/** A repository that is not tracked yet and may be requested. */
export interface TrackingOffer extends RepositoryAddress {
  /** Whether the visitor has to sign in first. */
  needsSignIn: boolean;
}

/** Maximum number of offers on a page. */
const MAX_OFFERS = 6;

/** Whether this visitor may request repositories, perhaps after signing in. */
export function mayRequest(request: Pick<FrameRequest, "tracking" | "account" | "members">): boolean {
  const { access, forges } = request.tracking;
  if (access === "off" || forges.length === 0) return false;
  if (!needsSignIn(request)) return true;
  const { mail, sites } = request.members.accounts;
  return mail.isOn || sites.length > 0;
}

/** Whether this visitor has to sign in to request repositories. */
export function needsSignIn({ tracking, account }: Pick<FrameRequest, "tracking" | "account">): boolean {
  return tracking.access === "accounts" && account === undefined;
}

/**
 * The repositories that these texts name and that may be requested, each once and at most six. Leaves out texts that are no
 * addresses and repositories that are known. Costs one query per repository; none while requests are off.
 */
export async function offerTracking(
  request: PageRequest,
  texts: readonly string[],
): Promise<TrackingOffer[]> {
  if (!mayRequest(request)) return [];
  const { tracking, modules } = request;
  const addresses = new Map<string, RepositoryAddress>();
  for (const text of texts) {
    const address = readRepositoryAddress(text, tracking.forges);
    if (!("problem" in address)) addresses.set(repositoryKey(address).toLowerCase(), address);
  }
  const offers: TrackingOffer[] = [];
  for (const { provider, fullName } of [...addresses.values()].slice(0, MAX_OFFERS)) {
    const known = await modules.trackRequests.known({ provider, fullName });
    if (known === undefined) offers.push({ provider, fullName, needsSignIn: needsSignIn(request) });
  }
  return offers;
}

interface TrackButtonsProps {
  offers: readonly TrackingOffer[];
  /** The text of the buttons; default: with the name of each repository. */
  label?: string;
}

/** Buttons that request repositories; nothing without offers. */
export const TrackButtons: FC<TrackButtonsProps> = ({ offers, label }) => {
  const [first] = offers;
  if (first === undefined) return null;
  const forges = [...new Set(offers.map(({ provider }) => forgeName(provider)))].join(" and ");
  return (
    <>
      <div class="buttons">
        {offers.map((offer) => (
          <form method="post" action="/track">
            <input type="hidden" name="repository" value={repositoryKey(offer)} />
            <button type="submit" class="press">
              {label ?? `Track ${offer.fullName}`}
            </button>
          </form>
        ))}
      </div>
      <p class="soft small">
        We look {offers.length === 1 ? "it" : "them"} up on {forges}.
        {first.needsSignIn ? " You sign in first." : ""}
      </p>
    </>
  );
};

export interface TrackFormProps {
  /** The submitted text. */
  text?: string;
  problem?: string | undefined;
  /** Whether visitors sign in first. */
  needsSignIn: boolean;
  /** Whether the links in a README may be requested. */
  mayReadLists: boolean;
}

/** Characters of a submitted text that are shown again. */
const MAX_SHOWN = 20_000;

/** One field for a repository, several, or a text with links. */
export const TrackForm: FC<TrackFormProps> = ({ text = "", problem, needsSignIn, mayReadLists }) => (
  <form method="post" action="/track" class="box track-form">
    <div class="field">
      <label for="repository">Repositories: names, addresses, or a text with links to them</label>
      <textarea
        id="repository"
        name="repository"
        rows={3}
        required
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        placeholder="owner/name, or paste a list"
        aria-invalid={problem === undefined ? undefined : "true"}
        aria-describedby={problem === undefined ? undefined : "repository-problem"}
      >
        {text.slice(0, MAX_SHOWN)}
      </textarea>
      {problem === undefined ? null : (
        <p class="wrong" id="repository-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
    {mayReadLists ? (
      <p>
        <label>
          <input type="checkbox" name="readme" value="1" />
          It is an awesome list: track what its README links to
        </label>
      </p>
    ) : null}
    <button type="submit" class="press">
      Track
    </button>
    <p class="soft small">
      Up to {MAX_PASTED} at a time.{needsSignIn ? " You sign in first, and come back here afterwards." : ""}
    </p>
  </form>
);
