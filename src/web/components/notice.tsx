import type { Child, FC } from "hono/jsx";

/** What has just happened, which screen readers announce. `isDone`: it has succeeded; otherwise it needs attention. */
export const Notice: FC<{ isDone: boolean; children: Child }> = ({ isDone, children }) => (
  <div class={isDone ? "note done" : "note"} role="status">
    <p>{children}</p>
  </div>
);
