import type { FC } from "hono/jsx";

/** Something to type into a terminal. Long lines scroll, by keyboard too. */
export const Command: FC<{ text: string }> = ({ text }) => (
  <pre tabindex={0}>
    <code>{text}</code>
  </pre>
);
