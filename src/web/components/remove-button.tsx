import type { FC } from "hono/jsx";

/** The submit button that removes the named repository from a list. */
export const RemoveButton: FC<{ fullName: string }> = ({ fullName }) => (
  <button type="submit" class="star quiet" aria-label={`Remove ${fullName}`} title="Remove">
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d="M6.5 6.5l11 11m0-11l-11 11" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" />
    </svg>
  </button>
);
