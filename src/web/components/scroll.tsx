import type { Child, FC } from "hono/jsx";

/** Wide content that scrolls horizontally on narrow screens, by keyboard too. */
export const Scroll: FC<{ label: string; children: Child }> = ({ label, children }) => (
  <section class="scroll" tabindex={0} aria-label={label}>
    {children}
  </section>
);
