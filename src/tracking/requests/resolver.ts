/**
 * What becomes of a text in the field for repositories. Repositories are requested; an owner or a word becomes a question, which the
 * worker puts to the configured forges alone. Serving processes contact no forge.
 */
import type { DailyQuotas } from "../../accounts/accounts.js";
import type { Database } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { AppError, invalidParameter } from "../../lib/errors.js";
import { tokenPrefix } from "../../lib/tokens.js";
import { parseAsked, type Repository, type RepositoryAddress } from "../../repositories/repositories.js";
import {
  type Candidate,
  candidatesOf,
  countQuestions,
  findSame,
  insertQuestion,
  MAX_QUESTIONS,
  type QuestionKind,
  type QuestionRow,
} from "./questions.js";
import { failureOf, type TrackFailure, type TrackRequest, type Wait } from "./request.js";
import {
  checkMayAsk,
  type Requester,
  type TrackPolicy,
  type TrackRequests,
  unavailable,
} from "./track-requests.js";

/** What a text has led to. */
export type AskOutcome =
  /** It is tracked already. */
  | { kind: "repository"; repository: Repository }
  | { kind: "request"; request: TrackRequest }
  /** Several repositories, or those that a README links to; see `findList`. */
  | { kind: "list"; id: string }
  | { kind: "question"; id: string }
  /** A README: the repository itself, or what it links to. Nothing was requested. */
  | ({ kind: "choice" } & RepositoryAddress);

/** A question to forges and what they have answered so far. */
export interface Question {
  id: string;
  kind: QuestionKind;
  text: string;
  /** In ms since 1970. */
  askedAt: number;
  /** Whether every forge has answered or failed. */
  isAnswered: boolean;
  answers: ForgeAnswer[];
}

export interface ForgeAnswer {
  provider: string;
  state: "WAITING" | "ANSWERED" | "FAILED";
  failure: TrackFailure | null;
  /** See `TrackRequest`. */
  waitsUntil: number | null;
  isUnreachable: boolean;
  /** Repositories that the forge counts; null: it does not say. */
  total: number | null;
  /** Most stars first: at most 100 of an owner, 10 with a name. */
  candidates: Candidate[];
}

/** Who asks, and under which rules. */
export interface Asker {
  policy: TrackPolicy;
  requester: Requester;
}

const FULL_SECONDS = 60;

interface ResolverOptions {
  database: Database;
  clock: Clock;
  quotas: DailyQuotas;
  trackRequests: TrackRequests;
}

export class Resolver {
  readonly #options: ResolverOptions;

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  /** Requests what a text asks for. `as`: of a README, the repository or its links. Throws as `TrackRequests.request` does. */
  async ask(text: string, by: Asker, as?: "repository" | "links"): Promise<AskOutcome> {
    const { policy } = by;
    checkMayAsk(policy);
    const asked = parseAsked(text, policy.forges);
    switch (asked.kind) {
      case "problem":
        throw invalidParameter(
          "repository",
          asked.problem,
          asked.allowed === undefined ? {} : { allowed: asked.allowed },
        );
      case "repositories": {
        const [first, ...others] = asked.addresses;
        if (first !== undefined && others.length === 0)
          return as === "links" ? this.#requestReadme(first, by, as) : this.#requestOne(first, by);
        return { kind: "list", id: await this.#requestList(asked.addresses, by) };
      }
      case "readme":
        return this.#requestReadme(asked, by, as);
      case "owner":
        return this.#question({ kind: "owner", sought: asked.owner, providers: [asked.provider] }, by);
      case "name":
        return this.#question(
          { kind: "name", sought: asked.name, providers: policy.forges.map(({ name }) => name) },
          by,
        );
    }
  }

  /** For requesters who may not read lists, a README means its repository. */
  async #requestReadme(
    { provider, fullName }: RepositoryAddress,
    by: Asker,
    as: "repository" | "links" | undefined,
  ): Promise<AskOutcome> {
    const address = { provider, fullName };
    if (as === "repository" || by.requester.mayReadLists !== true) return this.#requestOne(address, by);
    if (as === undefined) return { kind: "choice", ...address };
    return { kind: "list", id: await this.#options.trackRequests.addReadme(address) };
  }

  /** The question with this id. Undefined for any other text, and after it has been removed. */
  async findQuestion(publicId: string): Promise<Question | undefined> {
    if (tokenPrefix(publicId) !== "sidt") return undefined;
    const { database, trackRequests } = this.#options;
    const rows = await database.read
      .selectFrom("track_questions")
      .selectAll()
      .where("public_id", "=", publicId)
      .orderBy("id")
      .execute();
    const [first] = rows;
    if (first === undefined) return undefined;
    const answers: ForgeAnswer[] = [];
    for (const row of rows) {
      const isOpen = row.answered_at === null;
      answers.push(answerOf(row, isOpen ? await trackRequests.searchWait(row.provider) : NO_WAIT));
    }
    return {
      id: publicId,
      kind: first.kind === "owner" ? "owner" : "name",
      text: first.sought,
      askedAt: first.asked_at,
      isAnswered: answers.every(({ state }) => state !== "WAITING"),
      answers,
    };
  }

  /** Requests the `most` repositories of an owner with most stars. Returns the id of a list. Throws NOT_FOUND without an answer. */
  async trackAnswer(publicId: string, most: number, by: Asker): Promise<string> {
    checkMayAsk(by.policy);
    const question = await this.findQuestion(publicId);
    const found = question?.kind === "owner" ? (question.answers[0]?.candidates ?? []) : [];
    if (found.length === 0) throw new AppError("NOT_FOUND", "This question has no answer.");
    if (!Number.isSafeInteger(most) || most < 1 || most > found.length)
      throw invalidParameter("most", `must be a whole number from 1 to ${found.length}`);
    return this.#requestList(found.slice(0, most), by);
  }

  async #requestOne(address: RepositoryAddress, { policy, requester }: Asker): Promise<AskOutcome> {
    const requested = await this.#options.trackRequests.requestAddress(address, policy, requester);
    return "repository" in requested
      ? { kind: "repository", ...requested }
      : { kind: "request", ...requested };
  }

  async #requestList(addresses: readonly RepositoryAddress[], { policy, requester }: Asker): Promise<string> {
    checkMayAsk(policy, requester);
    const plain = addresses.map(({ provider, fullName }) => ({ provider, fullName }));
    return this.#options.trackRequests.addPasted(plain, requester.adding);
  }

  async #question(
    { kind, sought, providers }: { kind: QuestionKind; sought: string; providers: readonly string[] },
    { policy, requester }: Asker,
  ): Promise<AskOutcome> {
    checkMayAsk(policy, requester);
    const { database, clock, quotas } = this.#options;
    const now = clock.now();
    const same = await findSame(database.read, { kind, sought, provider: providers[0] ?? "", now });
    if (same !== undefined) return { kind: "question", id: same };
    const count = await quotas.counterOf(requester.adding);
    return database.durable.transaction().execute(async (tx) => {
      for (const provider of providers)
        if ((await countQuestions(tx, provider)) >= MAX_QUESTIONS)
          throw unavailable("Too many questions wait for this forge. Try again later.", FULL_SECONDS);
      await count(tx, { kind: "tracked", amount: 1, now });
      return { kind: "question", id: await insertQuestion(tx, { kind, sought, providers, now }) };
    });
  }
}

const NO_WAIT: Wait = { waitsUntil: null, isUnreachable: false };

function answerOf(row: QuestionRow, wait: Wait): ForgeAnswer {
  const { provider, failure, answered_at, total } = row;
  return {
    provider,
    state: answered_at === null ? "WAITING" : failure === null ? "ANSWERED" : "FAILED",
    failure: failure === null ? null : failureOf(failure, row.kind === "owner" ? "owner" : "repository"),
    ...wait,
    total: total === null ? null : Number(total),
    candidates: candidatesOf(row),
  };
}
