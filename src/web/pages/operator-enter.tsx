import { CODE_MS, createBrowserSecret, OPERATOR_MS } from "../../accounts/accounts.js";
import { AppError } from "../../lib/errors.js";
import { Field, MainButton } from "../components/elements.js";
import { isView, OPERATOR, type PageCookie, readCookie, secretIn, writeCookie } from "../cookies.js";
import type { Handler, OperatorRequest, Page, PageHandler, PageRequest, Redirect } from "../page-request.js";

/** Becoming an operator at the machine, and the check that all pages of operators make. */

/** Where somebody at the machine types the code from its log. */
const ENTER_PAGE = "/operator/enter";

/** A secret of the browser that requested a code: in another one the code is worth nothing. */
const BROWSER: PageCookie = { name: "sidereal.machine", path: "/operator", seconds: CODE_MS / 1_000 };
/** Longer texts are no codes. */
const MAX_TYPED = 40;

/**
 * Takes the code from the log, or the key in the address that the start printed: the browser that opens that becomes the operator. For
 * everybody who is not at the machine the page does not exist.
 */
export async function showEnter(request: PageRequest): Promise<Page | Redirect> {
  checkHere(request);
  const { operator, url } = request;
  const key = url.searchParams.get("key");
  if (operator?.isRecent === true) return { location: key === null ? "/operator" : "/", status: 303 };
  if (key === null || !isView(request)) return enterPage({ isLogged: url.searchParams.has("logged") });
  const token = await request.members.operators.enterByKey(key);
  request.members.events.record(token === undefined ? "operator_refused" : "operator_entered", request);
  if (token === undefined) return enterPage({ isLogged: false, problem: KEY_USED });
  return { location: "/", status: 303, cookies: [writeCookie(OPERATOR, token, request.baseUrl)] };
}

/** Writes a code into the log. */
export async function requestCode(request: PageRequest): Promise<Redirect> {
  checkHere(request);
  const { members, baseUrl } = request;
  const browser = secretIn(BROWSER, request) ?? createBrowserSecret();
  await members.operators.logCode(browser);
  members.events.record("operator_code_logged", request);
  const cookies = [writeCookie(BROWSER, browser, baseUrl)];
  return { location: `${ENTER_PAGE}?logged=1`, status: 303, cookies };
}

export async function submitCode(request: PageRequest, form: URLSearchParams): Promise<Page | Redirect> {
  checkHere(request);
  const { members, baseUrl } = request;
  const browser = secretIn(BROWSER, request);
  const typed = form.get("code") ?? "";
  const isPossible = browser !== undefined && typed.length <= MAX_TYPED;
  const token = isPossible ? await members.operators.enter(browser, typed) : undefined;
  members.events.record(token === undefined ? "operator_refused" : "operator_entered", request);
  if (token === undefined) return enterPage({ isLogged: true, problem: NOT_VALID });
  const cookies = [writeCookie(OPERATOR, token, baseUrl), writeCookie(BROWSER, undefined, baseUrl)];
  return { location: "/operator", status: 303, cookies };
}

/** Ends the session that a code began. That of an account goes on. */
export async function leave(request: OperatorRequest): Promise<Redirect> {
  const { members, cookie, baseUrl } = request;
  const token = readCookie(OPERATOR, cookie, baseUrl);
  if (token !== undefined) await members.operators.leave(token);
  members.events.record("operator_left", request);
  return { location: "/", status: 303, cookies: [writeCookie(OPERATOR, undefined, baseUrl)] };
}

/**
 * Calls the handler of a page or a form for operators. Somebody at the machine can become one; for everybody else the page does not
 * exist.
 */
export function operatorsOnly(handler: Handler<OperatorRequest>): PageHandler {
  return (request, form) => {
    const { operator } = request;
    const isStale = operator?.accountId === null && !operator.isRecent;
    return operator === undefined || isStale ? elsewhere(request) : handler({ ...request, operator }, form);
  };
}

function elsewhere({ members, isOnThisMachine }: PageRequest): Redirect {
  if (members.operators.mayUseCode(isOnThisMachine)) return { location: ENTER_PAGE, status: 303 };
  throw notFound();
}

function checkHere({ members, isOnThisMachine }: PageRequest): void {
  if (!members.operators.mayUseCode(isOnThisMachine)) throw notFound();
}

/** The same error as for an address without a page. */
function notFound(): AppError {
  return new AppError("NOT_FOUND", "This address does not exist.");
}

/** One message for everything that can be wrong with a code. */
const NOT_VALID =
  "The code is wrong, was used before, or has expired. After five wrong codes, get a new one.";

const KEY_USED =
  "This address was opened before, or is of an earlier start. Start the service again for another one, or use a code from its log.";

interface EnterProps {
  /** Whether a code may be in the log. */
  isLogged: boolean;
  problem?: string;
}

function enterPage({ isLogged, problem }: EnterProps): Page {
  return {
    title: "Set up this service",
    status: problem === undefined ? 200 : 400,
    body: (
      <div class="narrow">
        <h1>Set up this service</h1>
        <p class="lead">
          Confirm that you run this server: it prints a code in its log. No account needed, and only on its
          own machine.
        </p>
        {problem === undefined || isLogged ? null : (
          <p class="wrong" role="alert">
            {problem}
          </p>
        )}
        <form method="post" action="/operator/code" class="buttons">
          <button type="submit" class={isLogged ? undefined : "press"}>
            {isLogged ? "Print another code" : "Print code"}
          </button>
        </form>
        {isLogged ? (
          <form method="post" action="/operator/enter" class="box">
            <Field
              name="code"
              label="Code from the log"
              problem={problem}
              required
              maxlength={MAX_TYPED}
              autocomplete="one-time-code"
              placeholder="1234 5678"
              isLiteral
            />
            <MainButton>Continue</MainButton>
            <p class="soft small">
              The log is where you started the service: look for “this code opens the operator's page”. The
              code works once, in this browser, for {CODE_MS / 60_000} minutes. Then you have{" "}
              {OPERATOR_MS / 60_000} minutes.
            </p>
          </form>
        ) : null}
      </div>
    ),
  };
}
