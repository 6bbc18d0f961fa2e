import type { FC } from "hono/jsx";

/** What an empty catalogue shows: what is happening, and what to do. */
export const Nothing: FC = () => (
  <>
    <h1>No repositories yet</h1>
    <p class="lead">
      The catalogue is empty. As soon as the first repository is recorded it shows up here; growth can be told
      from its second snapshot on.
    </p>
    <h2>If forges are being tracked</h2>
    <p class="read">
      The first ones are usually there within a minute. The log of the worker tells what it asks for, and
      whether a forge refuses.
    </p>
    <h2>If none is</h2>
    <p>Track forges from now on:</p>
    <pre>
      <code>SIDEREAL_PROVIDERS=github,codeberg npm start</code>
    </pre>
    <p>Or bring a history:</p>
    <pre>
      <code>npm run -s sidereal -- import github-ranking-2026-04-*.csv</code>
    </pre>
  </>
);
