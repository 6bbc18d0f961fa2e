import type { Child, FC } from "hono/jsx";
import { STYLES_PATH } from "./styles.js";

interface LayoutProps {
  title: string;
  children: Child;
}

/** The frame of every page. */
export const Layout: FC<LayoutProps> = ({ title, children }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title}</title>
      <link rel="stylesheet" href={STYLES_PATH} />
      <link rel="icon" href="data:," />
    </head>
    <body>
      <a class="skip" href="#content">
        To the content
      </a>
      <header>
        <strong>Sidereal</strong>
        <nav aria-label="Main">
          <a href="/">Start</a> · <a href="/docs">API reference</a> · <a href="/api/openapi.json">OpenAPI</a>
        </nav>
      </header>
      <main id="content">{children}</main>
      <footer>Sidereal keeps its own snapshots; every number here can be checked through the API.</footer>
    </body>
  </html>
);
