import type { FC } from "../jsx-runtime.js";

/** A shell command. Long lines scroll, by keyboard too. */
export const Command: FC<{ text: string }> = ({ text }) => (
  <pre tabindex={0}>
    <code>{text}</code>
  </pre>
);
