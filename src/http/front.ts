import type { IncomingMessage, ServerResponse } from "node:http";
import type { KeyedRequest, RefusedRequest } from "../accounts/accounts.js";
import { databaseFault } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import { CountedLog } from "../lib/counted-log.js";
import type { AppError } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import type { Admission } from "./admission.js";
import { after } from "./after.js";
import { readForm, readJson } from "./body.js";
import type { Charged } from "./charge.js";
import { costOf } from "./cost.js";
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
} from "./error-response.js";
import { describe, describeShared, type Exchange, NO_FIELDS, refusedEvent } from "./exchange.js";
import { completeHeaders, type PublicAddress, publicAddressOf, requestId } from "./headers.js";
import { AllowedHosts } from "./hosts.js";
import { authorize, type Identities, identify } from "./identity.js";
import type { ChargedAs, HttpRequest } from "./request.js";
import { checkHead, forwardedFor, hasOwnCookie, type Message } from "./request-head.js";
import type { ResponseCache } from "./response-cache.js";
import { ResponseSender } from "./response-sender.js";
import { pathPattern, type Route } from "./route.js";
import { ABANDONED, OVERLOADED, type QueuedWork, type Waiter } from "./run-queue.js";
import { isRefusal, type StoredResponse, storeResponse } from "./stored-response.js";
import { type Target, type TargetOptions, Targets } from "./targets.js";
import { Traffic } from "./traffic.js";
import type { UnnamedProxy } from "./unnamed-proxy.js";

interface FrontOptions extends Required<Pick<TargetOptions, "hintFor">> {
  routes: readonly Route[];
  /** Public address of the service, without a trailing slash; it may have a path. */
  baseUrl: string;
  /** The hosts that requests may name, besides this machine; undefined: any. */
  allowedHosts: readonly string[] | undefined;
  renderers: ErrorRenderers;
  identities: Identities;
  cache: ResponseCache;
  admission: Admission;
  proxy: UnnamedProxy;
  /** Receives every request that was made with a valid key. */
  recordUsage: (request: KeyedRequest) => void;
  /** Logs what is refused for reasons of security. */
  recordSecurity: (event: RefusedRequest) => void;
  clock: Clock;
  log: Logger;
}

/** Everything between Node's server and the handlers: routing, callers, limits, cache, errors, headers, usage. */
export class Front {
  readonly #options: FrontOptions;
  readonly #targets: Targets;
  readonly cache: ResponseCache;
  readonly #errors: ErrorResponder;
  readonly #address: PublicAddress;
  readonly #hosts: AllowedHosts;
  readonly #sender: ResponseSender;
  /** The responses that were sent. */
  readonly traffic = new Traffic();
  readonly #refusals = new Refusals();
  /** Failures of the database, which concern most requests at a time. */
  readonly #unavailable: CountedLog<{ requestId: string; err: AppError; cause: unknown }>;
  /** What is not finished, so that what it needs is closed after it. */
  readonly #unfinished = new Set<Promise<unknown>>();

  constructor(options: FrontOptions) {
    const { admission, recordUsage, clock, log, routes, baseUrl, renderers, identities } = options;
    this.#options = options;
    this.#unavailable = new CountedLog(clock, (failed, last) =>
      log.error({ failed, ...last }, "requests failed: the database is unavailable"),
    );
    this.#address = publicAddressOf(baseUrl, identities.isOpen);
    this.#targets = new Targets(routes, { ...this.#address, hintFor: options.hintFor });
    this.#hosts = new AllowedHosts(options.allowedHosts, log);
    this.cache = options.cache;
    this.#errors = new ErrorResponder({ renderers, log, baseUrl });
    this.#sender = new ResponseSender({ admission, traffic: this.traffic, recordUsage, clock, log });
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
    this.#options.log.error({ err: error }, "a response could not be sent");
    response.destroy();
  }

  /**
   * From a request to its response: who sends it, whether they may, the response, what it cost. Each step is done in this turn unless
   * it must wait, so a cached response takes no promise.
   */
  #exchange(message: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const { admission, clock } = this.#options;
    const { target, fault, isWhole } = this.#outline(message);
    const { proxy } = this.#options;
    // A request under a host that is not allowed may be of a page that wants to be taken for one of ours.
    if (fault?.code !== "MISDIRECTED_REQUEST") proxy.look(message);
    const address = admission.callerOf(message.socket.remoteAddress, forwardedFor(message));
    const exchange: Exchange = {
      message,
      target,
      fault,
      address,
      caller: address,
      keyId: undefined,
      beganAt: clock.monotonic(),
      method: fault === undefined ? (message.method ?? "GET") : "GET",
      id: requestId(),
      account: undefined,
      charge: undefined,
      isComputed: false,
    };
    const send = (stored: StoredResponse | undefined) =>
      stored === undefined
        ? void response.destroy()
        : this.#sender.send({ exchange, message, response }, stored);
    const counted = after(identify(exchange, this.#options), () => this.#count(exchange, isWhole));
    return after(counted, () => after(this.#respond(exchange), send));
  }

  /** What a message leads to, as far as that is quick to know; `isWhole`: all of it. */
  #outline(message: Message): { target: Target; fault?: AppError; isWhole: boolean } {
    const { url = "/", headers } = message;
    if (!this.#hosts.accepts(headers.host))
      return {
        target: this.#targets.misdirected(url),
        fault: this.#hosts.refusal(headers.host),
        isWhole: true,
      };
    try {
      checkHead(message);
      const known = this.#targets.known(message);
      return { target: known ?? this.#targets.outline(message), isWhole: known !== undefined };
    } catch (error) {
      return { target: this.#targets.malformed(url), fault: toAppError(error), isWhole: true };
    }
  }

  /** Counts a request. A caller that has nothing left is refused before the address is read whole. */
  #count(exchange: Exchange, isWhole: boolean): void | Promise<void> {
    const { admission } = this.#options;
    exchange.charge ??= isWhole ? undefined : admission.refusalOf(chargedOf(exchange));
    if (exchange.charge !== undefined) return;
    if (!isWhole && exchange.fault === undefined) {
      try {
        exchange.target = this.#targets.find(exchange.message);
      } catch (error) {
        exchange.fault = toAppError(error);
        exchange.target = this.#targets.malformed(exchange.message.url ?? "/");
        exchange.method = "GET";
      }
    }
    return after(admission.charge(chargedOf(exchange)), (charge) => {
      exchange.charge = charge;
    });
  }

  /** Runs work for the sender of an exchange as a request to another route; see `ChargedAs`. */
  async #chargedAs<T extends { units?: number }>(
    exchange: Exchange,
    { route, query }: Parameters<ChargedAs>[0],
    work: () => Promise<T>,
  ) {
    const { caller, address } = exchange;
    const name = { method: route.method, route: pathPattern(route) };
    const cost = costOf(route.limit, route.method, query);
    const charge = await this.#options.admission.charge({ caller, address, cost });
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
      exchange.usedAs = { name, charge, status, code, left };
    }
  }

  /** Undefined: the caller is gone, and nothing was computed for it. */
  #respond(exchange: Exchange): StoredResponse | undefined | Promise<StoredResponse | undefined> {
    const { charge, fault } = exchange;
    if (charge?.refusal !== undefined) {
      const { bucket } = charge.decision.policy;
      this.#options.admission.noteRefusal(bucket);
      this.#options.recordSecurity(refusedEvent("rate_limited", exchange, { bucket }));
      return this.#refuse(exchange, charge.refusal);
    }
    if (fault !== undefined) return this.#fail(exchange, fault);
    const { cacheKey, route } = exchange.target;
    const isShared =
      cacheKey !== undefined &&
      (route.cache.kind === "shared" || !hasOwnCookie(exchange.message.headers.cookie));
    const ready = isShared ? this.cache.peek(cacheKey, exchange.beganAt) : undefined;
    return ready ?? this.#find(exchange, isShared ? cacheKey : undefined);
  }

  /** The response that is cached under a key, or computed. */
  async #find(exchange: Exchange, cacheKey: string | undefined): Promise<StoredResponse | undefined> {
    const { message } = exchange;
    const { admission } = this.#options;
    const waiter = admission.waiterOf(chargedOf(exchange), () => message.socket.destroyed);
    try {
      if (cacheKey !== undefined) {
        const compute = (first: Waiter) => this.#queue(exchange, first, describeShared(exchange));
        return await this.cache.get(cacheKey, { waiter, compute });
      }
      await authorize(exchange, this.#options);
      return await this.#queue(exchange, waiter, await this.#read(exchange)).result;
    } catch (error) {
      if (error !== OVERLOADED && error !== ABANDONED) return this.#fail(exchange, toAppError(error));
      // A caller that joined while the task was dropped may still be there.
      if (error === ABANDONED && message.socket.destroyed) return undefined;
      admission.noteOverload();
      return this.#refuse(exchange, { error: OVERLOADED });
    }
  }

  /** Computes a response when its turn comes. What is free is not worth a wait, and signing in waits for mail. */
  #queue(exchange: Exchange, waiter: Waiter, request: HttpRequest): QueuedWork<StoredResponse> {
    const { bucket } = exchange.target.cost;
    exchange.isComputed = true;
    const compute = () => this.#compute(exchange, request);
    if (bucket === "free" || bucket === "auth")
      return { result: this.#untilSettled(compute()), join: () => {} };
    const { result, join } = this.#options.admission.computing.add(waiter, compute);
    // Counted from here on, also if nobody waits for it.
    return { result: this.#untilSettled(result), join };
  }

  async #compute({ target }: Exchange, request: HttpRequest): Promise<StoredResponse> {
    const { route, cacheKey, path, query } = target;
    const reply = await route.handle(request);
    const isTaggedByBody = route.cache.kind === "shared" && route.cache.tag === "body";
    const taggedBy = isTaggedByBody ? "" : (cacheKey ?? `${path}?${query}`);
    return storeResponse(reply, completeHeaders(reply, route, this.#address), taggedBy);
  }

  /** The request with its body, as its handler sees it. */
  async #read(exchange: Exchange): Promise<HttpRequest> {
    const { message, target } = exchange;
    const { body } = target.route;
    const chargedAs: ChargedAs = (use, work) => this.#chargedAs(exchange, use, work);
    const request = { ...describe(exchange), chargedAs };
    if (body === "json") return { ...request, json: await readJson(message) };
    return body === "form" ? { ...request, formFields: await readForm(message) } : request;
  }

  async #fail(exchange: Exchange, error: AppError): Promise<StoredResponse> {
    const { id } = exchange;
    const failed = { requestId: id, err: error, cause: error.cause };
    if (databaseFault(error.cause) !== undefined) {
      this.#unavailable.note(failed);
      // Routes that say more keep their message.
      if (error instanceof DatabaseAway) return this.#refuse(exchange, { error: DATABASE_AWAY });
    } else if (error.status >= 500 && !isExpected(error)) this.#options.log.error(failed, "a request failed");
    // A page for a caller over a daily quota must not cost a look at the watchlist of the account.
    const isCheap = isRefusal(error.status);
    const request = describe(exchange);
    return this.#render(exchange, error, isCheap ? { ...request, account: undefined } : request);
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

function chargedOf({ caller, address, target: { cost } }: Exchange): Charged {
  return { caller, address, cost };
}

/** Whether a request was refused on purpose, such as while the catalogue is loaded: a failure has a cause. */
function isExpected({ code, cause }: AppError): boolean {
  return code === "UNAVAILABLE" && cause === undefined;
}
