import type { FC } from "hono/jsx";
import type { Summary } from "../../rankings/rankings.js";

/** Says on every page that the data is not the service's own; nothing where it is. */
export const OriginNotice: FC<{ origin: Pick<Summary, "catalogue"> }> = ({ origin: { catalogue } }) =>
  catalogue === "synthetic" ? (
    <div class="note" role="note">
      <p>
        <strong>Made-up data.</strong> No repository here is real. Everything is held in memory and is lost
        when the service stops, saved repositories included.{" "}
        <a href="/about#begin">How to track real repositories</a>
      </p>
    </div>
  ) : null;
