import type { Child, FC } from "hono/jsx";

/** Something wide that scrolls by itself where there is too little room; it can be reached and scrolled by keyboard. */
export const Scroll: FC<{ label: string; children: Child }> = ({ label, children }) => (
  <section class="scroll" tabindex={0} aria-label={label}>
    {children}
  </section>
);
