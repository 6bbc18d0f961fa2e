/**
 * A fake forge for tests and simulations: an HTTP server on this machine that implements the API of GitHub (as an Enterprise
 * instance does), GitLab, Forgejo or Gogs on a scripted catalogue. It counts requests, enforces quotas on an injected clock, records
 * violations by clients, and injects faults. It stores nothing on disk.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { ForgeKind } from "../../../src/config/known-forges.js";
import type { Clock } from "../../../src/lib/clock.js";
import { handleAvatar, isAvatarPath } from "./avatars.js";
import { ForgeCatalogue, type ForgeRepository } from "./catalogue.js";
import { type Fault, type FaultName, spoil } from "./faults.js";
import type { GitlabGraphql } from "./gitlab-graphql.js";
import { INTERFACES, type Interface } from "./interfaces.js";
import {
  ALLOWANCES,
  type Allowances,
  Limiter,
  SECONDARY_LIMIT,
  type SecondaryLimit,
  type Violation,
} from "./limits.js";
import { Listing } from "./listing.js";
import type { ForgeRequest, ForgeResponse, Site } from "./responses.js";
import { hasOtherHost, readRequest, send } from "./wire.js";

export { type CatalogueOptions, ForgeCatalogue, type ForgeRepository, type Visibility } from "./catalogue.js";
export { FAULTS, type Fault, type FaultName } from "./faults.js";
export { GITHUB_SCHEMA } from "./github-graphql.js";
export { nodeId } from "./github-record.js";
export {
  ALLOWANCES,
  type Allowances,
  SECONDARY_LIMIT,
  type SecondaryLimit,
  type Violation,
} from "./limits.js";
export type { ForgeRequest } from "./responses.js";
export { EVENT_KINDS, type EventKind, type EventRates, type ScriptEvent } from "./script.js";

export interface ForgeOptions {
  kind: ForgeKind;
  /** Drives quotas and the script. */
  clock: Pick<Clock, "now">;
  /** Shared with other forges or prepared by a test; default: created from `seed` and `repositories`. */
  catalogue?: ForgeCatalogue;
  /** Default 1. */
  seed?: number;
  /** Default 1,000. */
  repositories?: number;
}

/** Settings that a test may change at any time. */
export interface Switches {
  /** Accepted tokens; null: any. */
  tokens: ReadonlySet<string> | null;
  /** Limits per resource. */
  allowances: Allowances;
  /** GitHub's limit on bursts; null: none. */
  secondary: SecondaryLimit | null;
  /** GitHub: whether star histories are offered. */
  hasHistory: boolean;
  /** GitLab: what its GraphQL API offers. */
  gitlabGraphql: GitlabGraphql;
  /** Forgejo: how lists are sorted by stars: `unstable` orders equal counts differently on each page, `none` is an older version. */
  starOrder: "stable" | "unstable" | "none";
  /** Maximum age of the index of searches and lists, in ms of the clock. */
  listingAgeMs: number;
  /** Called for every repository in a response; returns the fields that are false in it. null: all are true. */
  lie: ((truth: ForgeRepository, request: ForgeRequest) => Partial<ForgeRepository> | undefined) | null;
  /** Called for every request for an avatar; what to send in its place. null: the images of the forge. */
  avatar: ((request: ForgeRequest) => Partial<ForgeResponse> | undefined) | null;
  /** Called for every request; returns the fault to inject. null: none. */
  fault: ((request: ForgeRequest) => Fault | FaultName | undefined) | null;
}

/** Starts a forge on a free port of 127.0.0.1. */
export async function startForge(options: ForgeOptions): Promise<Forge> {
  const forge = new Forge(options);
  await forge.listen();
  return forge;
}

export class Forge {
  readonly kind: ForgeKind;
  readonly catalogue: ForgeCatalogue;
  readonly counters = new Counters();
  readonly switches: Switches;
  readonly #clock: Pick<Clock, "now">;
  readonly #interface: Interface;
  readonly #limiter: Limiter;
  readonly #conduct: Conduct;
  readonly #server: Server;
  readonly #left = new AbortController();
  #listing: Listing | undefined;
  #listingVersion = -1;
  #url = "";

  constructor({ kind, clock, catalogue, seed = 1, repositories = 1_000 }: ForgeOptions) {
    const isNested = kind === "gitlab";
    this.kind = kind;
    this.catalogue = catalogue ?? new ForgeCatalogue({ seed, repositories, start: clock.now(), isNested });
    this.#clock = clock;
    this.#interface = INTERFACES[kind];
    const allowances = structuredClone(ALLOWANCES[kind]);
    const now = () => clock.now();
    this.#limiter = new Limiter(now, allowances);
    this.#conduct = new Conduct(now);
    this.switches = {
      tokens: null,
      allowances,
      secondary: kind === "github" ? { ...SECONDARY_LIMIT } : null,
      hasHistory: true,
      starOrder: "unstable",
      gitlabGraphql: { offered: "all", lacks: [] },
      listingAgeMs: 3_600_000,
      lie: null,
      avatar: null,
      fault: null,
    };
    this.#server = createServer((incoming, outgoing) => {
      this.#handle(incoming, outgoing).catch((error) => outgoing.destroy(error));
    });
  }

  /** Address of the site without a trailing slash. */
  get url(): string {
    return this.#url;
  }

  /** Violations by clients, in order of time. */
  get violations(): readonly Violation[] {
    return this.#conduct.violations;
  }

  /** Uses up requests (or points) of a token; null: of anonymous requests. */
  spend(token: string | null, resource: string, count: number): void {
    this.#limiter.allowances = this.switches.allowances;
    for (let i = 0; i < count; i++) this.#limiter.take(token, resource);
  }

  /** Remaining quota of a token; null if the resource is not limited. */
  remaining(token: string | null, resource: string): number | null {
    return this.#limiter.quota(token, resource)?.remaining ?? null;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the forge has no port");
    this.#url = `http://127.0.0.1:${address.port}`;
  }

  /** Closes immediately and destroys all sockets, also of slow responses. */
  async close(): Promise<void> {
    this.#left.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await readRequest(incoming, (path) =>
      isAvatarPath(path) ? "avatar" : this.#interface.kindOf(path),
    );
    if (request.kind === "avatar") return this.#sendAvatar(request, outgoing);
    const resource = this.#interface.resourceOf(request.kind);
    const isTooMuch = this.#conduct.begin(request, resource, this.switches.secondary) === "too-much";
    outgoing.once("close", () => this.#conduct.end(request));
    if (hasOtherHost(request, this.#url)) this.#conduct.report("other-host", request, resource);
    const response = isTooMuch
      ? this.#interface.tooMuch(this.switches.secondary)
      : this.#response(request, resource);
    this.#addHeaders(response, request, resource);
    const sent = this.#send(request, response, outgoing);
    outgoing.once("finish", () => this.#noteLimits(sent, request, resource));
  }

  /** Images are apart from the API: they need no token and count against no limit. */
  #sendAvatar(request: ForgeRequest, outgoing: ServerResponse): void {
    if (request.token !== null) throw new Error("a token was sent to where images are");
    const response = { ...handleAvatar(request), ...this.switches.avatar?.(request) };
    response.headers.date = new Date(this.#clock.now()).toUTCString();
    this.#send(request, response, outgoing);
  }

  /** Sends a response, or what a fault makes of it, which is returned. */
  #send(request: ForgeRequest, response: ForgeResponse, outgoing: ServerResponse): ForgeResponse {
    const asked = this.switches.fault?.(request);
    const fault = typeof asked === "string" ? { name: asked } : asked;
    const spoilt =
      fault === undefined
        ? { response }
        : spoil(fault, { request, response, site: this.#site() }, this.#interface);
    this.counters.count(request, spoilt.response, fault?.name);
    send(outgoing, request, spoilt.response, {
      deliver: spoilt.deliver,
      signal: this.#left.signal,
    });
    return spoilt.response;
  }

  #response(request: ForgeRequest, resource: string): ForgeResponse {
    this.#limiter.allowances = this.switches.allowances;
    const site = this.#site();
    const refusal = this.#interface.refuse(request, this.switches.tokens);
    if (refusal !== null) return refusal;
    const isFree = request.kind === "rate-limit";
    if (!isFree && !this.#limiter.take(request.token, resource)) {
      return this.#interface.spent(
        request,
        this.kind === "github" ? 403 : 429,
        this.#limiter.quota(request.token, resource),
        site,
      );
    }
    const { lie } = this.switches;
    const answer = () => this.#interface.response(site, request, this.#limiter);
    const response = lie === null ? answer() : this.catalogue.lying((truth) => lie(truth, request), answer);
    if (response.status === 304 && request.token !== null) this.#limiter.giveBack(request.token, resource);
    return response;
  }

  #addHeaders(response: ForgeResponse, request: ForgeRequest, resource: string): void {
    const quota = this.#limiter.quota(request.token, resource);
    Object.assign(response.headers, this.#interface.headersOf(request, resource, quota));
    response.headers.date = new Date(this.#clock.now()).toUTCString();
  }

  /** Notes the limits that a delivered response has reported to the client. */
  #noteLimits({ headers }: ForgeResponse, { token, kind }: ForgeRequest, resource: string): void {
    const seconds = Number(headers["retry-after"] ?? Number.NaN);
    // GitLab limits its lists separately.
    const scope = this.kind === "gitlab" && kind === "list" ? kind : "*";
    if (seconds > 0) this.#conduct.notify(token, scope, this.#clock.now() + seconds * 1_000, "retry-after");
    const quota = this.#limiter.quota(token, resource);
    if (quota !== null && kind !== "rate-limit" && this.#interface.saysSpent(headers)) {
      this.#conduct.notify(token, resource, quota.resetAt, "spent");
    }
  }

  #site(): Site {
    return {
      url: this.#url,
      clock: this.#clock,
      catalogue: this.catalogue,
      listing: () => this.#freshListing(),
      hasHistory: this.switches.hasHistory,
      starOrder: this.switches.starOrder,
      gitlabGraphql: this.switches.gitlabGraphql,
    };
  }

  #freshListing(): Listing {
    const now = this.#clock.now();
    const age = now - (this.#listing?.at ?? -Infinity);
    const isFresh =
      age >= 0 && age < this.switches.listingAgeMs && this.#listingVersion === this.catalogue.version;
    if (isFresh && this.#listing !== undefined) return this.#listing;
    this.#listing = new Listing(this.catalogue, now);
    this.#listingVersion = this.catalogue.version;
    return this.#listing;
  }
}

/** Counts requests since the start or `reset`, including refused ones. */
export class Counters {
  requests = 0;
  /** By kind of path: `search`, `repository`, `repository-by-id`, `history`, `graphql`, `list`, `rate-limit`, `other`. */
  byKind: Record<string, number> = {};
  /** By token; `anonymous` without one. */
  byToken: Record<string, number> = {};
  /** By name of the injected fault. */
  byFault: Record<string, number> = {};
  /** Repositories refreshed by single requests (including 304) and batches; list rows do not count. */
  refreshed = 0;

  reset(): void {
    Object.assign(this, new Counters());
  }

  count(request: ForgeRequest, response: ForgeResponse, fault: string | undefined): void {
    this.requests++;
    add(this.byKind, request.kind);
    add(this.byToken, request.token ?? "anonymous");
    if (fault !== undefined) add(this.byFault, fault);
    else this.refreshed += response.repositories;
  }
}

function add(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** Turns of the event loop until a response has reached its client, and what that sent just before has reached us. */
const TURNS_TO_READ = 3;

/** Checks whether clients respect limits, and how much they send concurrently. */
class Conduct {
  readonly violations: Violation[] = [];
  readonly #now: () => number;
  readonly #notices = new Map<string, { until: number; kind: Violation["kind"] }>();
  readonly #active = new Map<string, number>();
  readonly #minutes = new Map<string, { minute: number; count: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Call when a request arrives. Returns whether it exceeds the secondary limit. */
  begin(request: ForgeRequest, resource: string, secondary: SecondaryLimit | null): "ok" | "too-much" {
    const who = request.token ?? "";
    for (const key of new Set([`${who} ${resource}`, `${who} ${request.kind}`, `${who} *`])) {
      const notice = this.#notices.get(key);
      // Requesting the rate limits is free.
      const isAllowed = notice?.kind === "spent" && request.kind === "rate-limit";
      if (notice !== undefined && this.#now() < notice.until && !isAllowed)
        this.report(notice.kind, request, resource);
    }
    const active = (this.#active.get(who) ?? 0) + 1;
    this.#active.set(who, active);
    const minute = Math.floor(this.#now() / 60_000);
    const last = this.#minutes.get(who);
    const count = last?.minute === minute ? last.count + 1 : 1;
    this.#minutes.set(who, { minute, count });
    if (secondary === null) return "ok";
    if (active > secondary.concurrent) this.report("concurrent", request, resource);
    else if (count > secondary.pointsPerMinute) this.report("points", request, resource);
    else return "ok";
    return "too-much";
  }

  /** Call when a request has its response, or the client has disconnected. */
  end(request: ForgeRequest): void {
    const who = request.token ?? "";
    this.#active.set(who, (this.#active.get(who) ?? 1) - 1);
  }

  /** Call when a response asked the client to wait until then. `resource`: also a kind of request, or `*` for all. */
  notify(token: string | null, resource: string, until: number, kind: "spent" | "retry-after"): void {
    const key = `${token ?? ""} ${resource}`;
    afterTurns(TURNS_TO_READ, () => this.#notices.set(key, { until, kind }));
  }

  report(kind: Violation["kind"], { token, path }: ForgeRequest, resource: string): void {
    this.violations.push({ kind, at: this.#now(), token, resource, path });
  }
}

function afterTurns(turns: number, action: () => void): void {
  if (turns === 0) action();
  else setImmediate(afterTurns, turns - 1, action);
}
