import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { repositoryPage } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import type { Changes } from "../../watchlists/watchlists.js";
import { Delta, Time } from "./numbers.js";

export interface SinceVisitProps {
  changes: Changes;
  /** The repositories named in the changes, by id. */
  known: ReadonlyMap<number, Repository>;
}

/** Repositories named for their gain. */
const NAMED = 3;

/** The repositories that gained most since the last visit, with their gains. */
export function topGains({ gained }: Changes): [id: number, gain: number][] {
  return [...gained]
    .flatMap(([id, gain]): [number, number][] => (gain === null || gain <= 0 ? [] : [[id, gain]]))
    .sort(([, a], [, b]) => b - a)
    .slice(0, NAMED);
}

/** Changes of a list since the last visit. */
export const SinceVisit: FC<SinceVisitProps> = ({ changes, known }) => {
  const { since, gained, totalGained, renamed, archived, unavailable } = changes;
  const moved = [...gained.values()].filter((value) => value !== null && value !== 0).length;
  const isQuiet = moved === 0 && renamed.length + archived.length + unavailable.length === 0;
  return (
    <section class="since" aria-labelledby="since">
      <h2 id="since">Since your last visit</h2>
      <p>
        <span class="soft">
          <Time at={since} />
        </span>
        {isQuiet ? (
          ": no changes."
        ) : (
          <>
            : <Delta value={totalGained} /> stars in total; {moved} of {gained.size}{" "}
            {gained.size === 1 ? "repository" : "repositories"} changed.
          </>
        )}
      </p>
      <ul class="plain">
        {topGains(changes).map(([id, gain]) => (
          <Line {...{ known, id }}>
            <Delta value={gain} />
          </Line>
        ))}
        {renamed.map(({ repositoryId, from }) => (
          <Line {...{ known }} id={repositoryId}>
            was renamed from {from}
          </Line>
        ))}
        {archived.map((id) => (
          <Line {...{ known, id }}>was archived</Line>
        ))}
        {unavailable.map((id) => (
          <Line {...{ known, id }}>is {absenceOf(known.get(id))}</Line>
        ))}
      </ul>
    </section>
  );
};

function absenceOf(repository: Repository | undefined): string {
  switch (repository?.availability) {
    case "PRIVATE":
      return "now private";
    case "BLOCKED":
      return "blocked by its forge";
    default:
      return "no longer available";
  }
}

const Line: FC<{ known: ReadonlyMap<number, Repository>; id: number; children: Child }> = ({
  known,
  id,
  children,
}) => {
  const repository = known.get(id);
  return repository === undefined ? null : (
    <li>
      <a href={repositoryPage(repository)}>{repository.fullName}</a> {children}
    </li>
  );
};
