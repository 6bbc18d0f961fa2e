import type { FC } from "hono/jsx";
import { forgeName } from "../../forges.js";
import { Command } from "./command.js";

/** An empty catalogue: why it is empty and what to do. `tracked`: the configured forges. */
export const Nothing: FC<{ tracked: readonly string[] }> = ({ tracked }) => (
  <>
    <h1>No repositories yet</h1>
    <p class="lead">
      The catalogue is empty. Repositories show up here after their first snapshot, and their growth after the
      second.
    </p>
    {tracked.length === 0 ? (
      <>
        <h2>Track forges</h2>
        <p class="read">No forge is configured. Start the service with the forges to track:</p>
        <Command text="SIDEREAL_PROVIDERS=github,codeberg npm start" />
      </>
    ) : (
      <>
        <h2>Tracking has started</h2>
        <p class="read">
          {tracked.length === 1 ? "One forge is" : `${tracked.length} forges are`} configured:{" "}
          {tracked.map(forgeName).join(", ")}. The first repositories usually show up within a minute. To see
          the state of tracking, and any errors of a forge, read the log or run:
        </p>
        <Command text="npm run -s sidereal -- status" />
      </>
    )}
    <h2>{tracked.length === 0 ? "Or import history" : "Import history"}</h2>
    <Command text="npm run -s sidereal -- import github-ranking-2026-04-*.csv" />
  </>
);
