import type { FC } from "hono/jsx";
import type { Tab } from "./tabs.js";

/** Links with one selected, wrapping onto several lines: for more links than tabs have room for. */
export const Strip: FC<{ label: string; tabs: readonly Tab[] }> = ({ label, tabs }) => (
  <nav class="strip" aria-label={label}>
    {tabs.map(({ name, href, isCurrent }) => (
      <a href={href} aria-current={isCurrent ? "true" : undefined}>
        {name}
      </a>
    ))}
  </nav>
);
