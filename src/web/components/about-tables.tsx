import type { FC } from "hono/jsx";
import { Scroll } from "./scroll.js";

export const Scores: FC = () => (
  <Scroll label="Scores">
    <table>
      <caption class="hidden">Scores, what they mean and how they are calculated</caption>
      <thead>
        <tr>
          <th scope="col">Score</th>
          <th scope="col">Meaning</th>
          <th scope="col">Calculation</th>
        </tr>
      </thead>
      <tbody>
        {(
          [
            [
              "Trending",
              "broad recent momentum",
              "60% stars, 20% growth, 10% forks, 10% activity; 0 if no stars were gained",
            ],
            ["Rising", "growth relative to its size", "stars gained ÷ (stars at the start + 50)"],
            [
              "New and hot",
              "early momentum of a young repository",
              "70% stars, 30% forks, multiplied by youth: 1 at creation, 0 after 90 days; if the date of creation is unknown, from when it was first seen with few stars",
            ],
            ["Active", "recent work", "70% days since the last push, 30% change in open issues"],
            ["Star momentum", "stars only", "stars gained ÷ √stars at the start"],
            [
              "Fork momentum",
              "forks that stars confirm",
              "forks gained ÷ √forks at the start, as far as stars were gained too",
            ],
          ] as const
        ).map(([name, says, terms]) => (
          <tr>
            <th scope="row">{name}</th>
            <td>{says}</td>
            <td>{terms}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
);

export const Unusual: FC = () => (
  <Scroll label="Unusual changes">
    <table>
      <caption class="hidden">Changes that are marked, and how much of each counts</caption>
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col">What it looks like</th>
          <th scope="col">Counted</th>
        </tr>
      </thead>
      <tbody>
        {(
          [
            ["Failed reading", "a fall that the next reading takes back", "nothing; it is not compared"],
            [
              "Unconfirmed reading",
              "a fall by a quarter or more, not read a second time",
              "the reading before it",
            ],
            ["Dropped and recovered", "a jump or a fall that reverses within days", "nothing"],
            ["Level shift", "five times the stars in one step, without matching forks", "nothing"],
            [
              "Burst",
              "far more than usual, without matching forks, issues or watchers",
              "what those support",
            ],
            ["Purge", "a loss of 0.5% or more in one step", "the full loss"],
          ] as const
        ).map(([kind, shows, counted]) => (
          <tr>
            <th scope="row">{kind}</th>
            <td>{shows}</td>
            <td>{counted}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
);
