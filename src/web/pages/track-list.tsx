import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import { AppError } from "../../lib/errors.js";
import type { TrackList } from "../../tracking/tracking.js";
import { type Fact, Facts } from "../components/elements.js";
import { formatCount, repositoriesText } from "../components/numbers.js";
import type { Page, PageRequest } from "../page-request.js";
import { Progress, readProgress } from "../progress.js";

const REFRESH_SECONDS = 3;

/** The progress of repositories that were requested together. */
export async function showTrackList(request: PageRequest): Promise<Page> {
  const list = await request.modules.trackRequests.findList(request.params.listId ?? "");
  if (list === undefined)
    throw new AppError("NOT_FOUND", "No such list. Lists are removed a week after they are requested.");
  const isOver = list.failure !== null || (list.isRead && list.waiting === 0);
  return {
    title: titleOf(list),
    ...(isOver ? {} : { refreshSeconds: REFRESH_SECONDS, isLive: true }),
    body: (
      <div data-live="list">
        <h1>{titleOf(list)}</h1>
        <p class="lead" role="status">
          {leadOf(list, isOver)}
        </p>
        {list.isRead && list.failure === null ? (
          <>
            <p>
              <label>
                <span class="hidden">Done</span>
                <progress value={list.found - list.waiting} max={Math.max(1, list.found)} />
              </label>
            </p>
            <Facts facts={factsOf(list)} />
          </>
        ) : null}
        {list.failures.length === 0 ? null : (
          <>
            <h2>Not tracked</h2>
            <ul class="plain">
              {list.failures.map(({ fullName, message }) => (
                <li>
                  <code>{fullName}</code>: {message}
                </li>
              ))}
            </ul>
          </>
        )}
        {list.leftOutNames.length === 0 ? null : <LeftOut list={list} />}
        {isOver ? (
          <p>
            <a class="button press" href="/explore?sort=created">
              Explore
            </a>{" "}
            <a class="button" href="/track">
              Track others
            </a>
          </p>
        ) : (
          <>
            <h2>Tracking as a whole</h2>
            <Progress forges={await readProgress(request)} request={request} />
            <p class="soft small">
              This page updates itself every {REFRESH_SECONDS} seconds. You can close it and come back to its
              address.
            </p>
          </>
        )}
      </div>
    ),
  };
}

function titleOf({ source, found, isRead }: TrackList): string {
  if (source !== null) return `Tracking what ${source.fullName} links to`;
  return isRead && found === 1 ? "Tracking 1 repository" : `Tracking ${formatCount(found)} repositories`;
}

const LeftOut: FC<{ list: TrackList }> = ({ list: { leftOut, leftOutNames } }) => (
  <form method="post" action="/track" class="box">
    <div class="field">
      <label for="left-out">
        Left out: {repositoriesText(leftOut)}
        {leftOut > leftOutNames.length ? `; the first ${formatCount(leftOutNames.length)}` : ""}
      </label>
      <textarea id="left-out" name="repository" rows={8} spellcheck={false}>
        {leftOutNames.join("\n")}
      </textarea>
    </div>
    <button type="submit">Track these too</button>
    <p class="soft small">
      Each list, each day and the queue of each forge has a limit. What is refused now fits tomorrow (UTC).
    </p>
  </form>
);

function leadOf({ source, isRead, failure, waiting, found }: TrackList, isOver: boolean): string {
  if (failure !== null) return `Its README cannot be read. ${failure.message}`;
  if (!isRead && source !== null) return `Its README waits to be read on ${forgeName(source.provider)}.`;
  if (found === 0) return "It links to no repository of a tracked forge.";
  if (isOver) return "All of them are looked up. Their star histories follow, where the forge has them.";
  return `${formatCount(waiting)} wait to be looked up.`;
}

function factsOf({ found, known, recorded, waiting, failed, leftOut }: TrackList): Fact[] {
  const others = found - known - recorded - waiting - failed - leftOut;
  return [
    { name: "Named", value: formatCount(found) },
    { name: "Tracked before", value: formatCount(known) },
    { name: "Added", value: formatCount(recorded) },
    { name: "Waiting", value: formatCount(waiting) },
    ...(failed === 0 ? [] : [{ name: "Not found", value: formatCount(failed) }]),
    ...(leftOut === 0 ? [] : [{ name: "Left out", value: formatCount(leftOut), more: "see below" }]),
    ...(others <= 0 ? [] : [{ name: "Requested by others", value: formatCount(others) }]),
  ];
}
