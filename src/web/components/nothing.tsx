import type { FC } from "hono/jsx";
import { forgeName } from "../../forges.js";
import { Command } from "./command.js";

/** What an empty catalogue shows: what is happening, and what to do. `tracked` are the forges that are asked. */
export const Nothing: FC<{ tracked: readonly string[] }> = ({ tracked }) => (
  <>
    <h1>No repositories yet</h1>
    <p class="lead">
      The catalogue is empty. As soon as the first repository is recorded it shows up here; growth can be told
      from its second snapshot on.
    </p>
    {tracked.length === 0 ? (
      <>
        <h2>Track forges from now on</h2>
        <p class="read">No forge is configured. Name some, and a worker asks them:</p>
        <Command text="SIDEREAL_PROVIDERS=github,codeberg npm start" />
      </>
    ) : (
      <>
        <h2>Being tracked</h2>
        <p class="read">
          {tracked.length === 1 ? "One forge is" : `${tracked.length} forges are`} configured:{" "}
          {tracked.map(forgeName).join(", ")}. The first repositories are usually there within a minute of the
          start of the worker. Its log tells what it asks for, and whether a forge refuses; so does this:
        </p>
        <Command text="npm run -s sidereal -- status" />
      </>
    )}
    <h2>{tracked.length === 0 ? "Or bring a history" : "Bring a history meanwhile"}</h2>
    <Command text="npm run -s sidereal -- import github-ranking-2026-04-*.csv" />
  </>
);
