import { databaseFault } from "../database/database.js";
import { AppError, errorAnchor } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import { DOCS_PAGE } from "../lib/page-addresses.js";
import type { StoredResponse } from "./response.js";
import { content, type Form, type HttpRequest, type Reply, type Route } from "./route.js";

/** Errors in the forms that need a renderer of their own. */
export interface ErrorRenderers {
  /** A page, for people. */
  page: (error: AppError, request: HttpRequest) => Promise<Reply>;
  /** A drawing, since an image tag would show nothing of any other response. It is sent with status 200. */
  picture: (error: AppError, request: HttpRequest) => Reply;
}

interface ErrorContext {
  request: HttpRequest;
  form: Form;
  accept: string | undefined;
}

type ErrorShape = "json" | "problem" | "text" | "page" | "picture";

/** The shape that the caller reads: problem details or JSON if its Accept header names them, else the form of the route. */
export function errorShape(form: Form, accept: string | undefined): ErrorShape {
  const isProblem = acceptsProblem(accept);
  if (form === "page" && accept?.includes("text/html")) return "page";
  if (form === "picture" && !isProblem && !accept?.trim().startsWith("application/json")) return "picture";
  if (form === "file" && !accept?.includes("json")) return "text";
  return isProblem ? "problem" : "json";
}

/** Whether a caller accepts errors as RFC 9457. */
function acceptsProblem(accept: string | undefined): boolean {
  return accept?.includes("application/problem+json") ?? false;
}

/** Turns errors into responses: the only place that does. */
export class ErrorResponder {
  readonly #renderers: ErrorRenderers;
  readonly #log: Logger;
  readonly #baseUrl: string;

  constructor({ renderers, log, baseUrl }: { renderers: ErrorRenderers; log: Logger; baseUrl: string }) {
    this.#renderers = renderers;
    this.#log = log;
    this.#baseUrl = baseUrl;
  }

  async respond(error: AppError, { request, form, accept }: ErrorContext): Promise<Reply> {
    const shape = errorShape(form, accept);
    try {
      if (shape === "picture") {
        const reply = errorReply(error, this.#renderers.picture(error, request));
        // The image proxies of forges pass on nothing but a 200. A request of an unknown method is described as a GET.
        const isOfImage = ["GET", "HEAD"].includes(request.method) && error.code !== "METHOD_NOT_ALLOWED";
        return isOfImage ? { ...reply, sentAs: 200 } : reply;
      }
      if (shape === "page") return errorReply(error, await this.#renderers.page(error, request));
    } catch (cause) {
      // A failure here must not hide the error itself.
      this.#log.error({ err: cause, requestId: request.id }, "an error could not be rendered");
    }
    if (shape === "text")
      return errorReply(error, content("text/plain; charset=utf-8", `${error.message}\n`));
    return acceptsProblem(accept) ? this.#problem(error, request.id) : jsonError(error, request.id);
  }

  /** An error as problem details (RFC 9457). Its type is the address of the description of its code. */
  #problem(error: AppError, requestId: string): Reply {
    const { code, message, status, details } = error;
    const type = `${this.#baseUrl}${DOCS_PAGE}#${errorAnchor(code)}`;
    const title = code.charAt(0) + code.slice(1).toLowerCase().replaceAll("_", " ");
    const body = { type, title, status, detail: message, code, requestId, ...(details && { details }) };
    return errorReply(error, content("application/problem+json; charset=utf-8", JSON.stringify(body)));
  }
}

export function jsonError(error: AppError, requestId: string): Reply {
  const { code, message, details } = error;
  const body = { data: null, error: { code, message, requestId, ...(details && { details }) } };
  return errorReply(error, content("application/json; charset=utf-8", JSON.stringify(body)));
}

/** A rendered error with the status and the headers that all errors have. */
function errorReply(error: AppError, { headers, body }: Reply): Reply {
  const { status, code } = error;
  return {
    status,
    body,
    errorCode: code,
    headers: {
      Vary: "Accept, Accept-Encoding",
      ...headers,
      "Cache-Control": "no-store",
      ...(status === 503 ? { "Retry-After": "5" } : {}),
      ...error.headers,
    },
  };
}

/** The error of a request while the database does not respond. */
export class DatabaseAway extends AppError {
  constructor(cause?: unknown) {
    super("UNAVAILABLE", "The database is not available; try again.", { cause });
  }
}

/** The refusal of requests while the database does not respond: always this object, so that a refusal costs little. */
export const DATABASE_AWAY = new DatabaseAway();

/** Whatever was thrown, as an error that may be shown. */
export function toAppError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return databaseFault(cause) === undefined
    ? new AppError("INTERNAL", "Something went wrong here. The log names this request by its id.", { cause })
    : new DatabaseAway(cause);
}

/** Instead of the id of a request: as long as one, and with a character that none has. */
const ID = "(request-id)";

/** Instead of the seconds to wait, in the texts and headers of an error: about as wide as a number, and in no other text. */
export const WAIT = "~s~";

const PLACEHOLDERS = /(\(request-id\)|~s~)/;

/** Why a request is refused before anything is done for it. */
export interface Refusal {
  /** For each reason always the same object. */
  error: AppError;
  /** The text in place of WAIT. */
  waitSeconds?: number | undefined;
}

/** The error of a refusal with the seconds to wait. */
export function refusalNow({ error, waitSeconds }: Refusal): AppError {
  const wait = String(waitSeconds ?? "");
  const fill = (text: string) => text.replaceAll(WAIT, wait);
  return new AppError(error.code, fill(error.message), { headers: { "Retry-After": wait } });
}

/** A refusal, and everything else that its response depends on. */
export interface RefusalContext extends Refusal {
  route: Pick<Route, "form" | "access">;
  /** The form of the error, and whatever else of the request its response contains. There must be few different ones. */
  shape: string;
  id: string;
}

interface Prepared {
  response: StoredResponse;
  /** The body, split at its placeholders; undefined if it has none. */
  parts: readonly string[] | undefined;
  /** The header that is WAIT; -1 if none is. */
  waitAt: number;
}

/**
 * Responses to errors that are always the same object, such as when the service is overloaded: each is rendered once for every form,
 * access and shape, without anything of the request that comes first. After that it only gets the id of the request and the
 * seconds to wait. Then a refusal costs much less than the refused work.
 */
export class Refusals {
  readonly #prepared = new WeakMap<AppError, Map<string, Prepared>>();

  /** `render`: makes the response with a given id. */
  async respond(
    { error, waitSeconds, route, shape, id }: RefusalContext,
    render: (id: string) => Promise<StoredResponse>,
  ): Promise<StoredResponse> {
    const known = this.#prepared.get(error) ?? new Map<string, Prepared>();
    this.#prepared.set(error, known);
    const key = `${route.form} ${route.access} ${shape}`;
    let prepared = known.get(key);
    if (prepared === undefined) {
      prepared = prepare(await render(ID));
      known.set(key, prepared);
    }
    const { response, parts, waitAt } = prepared;
    if (parts === undefined && waitAt < 0) return response;
    const wait = String(waitSeconds ?? "");
    const values: Readonly<Record<string, string>> = { [ID]: id, [WAIT]: wait };
    return {
      ...response,
      headers: waitAt < 0 ? response.headers : response.headers.with(waitAt, wait),
      body:
        parts === undefined
          ? response.body
          : Buffer.from(parts.map((part) => values[part] ?? part).join(""), "latin1"),
      variants: new Map(),
    };
  }
}

function prepare(response: StoredResponse): Prepared {
  const parts = response.body.toString("latin1").split(PLACEHOLDERS);
  return {
    response,
    parts: parts.length > 1 ? parts : undefined,
    waitAt: response.headers.indexOf(WAIT),
  };
}
