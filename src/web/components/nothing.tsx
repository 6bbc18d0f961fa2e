import type { FC } from "hono/jsx";

/** An empty catalogue. The home page and Explore say how to begin; other pages lead there. */
export const Nothing: FC<{ leadsHome?: boolean }> = ({ leadsHome = false }) => (
  <>
    <h1>No repositories yet</h1>
    <p class="lead">
      Repositories show up here after their first snapshot, and their growth after the second.
      {leadsHome ? (
        <>
          {" "}
          <a href="/">How to begin</a>
        </>
      ) : null}
    </p>
  </>
);
