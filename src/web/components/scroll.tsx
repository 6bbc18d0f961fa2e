import type { Child, FC } from "hono/jsx";

/** What may be wider than the page, and then scrolls by itself; with a name, and within reach of the keyboard. */
export const Scroll: FC<{ label: string; children: Child }> = ({ label, children }) => (
  <section class="scroll" tabindex={0} aria-label={label}>
    {children}
  </section>
);
