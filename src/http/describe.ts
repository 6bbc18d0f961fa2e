import type { Caller } from "../metering/metering.js";
import type { Exchange } from "./identity.js";
import type { HttpRequest } from "./request.js";

/** A request without a query, or without a form. */
export const NO_FIELDS = new URLSearchParams();

/** The sender of a shared request. */
const NOBODY: Caller = { kind: "anonymous", name: "" };

/** The request as handlers see it, without its body. */
export function describe({ message, method, target, caller, account, id }: Exchange): HttpRequest {
  const { path, params, query } = target;
  return {
    method: method === "HEAD" ? "GET" : method,
    path,
    params,
    query,
    headers: message.headers,
    caller,
    account,
    id,
    json: undefined,
    formFields: NO_FIELDS,
    offThread: (work) => work(),
  };
}

/** A shared response must not depend on who asks first, so nothing of the sender is in its request. */
export function describeShared(exchange: Exchange): HttpRequest {
  return { ...describe(exchange), headers: {}, caller: NOBODY, account: undefined };
}
