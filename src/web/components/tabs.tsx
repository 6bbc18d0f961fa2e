import type { FC } from "hono/jsx";
import { WINDOWS } from "../../rankings/rankings.js";
import { withQuery } from "./addresses.js";

export interface Tab {
  name: string;
  href: string;
  isCurrent: boolean;
}

/** Links with one selected. */
export const Tabs: FC<{ label: string; tabs: readonly Tab[] }> = ({ label, tabs }) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ name, href, isCurrent }) => (
      <a href={href} aria-current={isCurrent ? "true" : undefined}>
        {name}
      </a>
    ))}
  </nav>
);

/** Links that change the window of the page. */
export const WindowTabs: FC<{ url: URL; current: string }> = ({ url, current }) => (
  <Tabs
    label="Window"
    tabs={WINDOWS.map((name) => ({
      name,
      href: withQuery(url, { window: name }),
      isCurrent: name === current,
    }))}
  />
);
