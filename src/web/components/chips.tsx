import type { FC } from "hono/jsx";
import { Dot } from "./language.js";
import type { Tab } from "./tabs.js";

export interface Chip extends Tab {
  /** The language whose dot the chip has. */
  language?: string;
}

/** Links with one selected, for a choice that changes the whole page. */
export const Chips: FC<{ label: string; chips: readonly Chip[] }> = ({ label, chips }) => (
  <nav class="chips" aria-label={label}>
    {chips.map(({ name, href, isCurrent, language }) => (
      <a class="chip" href={href} aria-current={isCurrent ? "true" : undefined}>
        {language === undefined ? null : <Dot name={language} />}
        {name}
      </a>
    ))}
  </nav>
);
