import { createToken } from "../../../src/lib/tokens.js";
import { unknownSession } from "../../support/members.js";
import { API_CASES } from "./api-cases.js";
import type { CatalogueFacts } from "./facts.js";
import { PAGE_CASES } from "./page-cases.js";

/** A request to be measured. */
export interface Sent {
  method: string;
  /** Path and query. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** What cases are made from. */
export interface CaseContext {
  facts: CatalogueFacts;
  /** The address of the service, as a page of it sends it in `Origin`. */
  origin: string;
  /** Tokens of a list of 500 repositories. */
  token: string;
  shareToken: string;
  /** Creates another list of 500 repositories and returns its token. */
  newList(): Promise<string>;
}

/** One expensive request of a route. */
export interface ExpensiveCase {
  name: string;
  /** The status that proves that the work was done. */
  status: number;
  /** `round`: requests of different rounds cost the same, and nothing remembered from one makes the next cheaper. */
  send(context: CaseContext, round: number): Sent | Promise<Sent>;
}

/** The worst known requests, by route: method and path as in the route tables. */
export const CASES: Readonly<Record<string, readonly ExpensiveCase[]>> = { ...API_CASES, ...PAGE_CASES };

/** What costs before or without a route. */
export const OTHER_CASES: readonly ExpensiveCase[] = [
  {
    name: "no such path, as a page",
    status: 404,
    send: (_, round) => ({
      method: "GET",
      path: `/${"x".repeat(980)}${round}`,
      headers: { accept: "text/html" },
    }),
  },
  {
    name: "an unknown API key",
    status: 401,
    send: () => ({ method: "GET", path: "/api/stats/summary", headers: { "x-api-key": createToken("sid") } }),
  },
  {
    name: "a malformed Authorization",
    status: 401,
    send: () => ({
      method: "GET",
      path: "/api/stats/summary",
      headers: { authorization: `Bearer x${" ".repeat(900)}y` },
    }),
  },
  {
    name: "an unknown session among long cookies",
    status: 200,
    send: (_, round) => ({
      method: "GET",
      path: "/about",
      headers: {
        cookie: `${`a=${"b".repeat(15)}; `.repeat(195)}${unknownSession(round, "")}`,
      },
    }),
  },
];
