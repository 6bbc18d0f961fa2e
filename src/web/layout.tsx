import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { forgeName } from "../config/config.js";
import type { CurrentCounters } from "../discovery/discovery.js";
import { LANGUAGES_PAGE, repositoryPage, START_TRACKING_PAGE, TOPICS_PAGE } from "../lib/page-addresses.js";
import type { Repository } from "../repositories/repositories.js";
import { assetPath } from "./assets.js";
import { ActionButton, Link, leadsTo, MainButton, Note, Notice, withQuery } from "./components/elements.js";
import { formatCount, formatDate } from "./components/numbers.js";
import { cookieIn, SAMPLE_HIDDEN } from "./cookies.js";
import type { Frame, FrameRequest, Page, RenderContext, Site } from "./page-request.js";
import { COLOURS } from "./styles/tokens.js";

/** The frame of every page: header, notices, footer; and notes that change it. */

/** The themes to choose from, as in client/theme-menu.ts. */
const THEMES = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

interface LayoutProps {
  request: FrameRequest;
  frame: Frame;
  page: Page;
  /** Repositories on the user's watchlist. */
  savedCount: number;
  children: Child;
}

/** The frame of every page. */
export const Layout: FC<LayoutProps> = ({ request, frame, page, savedCount, children }) => (
  <html lang="en">
    <Head {...{ request, frame, page }} />
    <body>
      <a class="skip" href="#content">
        Skip to content
      </a>
      {page.isCover ? (
        children
      ) : (
        <>
          <Header {...{ request, frame, savedCount }} />
          <main id="content" class="frame" tabindex={-1}>
            {page.lead}
            {request.summary === undefined || isDismissed(request) ? null : (
              <OriginNotice summary={request.summary} isAgeShown={page.showsAge ?? !isPublic(frame, page)} />
            )}
            {frame.notice === undefined ? null : (
              <Notice isDone={frame.notice.isDone}>{frame.notice.text}</Notice>
            )}
            {frame.offer === undefined ? null : <Offer repository={frame.offer} url={request.url} />}
            {children}
          </main>
          <Footer contact={request.site.contact} />
        </>
      )}
    </body>
  </html>
);

/** The sign of the service: a star in a circle. */
export const Mark: FC = () => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <circle cx="12" cy="12" r="10" fill="none" stroke="currentColor" stroke-width="1.5" />
    <path d="M12 4.5 13.8 10.2 19.5 12 13.8 13.8 12 19.5 10.2 13.8 4.5 12 10.2 10.2Z" fill="currentColor" />
  </svg>
);

const Header: FC<Omit<LayoutProps, "page" | "children">> = (
  { request, ...props },
  context: RenderContext,
) => {
  const menu = menuOf(request).filter(([path]) => leadsTo(path, context));
  const { files } = request.site;
  return (
    <header class="top">
      <div class="frame">
        <a class="brand" href="/">
          <Mark />
          <bdi>{files?.title ?? "Sidereal"}</bdi>
        </a>
        {menu.length === 0 ? null : (
          <nav aria-label="Main">
            {menu.map(([path, name]) => (
              <a href={path} aria-current={isIn(request.url.pathname, path) ? "page" : undefined}>
                {name}
              </a>
            ))}
          </nav>
        )}
        {files === undefined ? <Tools request={request} {...props} /> : <ThemeButton />}
      </div>
    </header>
  );
};

/** The choice of a theme in a site of files; its script shows the button (client/site.ts). */
export const ThemeButton: FC = () => (
  <button type="button" class="theme-button" aria-label="Theme" hidden>
    <ThemeIcon />
  </button>
);

const ThemeIcon: FC = () => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="1.75" />
    <path d="M12 4a8 8 0 0 1 0 16Z" fill="currentColor" />
  </svg>
);

/** Without languages and topics where they have nothing to compare. */
function menuOf({ site: { menu }, summary }: FrameRequest): Site["menu"] {
  const { isOwn = false, hasTopics = true } = summary ?? {};
  const left = isOwn ? [LANGUAGES_PAGE, TOPICS_PAGE] : hasTopics ? [] : [TOPICS_PAGE];
  return menu
    .filter(([path]) => !left.includes(path))
    .map(([path, name]) => [path, isOwn && path === "/explore" ? "Repositories" : name]);
}

const Footer: FC<Pick<Site, "contact">> = ({ contact }, { isStatic }: RenderContext) => (
  <footer class="bottom">
    <div class="frame">
      <p>
        Open data:{" "}
        {isStatic ? (
          <a href="/repositories.ndjson">NDJSON</a>
        ) : (
          <>
            <a href="/api/repos?format=csv">CSV</a> <a href="/api/repos">JSON</a> <a href="/docs">API</a>
          </>
        )}
      </p>
      <Link href="/embed" isControl>
        Share a chart
      </Link>
      {isStatic ? (
        <Link href="/sitemap.xml" isControl>
          Sitemap
        </Link>
      ) : null}
      <a href="/about">How growth is measured</a>
      {contact === undefined ? null : <a href={contact}>Contact</a>}
    </div>
  </footer>
);

/** The search, the themes and the account. */
const Tools: FC<Pick<LayoutProps, "request" | "frame" | "savedCount">> = ({ request, frame, savedCount }) => (
  <>
    <search class="search">
      <form action="/explore" data-search="">
        <label class="hidden" for="search">
          Find or add a repository
        </label>
        <input
          id="search"
          type="search"
          name="q"
          maxlength={200}
          placeholder="Find or add a repository"
          autocomplete="off"
          spellcheck={false}
          value={request.url.pathname === "/explore" ? (request.url.searchParams.get("q") ?? "") : ""}
        />
        <button type="button" class="scripted" data-palette="">
          <span class="hidden">Open the command palette: </span>
          <kbd>Ctrl K</kbd>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M5 7h14M5 12h14M5 17h9" fill="none" stroke="currentColor" stroke-width="1.75" />
          </svg>
        </button>
      </form>
    </search>
    <div class="tools">
      <ThemeMenu />
      <UserMenu {...{ request, frame, savedCount }} />
    </div>
  </>
);

function isIn(path: string, section: string): boolean {
  return path === section || path.startsWith(`${section}/`);
}

/** The choice between light, dark, and the theme of the system. It takes a script, so it is shown only with scripts. */
const ThemeMenu: FC = () => (
  <details class="menu scripted" data-menu="" data-themes="">
    <summary aria-label="Theme" title="Theme">
      <ThemeIcon />
    </summary>
    <div>
      {THEMES.map(([theme, name]) => (
        <button type="button" data-choose-theme={theme} aria-pressed="false">
          {name}
        </button>
      ))}
    </div>
  </details>
);

/** The sign-in link, or the menu of the account. */
const UserMenu: FC<Pick<LayoutProps, "request" | "frame" | "savedCount">> = ({
  request,
  frame,
  savedCount,
}) => {
  const { account } = request;
  const isOperator = request.operator !== undefined;
  if (account === undefined)
    return (
      <a class="button" href={isOperator ? "/operator" : `/sign-in${returnQuery(request, frame)}`}>
        {isOperator ? "Status" : "Sign in"}
      </a>
    );
  return (
    <details class="menu" data-menu="">
      <summary>{account.name === "" ? account.email : account.name}</summary>
      <div>
        <a href="/watchlist">Watchlist{savedCount === 0 ? "" : ` (${savedCount})`}</a>
        <a href="/account/keys">API keys</a>
        <a href="/account">Account</a>
        {isOperator ? <a href="/operator">Status</a> : null}
        <ActionButton action="/sign-out">Sign out</ActionButton>
      </div>
    </details>
  );
};

/** The query that returns to this page after sign-in; none for the addresses of forms and secret addresses. */
function returnQuery({ url, http }: FrameRequest, { privacy }: Frame): string {
  const isOpen = privacy === "open" || privacy === "private";
  const isPage =
    http.method === "GET" && url.pathname !== "/" && !/^\/(?:sign-in|watchlists\/)/.test(url.pathname);
  return isOpen && isPage ? `?next=${encodeURIComponent(url.pathname + url.search)}` : "";
}

/** Offers to save a repository that the user selected in another browser. */
const Offer: FC<{ repository: Repository; url: URL }> = ({ repository, url }) => (
  <form method="post" action="/watchlist/items" class="note">
    <p>
      You wanted to save <a href={repositoryPage(repository)}>{repository.fullName}</a>.
    </p>
    <input type="hidden" name="repositoryId" value={repository.id} />
    <input type="hidden" name="next" value={withQuery(url, { save: undefined })} />
    <MainButton>Save {repository.fullName}</MainButton>
  </form>
);

interface OriginNoticeProps {
  summary: Pick<CurrentCounters, "catalogue" | "asOf" | "ageDays" | "repositories" | "providers">;
  /** Whether the page itself shows the age; then only forges that differ are named. */
  isAgeShown: boolean;
}

/** From this age in days, pages say how old growth is. A forge that is read every day is a day old for some hours. */
const OLD_DAYS = 2;

/** Whether this browser hides the note on the sample. */
const isDismissed = (request: FrameRequest): boolean =>
  request.summary?.catalogue === "sample" && cookieIn(request, SAMPLE_HIDDEN) !== undefined;

/** Labels sample and synthetic data on every page, and old data with its age; nothing for recent real data. */
const OriginNotice: FC<OriginNoticeProps> = ({ summary, isAgeShown }) => {
  const { catalogue } = summary;
  const age = ageOf(summary, isAgeShown);
  if (catalogue === "real") return age === undefined ? null : <Note>{age}</Note>;
  const hide = (
    <form method="post" action="/sample/dismiss" class="inline">
      <button type="submit" class="plain">
        Hide
      </button>
    </form>
  );
  return (
    <Note {...(catalogue === "sample" ? { action: hide } : {})}>
      {catalogue === "sample" ? (
        <>
          <strong>Sample data</strong> up to {formatDate(summary.asOf)}, until you track a repository.
        </>
      ) : (
        <>
          <strong>Made-up data.</strong> No repository here is real. Everything is held in memory and is lost
          when the service stops, saved repositories included. {age}
        </>
      )}{" "}
      <a href={START_TRACKING_PAGE}>How to start</a>
    </Note>
  );
};

/** "Measured 24 Aug 2026, 90 days ago.", or the same of the forges that are old; undefined if all are recent. */
function ageOf(
  { asOf, ageDays, providers }: OriginNoticeProps["summary"],
  isAgeShown: boolean,
): string | undefined {
  const old = providers.filter((one) => (one.ageDays ?? 0) >= OLD_DAYS);
  if (old.length === 0) return undefined;
  const isAll = old.length === providers.length && new Set(old.map((one) => formatDate(one.asOf))).size === 1;
  if (isAll && isAgeShown) return undefined;
  if (isAll) return `Measured ${formatDate(asOf)}${agoPart(ageDays)}.`;
  const parts = old.map((one) => `${forgeName(one.provider)} ${formatDate(one.asOf)}${agoPart(one.ageDays)}`);
  return `Measured: ${parts.join("; ")}.`;
}

/** ", 90 days ago"; empty for less than a day. */
function agoPart(days: number | null): string {
  if (days === null || days === 0) return "";
  return days === 1 ? ", 1 day ago" : `, ${formatCount(days)} days ago`;
}

/** The head of every page, and the address of the card that previews show of it. */

/** Whether everybody may find the page: it shows data of the catalogue that is public, and no error. */
export function isPublic({ privacy }: Frame, { status = 200, isHidden = false }: Page): boolean {
  return privacy === "open" && status === 200 && !isHidden;
}

/** The head of every page. */
export const Head: FC<Pick<LayoutProps, "request" | "frame" | "page">> = (
  { request, frame, page },
  context: RenderContext,
) => {
  const { isStatic } = context;
  const { files } = request.site;
  const title = page.isCover ? page.title : `${page.title} · ${files?.title ?? "Sidereal"}`;
  const isOpen = isPublic(frame, page);
  const path = page.canonical ?? request.url.pathname;
  const scripts = isStatic ? [] : ["search.js", ...(page.scripts ?? [])];
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title}</title>
      {page.refreshSeconds === undefined || isStatic ? null : (
        <Refresh seconds={page.refreshSeconds} isLive={page.isLive ?? false} />
      )}
      <script src={assetPath(isStatic ? "site.js" : "theme.js")} />
      <link rel="stylesheet" href={assetPath("sidereal.css")} />
      <link rel="icon" href={assetPath("icon.svg")} type="image/svg+xml" />
      <link rel="apple-touch-icon" href={assetPath("touch-icon.png")} />
      {isStatic ? null : <link rel="manifest" href="/manifest.webmanifest" />}
      <meta name="color-scheme" content="light dark" />
      {(["light", "dark"] as const).map((theme) => (
        <meta name="theme-color" content={COLOURS[theme].card} media={`(prefers-color-scheme: ${theme})`} />
      ))}
      {scripts.map((name) => (
        <script type="module" src={assetPath(name)} />
      ))}
      {page.description === undefined ? null : <meta name="description" content={page.description} />}
      {isOpen ? null : <meta name="robots" content="noindex" />}
      {isOpen && !isStatic ? <link rel="canonical" href={request.site.baseUrl + path} /> : null}
      <Preview {...{ request, frame, page }} />
      {(page.alternates ?? [])
        .filter(({ href }) => leadsTo(href, context))
        .map(({ type, href, title: name }) => (
          <link rel="alternate" type={type} href={href} title={name} />
        ))}
    </head>
  );
};

/** What other sites show of a link to the page: nothing of one that not everybody may see, unless it has a picture of its own. */
const Preview: FC<Pick<LayoutProps, "request" | "frame" | "page">> = (
  { request, frame, page },
  { isStatic }: RenderContext,
) => {
  const isOpen = isPublic(frame, page);
  const path = page.canonical ?? request.url.pathname;
  const { baseUrl } = request.site;
  const image = isStatic ? undefined : (page.image ?? (isOpen ? cardPath(frame, path) : undefined));
  return (
    <>
      {isOpen ? (
        <>
          <meta property="og:site_name" content="Sidereal" />
          <meta property="og:type" content="website" />
          <meta property="og:title" content={page.title} />
          {isStatic ? null : <meta property="og:url" content={baseUrl + path} />}
          {page.description === undefined ? null : (
            <meta property="og:description" content={page.description} />
          )}
        </>
      ) : null}
      {image !== undefined && (page.status ?? 200) === 200 ? (
        <>
          <meta property="og:image" content={baseUrl + image} />
          <meta property="og:image:width" content="1200" />
          <meta property="og:image:height" content="630" />
          <meta property="og:image:alt" content={cardAlt(path, page.title)} />
          <meta name="twitter:card" content="summary_large_image" />
        </>
      ) : null}
    </>
  );
};

/** Without scripts the browser reloads the page; with them, a script updates a part of it. */
const Refresh: FC<{ seconds: number; isLive: boolean }> = ({ seconds, isLive }) => {
  const reload = <meta http-equiv="refresh" content={String(seconds)} />;
  if (!isLive) return reload;
  return (
    <>
      <noscript>{reload}</noscript>
      <meta name="live-seconds" content={String(seconds)} />
      <script type="module" src={assetPath("live.js")} />
    </>
  );
};

/** The path of the card of a public page; undefined: it has none. `address`: path and query of the page. */
function cardPath({ card }: Frame, address: string): string | undefined {
  const other = card?.pathOf?.(new URL(address, "http://localhost"));
  return other ?? (card?.name === undefined ? undefined : `/cards/pages/${card.name}`);
}

/**
 * The text alternative of the card of a page: its title, unless the card ignores parameters that are in the title (window,
 * language, alignment).
 */
function cardAlt(address: string, title: string): string {
  const { pathname, searchParams } = new URL(address, "http://localhost");
  if (pathname === "/") return "Trending repositories and their gains";
  if (pathname !== "/compare") return title;
  const repositories = searchParams.getAll("repo").map((one) => one.slice(one.indexOf(":") + 1));
  return repositories.length === 0 ? title : `Chart of the stars of ${repositories.join(", ")}`;
}
