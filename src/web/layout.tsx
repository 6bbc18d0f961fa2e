import type { Child, FC } from "hono/jsx";
import type { Repository } from "../catalog/catalog.js";
import { repositoryPage } from "../page-addresses.js";
import { assetPath } from "./assets.js";
import { withQuery } from "./components/addresses.js";
import { OriginNotice } from "./components/origin-notice.js";
import type { FrameRequest, Page } from "./page-request.js";

/** The main navigation. */
const NAVIGATION = [
  ["/explore", "Explore"],
  ["/languages", "Languages"],
  ["/topics", "Topics"],
  ["/compare", "Compare"],
  ["/watchlist", "Watchlist"],
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
            {NAVIGATION.map(([path, name]) => (
              <a href={path} aria-current={isIn(request.url.pathname, path) ? "page" : undefined}>
                {name}
              </a>
            ))}
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
              <kbd>/</kbd>
            </form>
          </search>
          <UserMenu request={request} savedCount={savedCount} />
        </div>
      </header>
      <main id="content" class="frame" tabindex={-1}>
        {request.summary === undefined ? null : <OriginNotice summary={request.summary} />}
        {request.notice === undefined ? null : (
          <p class="note" role="status">
            {request.notice}
          </p>
        )}
        {request.offer === undefined ? null : <Offer repository={request.offer} url={request.url} />}
        {children}
      </main>
      <footer class="bottom">
        <div class="frame">
          <p>Every number comes from stored snapshots, which you can check through the API.</p>
          <a href="/about">How scores work</a>
          <a href="/docs">API</a>
          <a href="/sitemap.xml">Sitemap</a>
        </div>
      </footer>
    </body>
  </html>
);

function isIn(path: string, section: string): boolean {
  return path === section || path.startsWith(`${section}/`);
}

const Head: FC<{ request: FrameRequest; page: Page }> = ({ request, page }) => {
  const title = `${page.title} · Sidereal`;
  const isOpen = request.privacy === "open" && (page.status ?? 200) === 200;
  const address = request.baseUrl + (page.canonical ?? request.url.pathname);
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title}</title>
      {page.refreshSeconds === undefined ? null : (
        <meta http-equiv="refresh" content={String(page.refreshSeconds)} />
      )}
      <link rel="stylesheet" href={assetPath("sidereal.css")} />
      <link rel="icon" href={assetPath("icon.svg")} type="image/svg+xml" />
      <meta name="color-scheme" content="light dark" />
      {["search.js", ...(page.scripts ?? [])].map((name) =>
        name === "uplot.js" ? (
          <script defer src={assetPath(name)} />
        ) : (
          <script type="module" src={assetPath(name)} />
        ),
      )}
      {page.description === undefined ? null : <meta name="description" content={page.description} />}
      {isOpen ? <link rel="canonical" href={address} /> : <meta name="robots" content="noindex" />}
      {isOpen ? (
        <>
          <meta property="og:site_name" content="Sidereal" />
          <meta property="og:type" content="website" />
          <meta property="og:title" content={page.title} />
          <meta property="og:url" content={address} />
          {page.description === undefined ? null : (
            <meta property="og:description" content={page.description} />
          )}
        </>
      ) : null}
      {isOpen && page.image !== undefined ? (
        <>
          <meta property="og:image" content={request.baseUrl + page.image} />
          <meta property="og:image:width" content="1200" />
          <meta property="og:image:height" content="630" />
          <meta name="twitter:card" content="summary_large_image" />
        </>
      ) : null}
      {(page.alternates ?? []).map(({ type, href, title: name }) => (
        <link rel="alternate" type={type} href={href} title={name} />
      ))}
    </head>
  );
};

/** The sign-in link, or the menu of the account. */
const UserMenu: FC<Pick<LayoutProps, "request" | "savedCount">> = ({ request, savedCount }) => {
  const { account } = request;
  if (account === undefined) {
    return (
      <a class="button" href={`/sign-in${returnQuery(request)}`}>
        Sign in
      </a>
    );
  }
  return (
    <details class="menu" data-menu="">
      <summary>{account.name === "" ? account.email : account.name}</summary>
      <div>
        <a href="/watchlist">Watchlist{savedCount === 0 ? "" : ` (${savedCount})`}</a>
        <a href="/account/keys">API keys</a>
        <a href="/account">Account</a>
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
