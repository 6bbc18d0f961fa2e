import type { FC } from "hono/jsx";
import type { Trend } from "../../rankings/rankings.js";

/** Explains "still held" below gains that are; nothing where none is. */
export const StillHeldNote: FC<{ trends: readonly (Trend | null | undefined)[] }> = ({ trends }) =>
  trends.some((trend) => trend?.basis === "RETAINED") ? (
    <p class="soft small">
      Still held: stars given in this time and not withdrawn before the forge reported them. Shown until our
      own counts cover half of the window. <a href="/about#windows">More</a>
    </p>
  ) : null;
