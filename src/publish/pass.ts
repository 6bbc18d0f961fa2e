import type { Job, ProviderSettings } from "../config/config.js";
import { type Reply, type Route, Router } from "../http/http.js";
import { AppError } from "../lib/errors.js";
import type { Modules } from "../modules.js";
import type { TrackingContext } from "../tracking/tracking.js";
import type { FileSite } from "../web/web.js";

/** The parts of one command without a server: a store of its own, the forges, and the routes over both. */
export interface Pass {
  modules: Modules;
  /** The forges that a name may mean: those of the settings, and all public ones. */
  forges: readonly ProviderSettings[];
  /** The job that runs the command. */
  job: Job | undefined;
  /** For requests to a forge. Throws NOT_FOUND for one that is not among `forges`. */
  contextOf(provider: string): TrackingContext;
  responder: Responder;
  /** The same for pages that become files of a site. */
  siteResponder(files: FileSite): Responder;
  /** A folder for work, next to the store. */
  folder: string;
  /** Closes everything and deletes the store. */
  close(): Promise<void>;
}

/** The public address for the routes; sites replace it. */
export const PASS_URL = "http://localhost";

const NOBODY = { kind: "anonymous", name: "" } as const;

/** Calls the routes of the service in this process, without a socket, as a visitor would. */
export class Responder {
  readonly #router: Router;

  constructor(routes: readonly Route[]) {
    this.#router = new Router(routes);
  }

  /** The facts of the page at a path; undefined: no page has it. */
  routeOf(path: string): Pick<Route, "published" | "isRanking"> | undefined {
    return this.#router.find("GET", path)?.route;
  }

  /** The response to a GET. `address`: path and query below the base URL. Throws AppError, NOT_FOUND for an unknown path. */
  async get(address: string): Promise<Reply> {
    const { pathname: path, searchParams } = new URL(address, "http://localhost");
    const found = this.#router.find("GET", path);
    if (found === undefined) throw new AppError("NOT_FOUND", `${path} is no path of the service.`);
    const { route, params } = found;
    return route.handle({
      method: "GET",
      path,
      params,
      query: new URLSearchParams([...searchParams].filter(([name]) => route.query.includes(name))),
      headers: {},
      caller: NOBODY,
      source: () => ({ network: "", agent: "" }),
      locality: () => "remote",
      isView: false,
      account: undefined,
      id: "",
      json: undefined,
      formFields: new URLSearchParams(),
      chargedAs: (_, work) => work(),
    });
  }
}
