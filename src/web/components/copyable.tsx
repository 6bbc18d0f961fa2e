import type { FC } from "hono/jsx";

/** Something to be taken elsewhere, with a button that copies it where scripts run (client/copy.ts). */
export const Copyable: FC<{ id: string; label: string; text: string }> = ({ id, label, text }) => (
  <div class="copyable">
    <div class="small soft">{label}</div>
    <code id={id}>{text}</code>
    <button type="button" data-copy={id} aria-label={`Copy: ${label}`} hidden>
      Copy
    </button>
  </div>
);
