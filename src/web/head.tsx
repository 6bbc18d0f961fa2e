import type { FunctionComponent as FC } from "preact";
import { assetPath } from "./assets.js";
import { leadsTo } from "./components/elements.js";
import type { FrameRequest, Page } from "./page-request.js";
import type { RenderContext } from "./render-context.js";
import { COLOURS } from "./styles/tokens.js";

/** The head of every page, and the address of the card that previews show of it. */

/** Whether everybody may find the page: it shows data of the catalogue that is public, and no error. */
export function isPublic({ privacy }: FrameRequest, { status = 200, isHidden = false }: Page): boolean {
  return privacy === "open" && status === 200 && !isHidden;
}

/** The head of every page. */
export const Head: FC<{ request: FrameRequest; page: Page }> = (
  { request, page },
  context: RenderContext,
) => {
  const { isStatic } = context;
  const title = `${page.title} · Sidereal`;
  const isOpen = isPublic(request, page);
  const path = page.canonical ?? request.url.pathname;
  const address = request.baseUrl + path;
  const image = isStatic ? undefined : (page.image ?? (isOpen ? cardPath(request, path) : undefined));
  const scripts = isStatic ? [] : ["search.js", ...(page.scripts ?? [])];
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title}</title>
      {page.refreshSeconds === undefined || isStatic ? null : (
        <Refresh seconds={page.refreshSeconds} isLive={page.isLive ?? false} />
      )}
      {isStatic ? null : <script src={assetPath("theme.js")} />}
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
      {isOpen && !isStatic ? <link rel="canonical" href={address} /> : null}
      {isOpen ? (
        <>
          <meta property="og:site_name" content="Sidereal" />
          <meta property="og:type" content="website" />
          <meta property="og:title" content={page.title} />
          {isStatic ? null : <meta property="og:url" content={address} />}
          {page.description === undefined ? null : (
            <meta property="og:description" content={page.description} />
          )}
        </>
      ) : null}
      {image !== undefined && (page.status ?? 200) === 200 ? (
        <>
          <meta property="og:image" content={request.baseUrl + image} />
          <meta property="og:image:width" content="1200" />
          <meta property="og:image:height" content="630" />
          <meta property="og:image:alt" content={cardAlt(path, page.title)} />
          <meta name="twitter:card" content="summary_large_image" />
        </>
      ) : null}
      {(page.alternates ?? [])
        .filter(({ href }) => leadsTo(href, context))
        .map(({ type, href, title: name }) => (
          <link rel="alternate" type={type} href={href} title={name} />
        ))}
    </head>
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
function cardPath({ card }: FrameRequest, address: string): string | undefined {
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
