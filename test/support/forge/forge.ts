/**
 * A made-up forge for tests and simulations: a real HTTP server on this machine that speaks the API of GitHub (as an
 * Enterprise instance does), GitLab or Forgejo over a scripted catalogue. It counts requests, enforces quotas by the clock
 * it is given, remembers what clients did that they must not, and misbehaves when told to. It owns no time of its own and
 * keeps nothing on disk.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Clock } from "../../../src/clock.js";
import type { ForgeKind } from "../../../src/forges.js";
import type { Answer, ForgeRequest, Site } from "./answers.js";
import { ForgeCatalogue } from "./catalogue.js";
import { Conduct } from "./conduct.js";
import { Counters } from "./counters.js";
import { type Fault, type FaultName, spoil } from "./faults.js";
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
import { hasOtherHost, readRequest, send } from "./wire.js";

export type { ForgeRequest } from "./answers.js";
export { type CatalogueOptions, ForgeCatalogue, type ForgeRepository, type Standing } from "./catalogue.js";
export type { Counters } from "./counters.js";
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
export { EVENT_KINDS, type EventKind, type EventRates, type ScriptEvent } from "./script.js";

export interface ForgeOptions {
  kind: ForgeKind;
  /** What time it is there; quotas and the script follow it. */
  clock: Pick<Clock, "now">;
  /** Shared with other forges or prepared by a test; where absent one is made from `seed` and `repositories`. */
  catalogue?: ForgeCatalogue;
  /** 1 where absent. */
  seed?: number;
  /** 1,000 where absent. */
  repositories?: number;
}

/** What may be changed at any time. */
export interface Switches {
  /** The tokens that are accepted; null: any. */
  tokens: ReadonlySet<string> | null;
  /** What each resource allows; see also `Forge.spend`. */
  allowances: Allowances;
  /** null: bursts are not limited. Only GitHub has such a limit. */
  secondary: SecondaryLimit | null;
  /** The status of an answer to a request that the quota does not allow; 403 on GitHub, 429 elsewhere. */
  spentStatus: 403 | 429;
  /** GitHub: whether daily star counts are offered. */
  hasHistory: boolean;
  /** GitHub: whether searches say that they are incomplete. */
  isSearchIncomplete: boolean;
  /** Whether long answers are compressed for those who accept it. */
  isCompressed: boolean;
  /** How old the index of searches and lists may get, in ms of the clock. */
  listingAgeMs: number;
  /** Asked for every request; what it names goes wrong. null: nothing does. */
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
    this.#conduct = new Conduct(now, this.counters);
    this.switches = {
      tokens: null,
      allowances,
      secondary: kind === "github" ? { ...SECONDARY_LIMIT } : null,
      spentStatus: kind === "github" ? 403 : 429,
      hasHistory: true,
      isSearchIncomplete: false,
      isCompressed: true,
      listingAgeMs: 3_600_000,
      fault: null,
    };
    this.#server = createServer((incoming, outgoing) => {
      this.#handle(incoming, outgoing).catch((error) => outgoing.destroy(error));
    });
  }

  /** Address of the site without a slash at the end. */
  get url(): string {
    return this.#url;
  }

  /** What clients did that they must not, in order of time. */
  get violations(): readonly Violation[] {
    return this.#conduct.violations;
  }

  /** As if so many requests (or points) had been used already; `token` null: of those without one. */
  spend(token: string | null, resource: string, count: number): void {
    this.#limiter.allowances = this.switches.allowances;
    this.#limiter.spend(token, resource, count);
  }

  /** What is left for a token; null where the resource is not limited. */
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

  /** Ends at once: sockets are destroyed, slow answers too. */
  async close(): Promise<void> {
    this.#left.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await readRequest(incoming, (path) => this.#interface.kindOf(path));
    const resource = this.#interface.resourceOf(request.kind);
    const isTooMuch = this.#conduct.begin(request, resource, this.switches.secondary) === "too-much";
    outgoing.once("close", () => this.#conduct.end(request));
    if (hasOtherHost(request, this.#url)) this.#conduct.report("other-host", request, resource);
    const answer = isTooMuch
      ? this.#interface.tooMuch(this.switches.secondary)
      : this.#answer(request, resource);
    this.#addHeaders(answer, request, resource);
    const asked = this.switches.fault?.(request);
    const fault = typeof asked === "string" ? { name: asked } : asked;
    const spoilt =
      fault === undefined ? { answer } : spoil(fault, answer, request, this.#site(), this.#interface);
    this.counters.count(request, spoilt.answer, fault?.name);
    outgoing.once("finish", () => this.#tell(spoilt.answer, request, resource));
    send(outgoing, request, spoilt.answer, {
      isCompressed: this.switches.isCompressed,
      deliver: spoilt.deliver,
      signal: this.#left.signal,
      onBytes: (count) => this.counters.addBytes(count),
    });
  }

  #answer(request: ForgeRequest, resource: string): Answer {
    this.#limiter.allowances = this.switches.allowances;
    const site = this.#site();
    const refusal = this.#interface.refuse(request, this.switches.tokens);
    if (refusal !== null) return refusal;
    const isFree = request.kind === "rate-limit";
    if (!isFree && !this.#limiter.take(request.token, resource)) {
      return this.#interface.spent(
        request,
        this.switches.spentStatus,
        this.#limiter.quota(request.token, resource),
        site,
      );
    }
    const answer = this.#interface.answer(site, request, this.#limiter);
    if (answer.status === 304 && request.token !== null) this.#limiter.giveBack(request.token, resource);
    return answer;
  }

  #addHeaders(answer: Answer, request: ForgeRequest, resource: string): void {
    const quota = this.#limiter.quota(request.token, resource);
    Object.assign(answer.headers, this.#interface.headersOf(request, resource, quota));
    answer.headers.date = new Date(this.#clock.now()).toUTCString();
  }

  /** Remembers what the client has been told by an answer that has reached it. */
  #tell({ headers }: Answer, { token, kind }: ForgeRequest, resource: string): void {
    const seconds = Number(headers["retry-after"] ?? Number.NaN);
    if (seconds > 0) this.#conduct.tell(token, "*", this.#clock.now() + seconds * 1_000, "retry-after");
    const quota = this.#limiter.quota(token, resource);
    if (quota !== null && kind !== "rate-limit" && this.#interface.saysSpent(headers)) {
      this.#conduct.tell(token, resource, quota.resetAt, "spent");
    }
  }

  #site(): Site {
    return {
      url: this.#url,
      clock: this.#clock,
      catalogue: this.catalogue,
      listing: () => this.#freshListing(),
      hasHistory: this.switches.hasHistory,
      isSearchIncomplete: this.switches.isSearchIncomplete,
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
