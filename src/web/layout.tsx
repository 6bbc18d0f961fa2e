import type { Child, FC } from "hono/jsx";
import type { Repository } from "../catalog/catalog.js";
import { repositoryPage, TOPICS_PAGE } from "../page-addresses.js";
import { withQuery } from "./components/addresses.js";
import { Notice } from "./components/notice.js";
import { OriginNotice } from "./components/origin-notice.js";
import { Head, isPublic } from "./head.js";
import type { FrameRequest, Page } from "./page-request.js";

/** The main navigation. */
const NAVIGATION = [
  ["/explore", "Explore"],
  ["/languages", "Languages"],
  ["/topics", "Topics"],
  ["/compare", "Compare"],
  ["/watchlist", "Watchlist"],
] as const;

/** The themes to choose from, as client/theme-menu.ts knows them. */
const THEMES = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

interface LayoutProps {
  request: FrameRequest;
  page: Page;
  /** Repositories on the user's watchlist. */
  savedCount: number;
  children: Child;
}

/** The frame of every page. */
export const Layout: FC<LayoutProps> = ({ request, page, savedCount, children }) => (
  <html lang="en">
    <Head request={request} page={page} />
    <body>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <div class="frame">
          <a class="brand" href="/">
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <circle cx="12" cy="12" r="10" fill="none" stroke="currentColor" stroke-width="1.5" />
              <path
                d="M12 4.5 13.8 10.2 19.5 12 13.8 13.8 12 19.5 10.2 13.8 4.5 12 10.2 10.2Z"
                fill="currentColor"
              />
            </svg>
            Sidereal
          </a>
          <nav aria-label="Main">
            {NAVIGATION.filter(([path]) => path !== TOPICS_PAGE || request.summary?.topics !== 0).map(
              ([path, name]) => (
                <a href={path} aria-current={isIn(request.url.pathname, path) ? "page" : undefined}>
                  {name}
                </a>
              ),
            )}
          </nav>
          <search class="search">
            <form action="/explore" data-search="">
              <label class="hidden" for="search">
                Search repositories, languages and topics
              </label>
              <input
                id="search"
                type="search"
                name="q"
                maxlength={64}
                placeholder="Search repositories"
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
            <UserMenu request={request} savedCount={savedCount} />
          </div>
        </div>
      </header>
      <main id="content" class="frame" tabindex={-1}>
        {request.summary === undefined ? null : (
          <OriginNotice summary={request.summary} isAgeShown={page.showsAge ?? !isPublic(request, page)} />
        )}
        {request.notice === undefined ? null : (
          <Notice isDone={request.notice.isDone}>{request.notice.text}</Notice>
        )}
        {request.offer === undefined ? null : <Offer repository={request.offer} url={request.url} />}
        {children}
      </main>
      <footer class="bottom">
        <div class="frame">
          <p>Every number comes from stored snapshots, which you can check through the API.</p>
          <a href="/about">How scores work</a>
          <a href="/docs">API</a>
          <a href="/embed">Charts and badges</a>
          <a href="/sitemap.xml">Sitemap</a>
        </div>
      </footer>
    </body>
  </html>
);

function isIn(path: string, section: string): boolean {
  return path === section || path.startsWith(`${section}/`);
}

/** The choice between light, dark, and the theme of the system. It takes a script, so it is shown only with scripts. */
const ThemeMenu: FC = () => (
  <details class="menu scripted" data-menu="" data-themes="">
    <summary aria-label="Theme" title="Theme">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="1.75" />
        <path d="M12 4a8 8 0 0 1 0 16Z" fill="currentColor" />
      </svg>
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
const UserMenu: FC<Pick<LayoutProps, "request" | "savedCount">> = ({ request, savedCount }) => {
  const { account } = request;
  if (account === undefined && request.operator !== undefined)
    return (
      <a class="button" href="/operator">
        Operation
      </a>
    );
  if (account === undefined)
    return (
      <a class="button" href={`/sign-in${returnQuery(request)}`}>
        Sign in
      </a>
    );
  return (
    <details class="menu" data-menu="">
      <summary>{account.name === "" ? account.email : account.name}</summary>
      <div>
        <a href="/watchlist">Watchlist{savedCount === 0 ? "" : ` (${savedCount})`}</a>
        <a href="/account/keys">API keys</a>
        <a href="/account">Account</a>
        {request.operator === undefined ? null : <a href="/operator">Operation</a>}
        <form method="post" action="/sign-out">
          <button type="submit">Sign out</button>
        </form>
      </div>
    </details>
  );
};

/** The query that returns to this page after sign-in; none for the addresses of forms and secret addresses. */
function returnQuery({ url, method, privacy }: FrameRequest): string {
  const isOpen = privacy === "open" || privacy === "private";
  const isPage =
    method === "GET" && url.pathname !== "/" && !/^\/(?:sign-in|watchlists\/)/.test(url.pathname);
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
    <button type="submit" class="press">
      Save {repository.fullName}
    </button>
  </form>
);
