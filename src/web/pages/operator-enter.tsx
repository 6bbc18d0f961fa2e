import { OPERATOR_COOKIE, OPERATOR_MS } from "../../accounts/accounts.js";
import { AppError } from "../../lib/errors.js";
import { Command } from "../components/elements.js";
import { cookieIn, setCookie } from "../cookies.js";
import type { Handler, OperatorRequest, Page, PageHandler, PageRequest, Redirect } from "../page-request.js";

/** Becoming an operator without an account, and the check that all pages of operators make. */

/** Names the command that prints an address with a key, and takes that key. */
const ENTER_PAGE = "/operator/enter";

/** Takes the key in the address that the start or the command printed: the browser that opens it becomes the operator. */
export async function showEnter(request: PageRequest): Promise<Page | Redirect> {
  checkHere(request);
  const { operator, url, members } = request;
  const key = url.searchParams.get("key");
  if (key !== null && request.http.isView) {
    const token = await members.operators.enterByKey(key);
    if (token !== undefined) {
      members.events.record("operator_entered", request.http);
      return { location: "/", status: 303, cookies: [setCookie(request, OPERATOR_COOKIE, token)] };
    }
    if (operator?.isRecent !== true) {
      members.events.record("operator_refused", request.http);
      return enterPage(request, KEY_INVALID);
    }
  }
  if (operator?.isRecent === true) return { location: key === null ? "/operator" : "/", status: 303 };
  return enterPage(request);
}

/** Ends the session that a key began. That of an account continues. */
export async function leave(request: OperatorRequest): Promise<Redirect> {
  const { members } = request.site;
  const token = cookieIn(request, OPERATOR_COOKIE);
  if (token !== undefined) await members.operators.leave(token);
  members.events.record("operator_left", request.http);
  return { location: "/", status: 303, cookies: [setCookie(request, OPERATOR_COOKIE, undefined)] };
}

/**
 * Calls the handler of a page or a form for operators. Somebody who may open an address with a key is led to its page; for everybody
 * else the page does not exist.
 */
export function operatorsOnly(handler: Handler<OperatorRequest>): PageHandler {
  return (request, form) => {
    const { operator } = request;
    const isStale = operator?.accountId === null && !operator.isRecent;
    return operator === undefined || isStale ? elsewhere(request) : handler({ ...request, operator }, form);
  };
}

function elsewhere(request: PageRequest): Redirect {
  checkHere(request);
  return { location: ENTER_PAGE, status: 303 };
}

function checkHere({ http, members: { operators } }: PageRequest): void {
  if (operators.mayUseKey(http.locality() === "local")) return;
  // The same error as for an address without a page.
  const proxied = operators.hasKeys && http.locality() === "proxied" ? ` ${PROXIED}` : "";
  throw new AppError("NOT_FOUND", `This address does not exist.${proxied}`);
}

const PROXIED =
  "The request has a header that only proxies add, and behind a proxy no key makes an operator: open the address directly, or set SIDEREAL_BASE_URL, SIDEREAL_TRUSTED_PROXIES and SIDEREAL_OPERATORS.";

const KEY_INVALID = "This key was used before, has expired after an hour, or was replaced by another one.";

function enterPage({ site }: PageRequest, problem?: string): Page {
  const isInMemory = site.storage.databaseUrl === undefined && site.storage.dataDir === ":memory:";
  return {
    title: "Set up this service",
    status: problem === undefined ? 200 : 400,
    body: (
      <div class="narrow">
        <h1>Set up this service</h1>
        <p class="lead">
          Confirm that you run this service: open the address with a key that it printed when it started. No
          account needed.
        </p>
        {problem === undefined ? null : (
          <p class="wrong" role="alert">
            {problem}
          </p>
        )}
        {isInMemory ? (
          <p>Its data is in memory, so another start prints another address.</p>
        ) : (
          <>
            <p>
              While the service runs, each of these prints a new address, depending on how you installed it:
            </p>
            <Command text={COMMANDS} />
          </>
        )}
        <p class="soft small">
          A key works once, within an hour, and replaces the one before it. Then this browser may enter tokens
          for {OPERATOR_MS / 60_000} minutes, and request repositories for a month.
        </p>
      </div>
    ),
  };
}

const COMMANDS = `sidereal operator-key
docker compose exec sidereal sidereal operator-key
npm run -s sidereal -- operator-key`;
