import type { FC } from "hono/jsx";
import type { Tab } from "./tabs.js";

/** Links of which one is chosen, for more of them than tabs have room for: they break into lines. */
export const Strip: FC<{ label: string; tabs: readonly Tab[] }> = ({ label, tabs }) => (
  <nav class="strip" aria-label={label}>
    {tabs.map(({ name, href, isCurrent }) => (
      <a href={href} aria-current={isCurrent ? "true" : undefined}>
        {name}
      </a>
    ))}
  </nav>
);
