import type { Source } from "../accounts/accounts.js";
import type { InTurn } from "../loop-turns.js";
import type { Caller } from "../metering/metering.js";
import type { Exchange } from "./identity.js";
import type { HttpRequest } from "./request.js";
import { sourceOf } from "./source.js";
import { isFromThisMachine } from "./this-machine.js";

/** A request without a query, or without a form. */
export const NO_FIELDS = new URLSearchParams();

const immediately: InTurn = (work) => work();

/** The sender of a shared request. */
const NOBODY: Caller = { kind: "anonymous", name: "" };
const NOWHERE: Source = { network: "", agent: "" };

/** The request as handlers see it, without its body. */
export function describe(exchange: Exchange): HttpRequest {
  const { message, method, target, caller, account, id } = exchange;
  const { path, params, query } = target;
  return {
    method: method === "HEAD" ? "GET" : method,
    path,
    params,
    query,
    headers: message.headers,
    caller,
    source: () => sourceOf(exchange),
    isOnThisMachine: () => isFromThisMachine(message),
    account,
    id,
    json: undefined,
    formFields: NO_FIELDS,
    rendering: immediately,
    scanning: immediately,
    ask: () => Promise.reject(new Error("a shared response cannot depend on who asks")),
  };
}

/** A shared response must not depend on who asks first, so nothing of the sender is in its request. */
export function describeShared(exchange: Exchange): HttpRequest {
  return {
    ...describe(exchange),
    headers: {},
    caller: NOBODY,
    source: () => NOWHERE,
    isOnThisMachine: () => false,
    account: undefined,
  };
}
