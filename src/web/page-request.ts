import type { JSX } from "preact";
import type { Account, Operator } from "../accounts/accounts.js";
import type { Config, ProviderSettings, TrackAccess } from "../config/config.js";
import type { CurrentCounters } from "../discovery/discovery.js";
import type { TokenCheck } from "../forges/forges.js";
import type { HttpRequest, ResponseCache, Route } from "../http/http.js";
import type { Clock } from "../lib/clock.js";
import type { AppError } from "../lib/errors.js";
import type { Members, Modules } from "../modules.js";
import type { Repository } from "../repositories/repositories.js";
import type { DailyQuota } from "../watchlists/watchlists.js";

/** The picture of a page for previews. */
export interface PageCard {
  /** It is at `/cards/pages/{name}`, see cards.ts, and has these words unless it is drawn from data. */
  name?: string;
  title?: string;
  lead?: string;
  /** The path of another picture, by the address of the page; undefined: the one with the name. */
  pathOf?: (address: URL) => string | undefined;
}

/** The dependencies of all pages. */
export interface Site {
  /** The entries of the navigation. */
  menu: readonly (readonly [path: string, name: string])[];
  modules: Modules;
  members: Members;
  /** Public address, without a slash at the end. */
  baseUrl: string;
  /** A link to the operator, a web address or `mailto:`. */
  contact?: string | undefined;
  /** Who may request repositories, and how many in a day; undefined: any number. */
  tracking: { access: TrackAccess; perDay: number | undefined };
  /** Asks a forge about a token. Throws UpstreamFailure. */
  checkToken(settings: ProviderSettings, token: string): Promise<TokenCheck>;
  /** The cache of responses of this process; absent in tests without one. */
  cache?: ResponseCache | undefined;
  /** The places of the store and the dumps. */
  storage: Pick<Config, "databaseUrl" | "dataDir" | "dumps">;
  /** The daily quota of a visitor for watchlists; undefined: no limit. */
  watchlistQuota: DailyQuota | undefined;
  /** The site whose files the pages become. Absent: a server responds. */
  files?: FileSite | undefined;
  clock: Clock;
}

/** A site of files. */
export interface FileSite {
  /** Whether it has an address. */
  has(address: string): boolean;
  title: string;
  /** Those that its first page shows. */
  comparisons: readonly Comparison[];
}

/** Repositories to compare. */
export interface Comparison {
  repositories: readonly Repository[];
  /** undefined: their names. */
  name: string | undefined;
}

/** Who may see a page; from the cache policy of its route. */
export type Privacy =
  /** Public, and indexed by search engines. */
  | "open"
  /** Only this visitor. */
  | "private"
  /** Anyone with its address. */
  | "link"
  /** Shows a secret, or its address works once: never cached. */
  | "secret";

/** Counters of the catalogue, and how pages differ by what it has. */
export interface PageSummary extends CurrentCounters {
  /** Whether pages of topics have anything to show. */
  hasTopics: boolean;
  /** Whether it has so few repositories that they are somebody's own: pages show them as cards, without ranks. */
  isOwn: boolean;
}

/** A request for a page. */
export interface PageRequest {
  site: Site;
  /** Those of the site. */
  modules: Modules;
  members: Members;
  /** What was sent, and from where. */
  http: HttpRequest;
  /** Path and query below the base URL; ignore its host. */
  url: URL;
  /** The signed-in account. */
  account: Account | undefined;
  /** The sender, as an operator of the service; undefined for everybody else, and on error pages. */
  operator: Operator | undefined;
  /** Size, origin and age of the data. */
  summary: PageSummary;
  now: number;
}

/** A request whose response may be the page of an error. One that must not cost a query has no summary. */
export type FrameRequest = Omit<PageRequest, "summary"> & { summary: PageSummary | undefined };

/** How a page appears because of its address and its sender. */
export interface Frame {
  privacy: Privacy;
  card?: PageCard | undefined;
  /** A message to show on this page; `isDone`: something has succeeded. */
  notice?: { text: string; isDone: boolean } | undefined;
  /** A repository that the user selected in another browser, to offer for saving. */
  offer?: Repository | undefined;
}

/** A page: its content and its metadata. */
export interface Page {
  /** Without the name of the service, which the layout appends. */
  title: string;
  body: JSX.Element;
  status?: 200 | AppError["status"];
  /** Whether it has its own head and foot. */
  isCover?: boolean;
  /** Above the notes on the data. */
  lead?: JSX.Element | undefined;
  /** A sentence for search engines and previews. */
  description?: string;
  /** Browser modules besides those of every page. */
  scripts?: readonly string[];
  /** Other formats of the content: feeds, CSV, JSON. */
  alternates?: readonly { type: string; href: string; title: string }[];
  /** Canonical path and query; absent: the path of the page. */
  canonical?: string;
  /** Path of a picture for previews; absent: that of its address, see `cardPath`. Everybody with that path sees it. */
  image?: string;
  /** Whether search engines must not find it, as the forge hides its subject. */
  isHidden?: boolean;
  /** Whether it shows how old its data is, so that no note has to. Default: whether it is private, or an error. */
  showsAge?: boolean;
  cookies?: readonly string[];
  /** The browser reloads the page after this time. */
  refreshSeconds?: number;
  /** Whether it is personal or changes without the catalogue, so that no response is kept. */
  isFresh?: boolean;
  /** Whether a script updates the parts with `data-live` every `refreshSeconds` instead. */
  isLive?: boolean;
  /** Other origins that its forms may redirect to. */
  formsTo?: readonly string[];
}

/** A redirect instead of a page. */
export interface Redirect {
  location: string;
  /** 303 after a form, 301 for a permanent move. */
  status: 301 | 302 | 303;
  cookies?: readonly string[];
}

export type Result = Page | Redirect;
export type Handler<Request> = (request: Request, form: URLSearchParams) => Promise<Result> | Result;
/** The handler of a page, or of a form with its values. */
export type PageHandler = Handler<PageRequest>;

/** A request of a signed-in user. */
export type MemberRequest = PageRequest & { account: Account };

/** A request of an operator. */
export type OperatorRequest = PageRequest & { operator: Operator };

/** A page, and the places that list it; or a form. */
export type PageRoute = Omit<Route, "handle"> & {
  handler: PageHandler;
  /** Its name in the navigation. */
  menu?: string;
  /** Whether the site map has it; of a page with a parameter in its path: which addresses. */
  siteMap?: true | readonly string[];
  card?: PageCard;
  /** Whether it shows what keeps forges from being read, and the first steps. */
  showsTracking?: true;
};

/** Finds the version of an owner's stored image; undefined without one. */
type FindOwnerImage = (provider: string, owner: string) => string | undefined;

/**
 * The second parameter of every component, which `page.tsx` gives to `renderToString`. Preact's `createContext` is not used, as a
 * rendered provider keeps its whole page in memory until the next full garbage collection.
 */
export interface RenderContext {
  /** When the page is made, for relative times. Absent: times are exact. */
  now?: number;
  /** The stored images. Absent: owners have their initials. */
  findOwnerImage?: FindOwnerImage;
  /** Whether the page becomes a file of a site: no scripts, and nothing that a server must do. */
  isStatic?: boolean;
  /** Whether an operator sees it. */
  isOperator?: boolean;
  /** Whether a link leads somewhere. Absent: all do. */
  isPublished?: (address: string) => boolean;
}
