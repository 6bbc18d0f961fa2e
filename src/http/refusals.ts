import type { AppError } from "../errors.js";
import type { Route } from "./route.js";
import type { StoredResponse } from "./stored-response.js";

/** In place of the id of a request: as long as one, and with a character that none has. */
const ID = "(request-id)";

/** In place of the seconds to wait, in the texts and headers of an error: about as wide as a number, and in no other text. */
export const WAIT = "~s~";

const PLACEHOLDERS = /(\(request-id\)|~s~)/;

/** Why a request is refused before anything is done for it. */
export interface Refusal {
  /** For each reason always the same object. */
  error: AppError;
  /** What the response has in place of WAIT. */
  waitSeconds?: number | undefined;
}

/** A refusal, and what its response depends on besides. */
export interface RefusalContext extends Refusal {
  route: Pick<Route, "form" | "access">;
  /** The form of the error, and whatever else of the request its response contains. There must be few different ones. */
  shape: string;
  id: string;
}

interface Prepared {
  response: StoredResponse;
  /** The body, split at its placeholders; undefined if it has none. */
  parts: readonly string[] | undefined;
  /** The header that is WAIT; -1 if none is. */
  waitAt: number;
}

/**
 * Responses to errors that are always the same object, such as when the service is overloaded: each is rendered once for every form,
 * access and shape, without anything of the request that comes first. After that it only gets the id of the request and the
 * seconds to wait. Then a refusal costs much less than what it refuses.
 */
export class Refusals {
  readonly #prepared = new WeakMap<AppError, Map<string, Prepared>>();

  /** `render`: makes the response with a given id. */
  async respond(
    { error, waitSeconds, route, shape, id }: RefusalContext,
    render: (id: string) => Promise<StoredResponse>,
  ): Promise<StoredResponse> {
    const known = this.#prepared.get(error) ?? new Map<string, Prepared>();
    this.#prepared.set(error, known);
    const key = `${route.form} ${route.access} ${shape}`;
    let prepared = known.get(key);
    if (prepared === undefined) {
      prepared = prepare(await render(ID));
      known.set(key, prepared);
    }
    const { response, parts, waitAt } = prepared;
    if (parts === undefined && waitAt < 0) return response;
    const wait = String(waitSeconds ?? "");
    const values: Readonly<Record<string, string>> = { [ID]: id, [WAIT]: wait };
    return {
      ...response,
      headers: waitAt < 0 ? response.headers : response.headers.with(waitAt, wait),
      body:
        parts === undefined
          ? response.body
          : Buffer.from(parts.map((part) => values[part] ?? part).join(""), "latin1"),
      variants: new Map(),
    };
  }
}

function prepare(response: StoredResponse): Prepared {
  const parts = response.body.toString("latin1").split(PLACEHOLDERS);
  return {
    response,
    parts: parts.length > 1 ? parts : undefined,
    waitAt: response.headers.indexOf(WAIT),
  };
}
