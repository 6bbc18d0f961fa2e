import type { AppError } from "../errors.js";
import type { Route } from "./route.js";
import type { StoredResponse } from "./stored-response.js";

/** In place of the id of a request: as long as one, and with a character that none has. */
const ID = "(request-id)";

interface Prepared {
  response: StoredResponse;
  /** What is before and after the id in the body; undefined if the body does not contain it. */
  parts: readonly [string, string] | undefined;
}

/**
 * Responses to errors that are always the same object, such as when the service is overloaded: each is rendered once per route and
 * shape, without anything of the request that comes first, and gets only the id of the request after that. Then a refusal
 * costs much less than what it refuses.
 */
export class Refusals {
  readonly #prepared = new WeakMap<AppError, WeakMap<Route, Map<string, Prepared>>>();

  /** `shape`: in which form the error is sent. `render`: makes the response with a given id. */
  async respond(
    { error, route, shape, id }: { error: AppError; route: Route; shape: string; id: string },
    render: (id: string) => Promise<StoredResponse>,
  ): Promise<StoredResponse> {
    const byRoute = this.#prepared.get(error) ?? new WeakMap<Route, Map<string, Prepared>>();
    this.#prepared.set(error, byRoute);
    const byShape = byRoute.get(route) ?? new Map<string, Prepared>();
    byRoute.set(route, byShape);
    let prepared = byShape.get(shape);
    if (prepared === undefined) {
      prepared = prepare(await render(ID));
      byShape.set(shape, prepared);
    }
    const { response, parts } = prepared;
    if (parts === undefined) return response;
    return { ...response, body: Buffer.from(parts.join(id), "latin1"), variants: new Map() };
  }
}

function prepare(response: StoredResponse): Prepared {
  const [before, after, ...more] = response.body.toString("latin1").split(ID);
  const hasOne = before !== undefined && after !== undefined && more.length === 0;
  return { response, parts: hasOne ? [before, after] : undefined };
}
