import type { IncomingMessage, ServerResponse } from "node:http";
import type { Account, KeyedRequest, Source } from "../accounts/accounts.js";
import { databaseFault } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import { CountedLog } from "../lib/counted-log.js";
import type { AppError } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import type { ResponseCache } from "./cache.js";
import {
  accountOf,
  authorize,
  type Identified,
  type Identities,
  identify,
  refusedEvent,
  sourceOf,
} from "./caller.js";
import {
  DATABASE_AWAY,
  DatabaseAway,
  type ErrorRenderers,
  ErrorResponder,
  errorShape,
  type Refusal,
  Refusals,
  refusalNow,
  toAppError,
} from "./errors.js";
import { after, type Caller } from "./limiter.js";
import {
  ABANDONED,
  type Admission,
  type Charge,
  OVERLOADED,
  type QueuedWork,
  type Waiter,
} from "./limits.js";
import {
  AllowedHosts,
  checkHead,
  forwardedFor,
  hasOwnCookie,
  localityOf,
  type Message,
  readForm,
  readJson,
} from "./message.js";
import {
  completeHeaders,
  isRefusal,
  publicAddressOf,
  requestId,
  type StoredResponse,
  storeResponse,
} from "./response.js";
import {
  type ChargedAs,
  costOf,
  type HttpRequest,
  type PublicAddress,
  pathPattern,
  type Route,
} from "./route.js";
import { type Exchange, ResponseSender, Traffic, type UsedAs } from "./sender.js";
import type { UnnamedProxy } from "./server.js";
import { type Outline, type Target, type TargetOptions, Targets } from "./targets.js";

/** A request before anything in it is read. */
type Arrival = Pick<Exchange, "message" | "response" | "address" | "id" | "beganAt">;

interface FrontOptions extends Required<Pick<TargetOptions, "hintFor">> {
  routes: readonly Route[];
  /** Public address of the service, without a trailing slash; it may have a path. */
  baseUrl: string;
  renderers: ErrorRenderers;
  identities: Identities;
  cache: ResponseCache;
  proxy: UnnamedProxy;
  /** Receives every request that was made with a valid key. */
  recordUsage: (request: KeyedRequest) => void;
  clock: Clock;
}

/** Everything between Node's server and the handlers: routing, callers, limits, cache, errors, headers, usage. */
export class Front {
  readonly cache: ResponseCache;
  /** The responses that were sent. */
  readonly traffic = new Traffic();
  readonly #targets: Targets;
  readonly #hosts: AllowedHosts;
  readonly #proxy: UnnamedProxy;
  readonly #identities: Identities;
  readonly #admission: Admission;
  readonly #sender: ResponseSender;
  readonly #errors: ErrorResponder;
  readonly #refusals = new Refusals();
  readonly #address: PublicAddress;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Failures of the database, which concern most requests at a time. */
  readonly #unavailable: CountedLog<{ requestId: string; err: AppError; cause: unknown }>;
  /** Unfinished requests, so that their resources are closed after them. */
  readonly #unfinished = new Set<Promise<unknown>>();

  constructor(options: FrontOptions) {
    const { routes, baseUrl, hintFor, renderers, identities, cache, proxy, recordUsage, clock } = options;
    const { admission, allowedHosts, callers, isOpen, log } = identities;
    this.cache = cache;
    this.#address = publicAddressOf(baseUrl, isOpen);
    this.#targets = new Targets(routes, { ...this.#address, hintFor });
    this.#hosts = new AllowedHosts(allowedHosts, log);
    this.#proxy = proxy;
    this.#identities = identities;
    this.#admission = admission;
    this.#sender = new ResponseSender({ admission, callers, traffic: this.traffic, recordUsage, clock, log });
    this.#errors = new ErrorResponder({ renderers, log, baseUrl });
    this.#clock = clock;
    this.#log = log;
    this.#unavailable = new CountedLog(clock, (failed, last) =>
      log.error({ failed, ...last }, "requests failed: the database is unavailable"),
    );
  }

  /** Handles a request to its end. Never throws. */
  handle(message: IncomingMessage, response: ServerResponse): void {
    try {
      const sending = this.#exchange(message, response);
      if (sending instanceof Promise)
        void this.#untilSettled(sending).catch((error) => this.#abandon(response, error));
    } catch (error) {
      this.#abandon(response, error);
    }
  }

  /** Resolves when nothing is computed or waits for that any longer, also not for callers that have gone. */
  async settled(): Promise<void> {
    while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished);
  }

  #untilSettled<T>(work: Promise<T>): Promise<T> {
    this.#unfinished.add(work);
    const forget = () => this.#unfinished.delete(work);
    work.then(forget, forget);
    return work;
  }

  #abandon(response: ServerResponse, error: unknown): void {
    this.#log.error({ err: error }, "a response could not be sent");
    response.destroy();
  }

  /**
   * From a request to its response: who sends it, whether they may, the response, its cost. Each step is done in this turn unless
   * it must wait, so a cached response takes no promise.
   */
  #exchange(message: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const outline = this.#outline(message);
    // A request under a host that is not allowed may be of a page that wants to be taken for one of ours.
    if (outline.fault?.code !== "MISDIRECTED_REQUEST") this.#proxy.look(message);
    const { callers } = this.#identities;
    const address = callers.callerOf(message.socket.remoteAddress, forwardedFor(message));
    const arrival = { message, response, address, id: requestId(), beganAt: this.#clock.monotonic() };
    const banned = this.#identities.bans.refusalOf(address.name);
    if (banned !== undefined) return this.#refuseBanned({ ...outline, ...arrival }, banned);
    const counted = after(identify(outline, address, this.#identities), (found) =>
      this.#count(arrival, found),
    );
    return after(counted, (exchange) => this.#respond(exchange));
  }

  /** Refuses a request from a banned network, which counts against no limit. */
  #refuseBanned(outline: Omit<Outline, "message"> & Arrival, error: AppError): Promise<void> {
    const { address } = outline;
    this.#identities.recordSecurity(refusedEvent("network_banned", address));
    const exchange = { ...outline, fault: error, caller: address, keyId: undefined, charge: undefined };
    return this.#sendLater(exchange, this.#refuse(exchange, { error }));
  }

  #outline(message: Message): Outline {
    const { url = "/", method = "GET", headers } = message;
    const { host } = headers;
    if (!this.#hosts.accepts(host))
      return this.#faulty(message, this.#targets.misdirected(url), this.#hosts.refusal(host));
    try {
      checkHead(message);
      const known = this.#targets.known(message);
      const target = known ?? this.#targets.outline(message);
      return { message, target, method, fault: undefined, isWhole: known !== undefined };
    } catch (error) {
      return this.#faulty(message, this.#targets.malformed(url), error);
    }
  }

  /** The target of a request that has no other response. */
  #faulty(message: Message, target: Target, error: unknown): Outline {
    return { message, target, method: "GET", fault: toAppError(error), isWhole: true };
  }

  /** The outline with all of the address read. */
  #read(outline: Outline): Outline {
    const { message } = outline;
    try {
      return { ...outline, target: this.#targets.find(message), isWhole: true };
    } catch (error) {
      return this.#faulty(message, this.#targets.malformed(message.url ?? "/"), error);
    }
  }

  /** Counts a request. A caller that has nothing left is refused before the address is read whole. */
  #count(arrival: Arrival, { outline, caller, keyId, charge }: Identified): Exchange | Promise<Exchange> {
    const { address } = arrival;
    const admission = this.#admission;
    const exchangeOf = ({ method, target, fault }: Outline, counted: Charge | undefined): Exchange => {
      return { ...arrival, method, target, fault, caller, keyId, charge: counted };
    };
    const { isWhole, fault } = outline;
    const spent =
      charge ?? (isWhole ? undefined : admission.refusalOf({ caller, address, cost: outline.target.cost }));
    if (spent !== undefined) return exchangeOf(outline, spent);
    const read = isWhole || fault !== undefined ? outline : this.#read(outline);
    return after(admission.charge({ caller, address, cost: read.target.cost }), (counted) =>
      exchangeOf(read, counted),
    );
  }

  /** Runs work for the sender of an exchange as a request to another route; see `ChargedAs`. `note` gets the outcome. */
  async #chargedAs<T extends { units?: number }>(
    { caller, address }: Exchange,
    { route, query }: Parameters<ChargedAs>[0],
    work: () => Promise<T>,
    note: (usedAs: UsedAs) => void,
  ): Promise<T> {
    const name = { method: route.method, route: pathPattern(route) };
    const cost = costOf(route.limit, route.method, query);
    const charge = await this.#admission.charge({ caller, address, cost });
    let outcome: Pick<AppError, "status" | "code"> | undefined;
    let units: number | undefined;
    try {
      if (charge?.refusal !== undefined) throw refusalNow(charge.refusal);
      const result = await work();
      units = result.units;
      return result;
    } catch (error) {
      outcome = toAppError(error);
      throw error;
    } finally {
      const { status = 200, code = null } = outcome ?? {};
      const left = await charge?.settle(status, units, false);
      note({ name, charge, status, code, left });
    }
  }

  #respond(exchange: Exchange): void | Promise<void> {
    const { message, address, target, charge, fault, beganAt } = exchange;
    const { cacheKey, route } = target;
    if (charge?.refusal !== undefined) {
      const { bucket } = charge.decision.policy;
      this.#admission.noteRefusal(bucket);
      this.#identities.recordSecurity(refusedEvent("rate_limited", address, { bucket }));
      return this.#sendLater(exchange, this.#refuse(exchange, charge.refusal));
    }
    if (fault !== undefined) return this.#sendLater(exchange, this.#fail(exchange, fault));
    if (cacheKey === undefined || !(route.cache.kind === "shared" || !hasOwnCookie(message.headers.cookie)))
      return this.#handle(exchange);
    const ready = this.cache.peek(cacheKey, beganAt);
    return ready === undefined ? this.#share(exchange, cacheKey) : this.#sender.send(exchange, ready);
  }

  async #sendLater(exchange: Exchange, stored: Promise<StoredResponse>): Promise<void> {
    return this.#sender.send(exchange, await stored);
  }

  /** Sends the response that others get as well: cached, or computed. */
  async #share(exchange: Exchange, cacheKey: string): Promise<void> {
    let isComputed = false;
    const waiter = this.#waiterOf(exchange);
    const compute = (first: Waiter) => {
      isComputed = true;
      return this.#queue(exchange.target, first, describeShared(exchange));
    };
    const found = this.cache.get(cacheKey, { waiter, compute });
    const stored = await found.catch((error: unknown) => this.#instead(exchange, error));
    if (stored === undefined) exchange.response.destroy();
    else return this.#sender.send(exchange, stored, { isComputed });
  }

  /** Sends the response for one caller. */
  async #handle(exchange: Exchange): Promise<void> {
    const { target, message } = exchange;
    let account: Account | undefined;
    let usedAs: UsedAs | undefined;
    let isComputed = false;
    const note = (outcome: UsedAs) => {
      usedAs = outcome;
    };
    const chargedAs: ChargedAs = (use, work) => this.#chargedAs(exchange, use, work, note);
    const compute = async () => {
      account = await accountOf(exchange, this.#identities.accounts);
      authorize(exchange, account, this.#identities);
      const request = await withBody(message, target.route, { ...describe(exchange, account), chargedAs });
      isComputed = true;
      return this.#queue(target, this.#waiterOf(exchange), request).result;
    };
    const stored = await compute().catch((error: unknown) => this.#instead(exchange, error, account));
    if (stored === undefined) exchange.response.destroy();
    else return this.#sender.send(exchange, stored, { isComputed, usedAs });
  }

  /** The response instead of one that could not be computed. Undefined: the caller is gone, and nothing was computed for it. */
  async #instead(exchange: Exchange, error: unknown, account?: Account): Promise<StoredResponse | undefined> {
    if (error !== OVERLOADED && error !== ABANDONED) return this.#fail(exchange, toAppError(error), account);
    // A caller that joined while the task was dropped may still be there.
    if (error === ABANDONED && exchange.message.socket.destroyed) return undefined;
    this.#admission.noteOverload();
    return this.#refuse(exchange, { error: OVERLOADED });
  }

  #waiterOf({ caller, target: { cost }, message }: Exchange): Waiter {
    return this.#admission.waiterOf(caller, cost, () => message.socket.destroyed);
  }

  /** Computes a response when its turn comes. Free requests are not worth a wait, and signing in waits for mail. */
  #queue(target: Target, waiter: Waiter, request: HttpRequest): QueuedWork<StoredResponse> {
    const { bucket } = target.cost;
    const compute = () => this.#compute(target, request);
    if (bucket === "free" || bucket === "auth")
      return { result: this.#untilSettled(compute()), join: () => {} };
    const { result, join } = this.#admission.computing.add(waiter, compute);
    // Counted from here on, also if nobody waits for it.
    return { result: this.#untilSettled(result), join };
  }

  async #compute(target: Target, request: HttpRequest): Promise<StoredResponse> {
    const { route, cacheKey, path, query } = target;
    const reply = await route.handle(request);
    const isTaggedByBody = route.cache.kind === "shared" && route.cache.tag === "body";
    const taggedBy = isTaggedByBody ? "" : (cacheKey ?? `${path}?${query}`);
    return storeResponse(reply, completeHeaders(reply, route, this.#address), taggedBy);
  }

  async #fail(exchange: Exchange, error: AppError, account?: Account): Promise<StoredResponse> {
    const failed = { requestId: exchange.id, err: error, cause: error.cause };
    if (databaseFault(error.cause) !== undefined) {
      this.#unavailable.note(failed);
      // Routes that say more keep their message.
      if (error instanceof DatabaseAway) return this.#refuse(exchange, { error: DATABASE_AWAY });
    } else if (error.status >= 500 && !isExpected(error)) this.#log.error(failed, "a request failed");
    // A page for a caller over a daily quota must not cost a look at the watchlist of the account.
    const isCheap = isRefusal(error.status);
    return this.#render(exchange, error, describe(exchange, isCheap ? undefined : account));
  }

  #refuse(exchange: Exchange, { error, waitSeconds }: Refusal): Promise<StoredResponse> {
    const { message, target, id } = exchange;
    const { route, name } = target;
    const errorForm = errorShape(route.form, message.headers.accept);
    // A picture has the size of the one that it replaces. No other shape depends on the route.
    const path = errorForm === "picture" ? name.route : "/";
    const shape = `${errorForm} ${path}`;
    return this.#refusals.respond({ error, waitSeconds, route, shape, id }, (preparedId) =>
      this.#render(exchange, error, {
        ...describeShared(exchange),
        method: "GET",
        path,
        params: {},
        query: NO_FIELDS,
        id: preparedId,
      }),
    );
  }

  async #render(
    { message, target }: Exchange,
    error: AppError,
    request: HttpRequest,
  ): Promise<StoredResponse> {
    const { route } = target;
    const { accept } = message.headers;
    const reply = await this.#errors.respond(error, { request, form: route.form, accept });
    return storeResponse(reply, completeHeaders(reply, route, this.#address), "");
  }
}

/** Whether a request was refused on purpose, such as while the catalogue is loaded: a failure has a cause. */
function isExpected({ code, cause }: AppError): boolean {
  return code === "UNAVAILABLE" && cause === undefined;
}

/** Headers that browsers send with a prefetch. */
const PREFETCH_HEADERS = ["sec-purpose", "purpose", "x-moz"] as const;

const isPrefetch = (headers: IncomingMessage["headers"]): boolean =>
  PREFETCH_HEADERS.some((name) => String(headers[name] ?? "").includes("prefetch"));

/** A request without a query, or without a form. */
const NO_FIELDS = new URLSearchParams();

/** The sender of a shared request. */
const NOBODY: Caller = { kind: "anonymous", name: "" };
const NOWHERE: Source = { network: "", agent: "" };

/** The request as handlers see it, without its body. */
function describe(exchange: Exchange, account: Account | undefined): HttpRequest {
  const { message, method, target, caller, id } = exchange;
  const { path, params, query } = target;
  return {
    method: method === "HEAD" ? "GET" : method,
    path,
    params,
    query,
    headers: message.headers,
    caller,
    source: () => sourceOf(exchange),
    locality: () => localityOf(message),
    isView: method !== "HEAD" && !isPrefetch(message.headers),
    account,
    id,
    json: undefined,
    formFields: NO_FIELDS,
    chargedAs: () => Promise.reject(new Error("a shared response cannot depend on the caller")),
  };
}

/** A shared response must not depend on the first caller, so nothing of the sender is in its request. */
function describeShared(exchange: Exchange): HttpRequest {
  return {
    ...describe(exchange, undefined),
    headers: {},
    caller: NOBODY,
    source: () => NOWHERE,
    locality: () => "remote",
  };
}

async function withBody(
  message: IncomingMessage,
  { body }: Route,
  request: HttpRequest,
): Promise<HttpRequest> {
  if (body === "json") return { ...request, json: await readJson(message) };
  return body === "form" ? { ...request, formFields: await readForm(message) } : request;
}
