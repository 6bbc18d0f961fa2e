import type { FC } from "hono/jsx";

/** A shell command. Long lines scroll, by keyboard too. */
export const Command: FC<{ text: string }> = ({ text }) => (
  <pre tabindex={0}>
    <code>{text}</code>
  </pre>
);
