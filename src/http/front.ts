import type { IncomingMessage, ServerResponse } from "node:http";
import type { KeyedRequest, SecurityEvent } from "../accounts/accounts.js";
import { databaseFault } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import type { AppError } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import type { InTurn } from "../lib/loop-turns.js";
import type { Admission, Charging } from "./admission.js";
import { readForm, readJson } from "./body.js";
import type { Charge } from "./charge.js";
import { Unfinished } from "./concurrency.js";
import { CountedLog } from "./counted-log.js";
import {
  DATABASE_AWAY,
  DatabaseAway,
  type ErrorRenderers,
  ErrorResponder,
  errorShape,
  type Refusal,
  Refusals,
  toAppError,
} from "./error-response.js";
import { describe, describeShared, type Exchange, isSafe, NO_FIELDS, refusedEvent } from "./exchange.js";
import { completeHeaders, type PublicAddress, publicAddressOf, requestIds } from "./headers.js";
import { Hits } from "./hits.js";
import { AllowedHosts } from "./hosts.js";
import { authorize, type Identities, identify } from "./identity.js";
import { innerMessage, innerReply, senderOf } from "./inner-request.js";
import type { Ask, HttpRequest, InnerReply, InnerRequest, Sender } from "./request.js";
import { forwardedFor, hasIdentity, hasOwnCookie, type Message } from "./request-head.js";
import { type CacheState, ResponseCache } from "./response-cache.js";
import { ResponseSender } from "./response-sender.js";
import type { Route } from "./route.js";
import { ABANDONED, OVERLOADED, type QueuedWork, type RunQueue, type Waiter } from "./run-queue.js";
import type { StaleOptions } from "./stale-response.js";
import { isRefusal, type StoredResponse, storeResponse } from "./stored-response.js";
import { type Target, type TargetOptions, Targets } from "./targets.js";

export interface FrontOptions extends Required<Pick<TargetOptions, "hintFor">> {
  routes: readonly Route[];
  /** Public address of the service, without a trailing slash; it may have a path. */
  baseUrl: string;
  /** The hosts that requests may name, besides this machine; undefined: any. */
  allowedHosts: readonly string[] | undefined;
  renderers: ErrorRenderers;
  markPage: StaleOptions["markPage"];
  identities: Identities;
  /** Differs whenever a cached response may have become wrong. */
  readRevision: () => Promise<string>;
  /** Bound of the response cache; 0 turns it off. */
  cacheBytes: number;
  admission: Admission;
  /** Receives every request that was made with a valid key. */
  recordUsage: (request: KeyedRequest) => void;
  /** Receives what is refused for reasons of security. */
  recordSecurity: (event: SecurityEvent) => void;
  clock: Clock;
  log: Logger;
}

/** Everything between Node's server and the handlers: routing, callers, limits, cache, errors, headers, usage. */
export class Front {
  readonly #options: FrontOptions;
  readonly #targets: Targets;
  readonly #cache: ResponseCache;
  readonly #errors: ErrorResponder;
  readonly #address: PublicAddress;
  readonly #hosts: AllowedHosts;
  readonly #hits: Hits;
  readonly #sender: ResponseSender;
  readonly #refusals = new Refusals();
  /** Failures of the database, which concern most requests at a time. */
  readonly #unavailable: CountedLog<{ requestId: string; err: AppError; cause: unknown }>;
  readonly #ids = requestIds();
  readonly #unfinished = new Unfinished();

  constructor(options: FrontOptions) {
    const { log, cacheBytes, routes, baseUrl, renderers, identities } = options;
    this.#options = options;
    this.#unavailable = new CountedLog(options.clock, (failed, last) =>
      log.error({ failed, ...last }, "requests failed, as the database is not available"),
    );
    this.#address = publicAddressOf(baseUrl, identities.isOpen);
    this.#targets = new Targets(routes, { ...this.#address, hintFor: options.hintFor });
    this.#hosts = new AllowedHosts(options.allowedHosts, log);
    this.#cache = new ResponseCache({ ...options, maxBytes: cacheBytes });
    this.#errors = new ErrorResponder({ renderers, log, baseUrl });
    const parts = { targets: this.#targets, hosts: this.#hosts, cache: this.#cache, nextId: this.#ids };
    this.#hits = new Hits({ ...options, ...parts });
    this.#sender = new ResponseSender(options);
  }

  get cacheState(): CacheState {
    return this.#cache.state;
  }

  /** Handles a request to its end. Never throws. */
  handle(message: IncomingMessage, response: ServerResponse): void {
    try {
      if (this.#hits.send(message, response)) return;
    } catch (error) {
      this.#abandon(response, error);
      return;
    }
    this.#unfinished
      .run(() => this.#exchange(message, response))
      .catch((error: unknown) => this.#abandon(response, error));
  }

  /** Resolves when nothing is computed or waits for that any longer, also not for callers that have gone. */
  settled(): Promise<void> {
    return this.#unfinished.none();
  }

  /** Whether a request checks the health of the process. */
  isProbe({ url = "/" }: IncomingMessage): boolean {
    return this.#targets.isProbe(url);
  }

  #abandon(response: ServerResponse, error: unknown): void {
    this.#options.log.error({ err: error }, "a response could not be sent");
    response.destroy();
  }

  /** What a message leads to, and why it cannot go there. */
  #findTarget(message: Message, reading: "outline" | "find"): { target: Target; fault?: AppError } {
    const { url = "/", headers } = message;
    if (!this.#hosts.accepts(headers.host))
      return { target: this.#targets.misdirected(url), fault: this.#hosts.refusal(headers.host) };
    try {
      return { target: this.#targets[reading](message) };
    } catch (error) {
      return { target: this.#targets.malformed(url), fault: toAppError(error) };
    }
  }

  async #exchange(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { admission } = this.#options;
    const { headers, method = "GET" } = message;
    const outline = this.#findTarget(message, "outline");
    let { fault } = outline;
    const address = admission.callerOf(message.socket.remoteAddress, forwardedFor(message));
    const exchange: Exchange = {
      ...this.#begin(outline.target, fault === undefined ? method : "GET"),
      message,
      body: message,
      address,
      caller: address,
      keyId: undefined,
    };
    const { bucket } = outline.target.route.limit;
    if (fault === undefined && bucket !== "free" && hasIdentity(headers))
      fault = await identify(exchange, this.#options);
    exchange.refused ??= admission.refusalOf(chargingOf(exchange));
    if (fault === undefined && exchange.refused === undefined) {
      ({ target: exchange.target, fault } = this.#findTarget(message, "find"));
      if (fault !== undefined) exchange.method = "GET";
    }
    const charging = chargingOf(exchange);
    const slot = admission.enter(charging);
    try {
      const noteRefusal = (status: number) => {
        response.statusCode = status;
      };
      const beginning = { exchange, charging, refusal: slot.refusal, fault, noteRefusal };
      const { stored, charge } = await this.#settle(beginning);
      if (stored === undefined) response.destroy();
      else await this.#sender.send({ exchange, message, response }, stored, charge);
    } finally {
      slot.release();
    }
  }

  /**
   * The response to a request that is part of another one of the same sender: with the limits, the cache, the queue and the usage
   * of its own route. It takes no concurrency slot, as the other one has one.
   */
  async ask(sender: Sender, request: InnerRequest): Promise<InnerReply> {
    const { basePath } = this.#address;
    const { address, caller, keyId } = sender;
    const message = innerMessage(sender, request, basePath);
    const { target, fault } = this.#findTarget(message, "find");
    const exchange: Exchange = {
      ...this.#begin(target, request.method),
      message,
      body: { json: request.json },
      address,
      caller,
      keyId,
    };
    const beginning = { exchange, charging: chargingOf(exchange), refusal: undefined, fault };
    const { stored, charge } = await this.#settle(beginning);
    if (stored === undefined) throw ABANDONED;
    if (stored.stream !== undefined) {
      stored.stream.destroy();
      throw new Error("a stream cannot be part of another response");
    }
    const left = await charge?.settle(stored, false);
    const { status, body, errorCode: code } = stored;
    this.#sender.record(exchange, { status, code, bytes: body.byteLength, charge, left });
    return innerReply(stored, basePath);
  }

  #begin(target: Target, method: string) {
    return {
      beganAt: this.#options.clock.monotonic(),
      method,
      target,
      id: this.#ids(),
      account: undefined,
      refused: undefined,
      isComputed: false,
    };
  }

  /** Counts a request and finds its response. Before the cache, so that cached responses count like those that are computed. */
  async #settle({ exchange, charging, refusal: noSlot, fault, noteRefusal }: Beginning): Promise<Settling> {
    const { admission, recordSecurity } = this.#options;
    const charged = exchange.refused ?? (noSlot === undefined ? admission.charge(charging) : undefined);
    const charge = charged instanceof Promise ? await charged : charged;
    if (charge?.decision.allowed === false)
      recordSecurity(refusedEvent("rate_limited", exchange, { bucket: charge.decision.policy.bucket }));
    const refusal = noSlot === undefined ? charge?.refusal : { error: noSlot };
    if (refusal !== undefined) noteRefusal?.(refusal.error.status);
    return { stored: await this.#respond({ exchange, charging, refusal, fault }), charge };
  }

  /** Undefined: the caller is gone, and nothing was computed for it. */
  async #respond({ exchange, charging, refusal, fault }: Responding): Promise<StoredResponse | undefined> {
    if (refusal !== undefined) return this.#refuse(exchange, refusal);
    if (fault !== undefined) return this.#fail(exchange, fault);
    try {
      return await this.#find(exchange, charging);
    } catch (error) {
      if (error !== OVERLOADED && error !== ABANDONED) return this.#fail(exchange, toAppError(error));
      // A caller that joined while the task was dropped may still be there.
      if (error === ABANDONED && exchange.message.socket.destroyed) return undefined;
      this.#options.admission.noteOverload();
      return this.#refuse(exchange, { error: OVERLOADED });
    }
  }

  /** The response from the cache or from the handler. */
  async #find(exchange: Exchange, charging: Charging): Promise<StoredResponse> {
    const { message, target } = exchange;
    const { cacheKey, route } = target;
    const isShared =
      cacheKey !== undefined && (route.cache.kind === "shared" || !hasOwnCookie(message.headers.cookie));
    const waiter = this.#options.admission.waiterOf(charging, () => message.socket.destroyed);
    if (isShared) {
      const compute = (first: Waiter) => this.#queue(exchange, first, describeShared(exchange));
      return this.#cache.get(cacheKey, { waiter, compute });
    }
    await authorize(exchange, this.#options);
    return this.#queue(exchange, waiter, await this.#read(exchange)).result;
  }

  /** Computes a response when its turn comes. What is free is not worth a wait. */
  #queue(exchange: Exchange, waiter: Waiter, request: HttpRequest): QueuedWork<StoredResponse> {
    const { computing, rendering, scanning } = this.#options.admission;
    const { method, target } = exchange;
    exchange.isComputed = true;
    if (target.cost.bucket === "free")
      return { result: this.#unfinished.run(() => this.#compute(exchange, request)), join: () => {} };
    const { result, join } = computing.add(waiter, (task) => {
      // What changes something may wait for a lock, for mail or for another site.
      if (!isSafe(method) || target.cost.bucket === "auth") task.leave();
      const turnsOf =
        (queue: RunQueue): InTurn =>
        (work) => {
          task.leave();
          return queue.add(task, work).result;
        };
      return this.#compute(exchange, {
        ...request,
        rendering: turnsOf(rendering),
        scanning: turnsOf(scanning),
      });
    });
    // Counted from here on, also where nobody waits for it.
    return { result: this.#unfinished.run(() => result), join };
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
    const { body: source, target } = exchange;
    const { body } = target.route;
    const ask: Ask = (inner) => this.ask(senderOf(exchange), inner);
    const request = { ...describe(exchange), ask };
    if ("json" in source) return { ...request, json: source.json };
    if (body === "json") return { ...request, json: await readJson(source) };
    return body === "form" ? { ...request, formFields: await readForm(source) } : request;
  }

  /** An error as a response. */
  async #fail(exchange: Exchange, error: AppError): Promise<StoredResponse> {
    const { id } = exchange;
    const failed = { requestId: id, err: error, cause: error.cause };
    if (databaseFault(error.cause) !== undefined) {
      this.#unavailable.note(failed);
      // Routes that say more keep their message.
      if (error instanceof DatabaseAway) return this.#refuse(exchange, { error: DATABASE_AWAY });
    } else if (error.status >= 500) this.#options.log.error(failed, "a request failed");
    // A page for a caller over a daily quota must not cost a look at the watchlist of the account.
    const isCheap = isRefusal(error.status);
    const request = describe(exchange);
    return this.#render(exchange, error, isCheap ? { ...request, account: undefined } : request);
  }

  /** A refusal as a prepared response. */
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

function chargingOf({ caller, address, target: { cost } }: Exchange): Charging {
  return { caller, address, cost };
}

/** What is known of an exchange before it is charged. */
interface Beginning {
  exchange: Exchange;
  charging: Charging;
  /** Why no slot was given. */
  refusal: AppError | undefined;
  /** Why it cannot be responded to otherwise. */
  fault: AppError | undefined;
  /** Called as soon as it is refused; in the same turn, unless its caller had to be looked up. */
  noteRefusal?: (status: number) => void;
}

/** The outcome of an exchange. `stored`: undefined where the caller is gone, and nothing was computed for it. */
interface Settling {
  stored: StoredResponse | undefined;
  charge: Charge | undefined;
}

/** What is known of an exchange when it has been charged. */
interface Responding {
  exchange: Exchange;
  charging: Charging;
  /** Why it is refused: no slot was free, or its caller is over the limit. */
  refusal: Refusal | undefined;
  /** Why it cannot be responded to otherwise. */
  fault: AppError | undefined;
}
