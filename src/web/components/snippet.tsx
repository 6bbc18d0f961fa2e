import type { FC } from "hono/jsx";

/** Text to copy. The script copy.js reveals the button. */
export const Snippet: FC<{ id: string; label: string; text: string }> = ({ id, label, text }) => (
  <div class="snippet">
    <div class="apart">
      <span class="soft small" id={`${id}-label`}>
        {label}
      </span>
      <button type="button" class="plain" data-copy={id} hidden aria-describedby={`${id}-label`}>
        Copy
      </button>
    </div>
    <pre id={id}>
      <code>{text}</code>
    </pre>
  </div>
);
