import type { FC } from "hono/jsx";
import { HOUR_MS } from "../../clock.js";
import { forgeName } from "../../forges.js";
import type { ForgeProgress } from "../progress.js";
import { Ago, durationWords } from "./ago.js";
import { formatCount } from "./numbers.js";
import { Scroll } from "./scroll.js";

/** Two snapshots of a repository must be this far apart for a growth. */
const GROWTH_MS = 12 * HOUR_MS;

/** How far tracking is, forge by forge, and what comes next. */
export const Progress: FC<{ forges: readonly ForgeProgress[]; now: number }> = ({ forges, now }) => {
  const hasQuota = forges.some(({ quota }) => quota !== null);
  return (
    <Scroll label="Progress of tracking">
      <table>
        <caption class="hidden">Progress of tracking</caption>
        <thead>
          <tr>
            <th scope="col">Forge</th>
            <th scope="col" class="number">
              Found
            </th>
            <th scope="col" class="number">
              Read in 24 h
            </th>
            <th scope="col" class="number">
              Histories left
            </th>
            {hasQuota ? (
              <th scope="col" class="number">
                Requests left
              </th>
            ) : null}
            <th scope="col">Next</th>
          </tr>
        </thead>
        <tbody>
          {forges.map((forge) => (
            <tr>
              <th scope="row">{forgeName(forge.provider)}</th>
              <td class="number">{formatCount(forge.found)}</td>
              <td class="number">{formatCount(forge.read)}</td>
              <td class="number">{formatCount(forge.historiesLeft)}</td>
              {hasQuota ? (
                <td class="number">
                  {forge.quota === null ? (
                    "–"
                  ) : (
                    <>
                      {formatCount(forge.quota.remaining)} of {formatCount(forge.quota.limit)}
                    </>
                  )}
                </td>
              ) : null}
              <td>
                <Next forge={forge} now={now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
};

const Next: FC<{ forge: ForgeProgress; now: number }> = ({
  forge: { walk, due, found, reportedAt },
  now,
}) => {
  if (reportedAt === null) return <>The worker starts within seconds.</>;
  const growthAt = walk?.isFirst === true ? walk.startedAt + GROWTH_MS : null;
  return (
    <>
      {walk === null
        ? "Discovery starts. "
        : walk.isRunning
          ? `Discovery is running${found === 0 ? "" : ", and adds repositories as it finds them"}. `
          : walk.nextAt === null
            ? "Discovery starts soon. "
            : `Discovery again in ${durationWords(walk.nextAt - now)}. `}
      {due === 0 ? "" : `${formatCount(due)} to be read now. `}
      {growthAt !== null && growthAt > now ? (
        <>
          First growth <Ago at={growthAt} now={now} />.
        </>
      ) : null}
    </>
  );
};
