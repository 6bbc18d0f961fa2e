/** What good requests are made of: names, tokens, cookies and keys that the service knows. */
import type { Random } from "../../../bench/synthetic/random.js";
import { PLANTED } from "../../support/dumps.js";

export interface StockedRepository {
  id: string;
  provider: string;
  fullName: string;
}

/** Somebody signed in. */
export interface Member {
  /** As a browser sends it. */
  cookie: string;
  email: string;
  keyIds: string[];
  passkeyIds: string[];
  /** Of the cookie. */
  sessionId: string;
}

/** What an authenticator returned for a challenge, which works once. */
export interface Ceremony {
  member: Member;
  /** Of the browser that requested the challenge. */
  cookie: string;
  /** Fields of the credential, by name. */
  fields: Readonly<Record<string, string>>;
}

/** A sign-in link and its code, where it was sent, and the secret of its requester. */
export interface Link {
  requestToken: string;
  token: string;
  code: string;
  email: string;
}

export interface Stock {
  /** Where pages of the service come from. */
  origin: string;
  repositories: readonly StockedRepository[];
  words: readonly string[];
  languages: readonly string[];
  topics: readonly string[];
  licenses: readonly string[];
  /** The newest at the end; so it is with all that follow. */
  tokens: string[];
  shareTokens: string[];
  members: Member[];
  /** Members that may sign out, end their session or delete their account. */
  leaving: Member[];
  keys: string[];
  /** Unused sign-in links. */
  links: Link[];
  /** Sign-ins with a passkey, and passkeys to add. */
  assertions: Ceremony[];
  newPasskeys: Ceremony[];
  /** Requests to track a repository, by id. */
  requests: string[];
  /** Questions to the forges about an owner, by id. */
  questions: string[];
  cursors: string[];
  etags: string[];
  /** Targets that responses linked to. */
  targets: string[];
}

/** Most entries of each kind that are kept. */
const KEPT = 24;

/** Adds an entry and drops the oldest. */
export function keep<T>(entries: T[], entry: T): void {
  entries.push(entry);
  if (entries.length > KEPT) entries.shift();
}

/** What belongs together in one request. */
export interface Picked {
  repository: StockedRepository;
  member: Member;
  token: string;
  link: Link | undefined;
  ceremony: Ceremony | undefined;
}

export function pick(random: Random, stock: Stock, path: string): Picked {
  const isLeaving = /sign-out|delete$|\/api\/me$|\/sessions\//.test(path);
  const ceremony = ceremonyFor(path, stock);
  return {
    repository: random.pick(stock.repositories),
    member: ceremony?.member ?? random.pick(isLeaving ? stock.leaving : stock.members),
    ceremony,
    token: random.pick(random.chance(0.8) ? stock.tokens : stock.shareTokens),
    // A link works once.
    link: /auth\/verify$|sign-in\/(?:link|code)$/.test(path) ? stock.links.pop() : undefined,
  };
}

function ceremonyFor(path: string, { assertions, newPasskeys }: Stock): Ceremony | undefined {
  if (path === "/api/auth/passkey/verify") return assertions.pop();
  return path === "/api/me/passkeys" ? newPasskeys.pop() : undefined;
}

/** A good value for a parameter, field or property; undefined for a name that is not ours. */
export function knownValue(random: Random, stock: Stock, picked: Picked, name: string): string | undefined {
  const { repository, member, ceremony } = picked;
  const field = ceremony?.fields[name];
  if (field !== undefined) return field;
  const slash = repository.fullName.lastIndexOf("/");
  const from = (values: readonly string[], other: string) =>
    values.length === 0 ? other : random.pick(values);
  switch (name) {
    case "id":
    case "repositoryId":
    case "ids":
    case "save":
      return repository.id;
    case "provider":
      return random.chance(0.5) ? repository.provider.toLowerCase() : repository.provider;
    case "owner":
      return repository.fullName.slice(0, slash);
    case "fullName":
      return repository.fullName;
    case "repo":
    case "repository":
    case "repositories":
      return `${repository.provider.toLowerCase()}:${repository.fullName}`;
    case "token":
      return picked.link?.token ?? picked.token;
    case "requestToken":
      return picked.link?.requestToken ?? "x".repeat(43);
    case "code":
      return picked.link?.code ?? String(random.between(10_000_000, 99_999_999));
    case "keyId":
      return from(member.keyIds, "1");
    case "requestId":
    case "listId":
      return from(stock.requests, "sidt_");
    case "questionId":
      return from(stock.questions, "sidt_");
    case "most":
      return "3";
    case "passkeyId":
      return from(member.passkeyIds, "x");
    case "sessionId":
      return member.sessionId;
    case "file":
      return PLANTED;
    case "range":
      return `bytes=${random.between(0, 2_000)}-`;
    case "idempotency-key":
      return `request-${random.between(1_000_000_000, 9_999_999_999)}`;
    case "if-range":
      return '"x"';
    case "site":
      return "github";
    case "ranking":
      return random.pick(["trending", "rising", "new-hot", "new_hot", "starsGained", "FORKS_GAINED"]);
    case "q":
      return random.pick(stock.words);
    case "language":
      return random.pick(stock.languages);
    case "topic":
      return random.pick(stock.topics);
    case "license":
      return random.pick(stock.licenses);
    case "createdAfter":
    case "createdBefore":
    case "pushedAfter":
    case "updatedAfter":
      return `20${random.between(10, 26)}-0${random.between(1, 9)}-${random.between(10, 28)}`;
    case "from":
    case "to":
      return `2026-0${random.between(1, 5)}-${random.between(10, 28)}`;
    case "cursor":
      return from(stock.cursors, "WyJ4IiwwLDBd");
    case "if-match":
      return random.chance(0.5) ? "*" : from(stock.etags, '"x"');
    case "email":
      return picked.link?.email ?? `guest${random.between(1, 1_000_000)}@example.org`;
    case "confirmation":
      return member.email;
    case "next":
      return random.pick(["/account", "/watchlist", "/explore?q=web"]);
    case "query":
      return "sort=stars";
    case "page":
      return random.pick(["1", "2", "home", "about", "docs"]);
    case "document":
      return random.pick(["rankings", "operations"]);
    case "part":
      return "repositories-1";
    default:
      return undefined;
  }
}
