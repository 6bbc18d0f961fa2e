import type { FC } from "hono/jsx";
import { describeEvidence, type Rename } from "../../catalog/catalog.js";
import type { RenamedName } from "../../lists/lists.js";
import { repositoryPage } from "../../page-addresses.js";
import { formatDate } from "./numbers.js";

export interface RenameNoticeProps {
  repositoryId: number;
  renames: readonly Rename[];
}

/** Names that seem to belong to the same repository, with the evidence; nothing without any. */
export const RenameNotice: FC<RenameNoticeProps> = ({ repositoryId, renames }) => {
  const shown = renames.filter(({ status }) => status !== "REJECTED");
  if (shown.length === 0) return null;
  return (
    <div class="note" role="note">
      {shown.map((rename) => (
        <p>{rename.from.id === repositoryId ? <Later rename={rename} /> : <Earlier rename={rename} />}</p>
      ))}
    </div>
  );
};

const Later: FC<{ rename: Rename }> = ({ rename }) => (
  <>
    <strong>
      Looks like{" "}
      <a href={repositoryPage(rename.to)}>
        <bdi>{rename.to.fullName}</bdi>
      </a>
    </strong>{" "}
    since {formatDate(rename.evidence.to.at)}: {describeEvidence(rename.evidence).join(", ")}. The history of
    this name stays here, and is no longer listed.
  </>
);

const Earlier: FC<{ rename: Rename }> = ({ rename }) => (
  <>
    <strong>
      {rename.status === "ACCEPTED" ? "Was " : "Seems to have been "}
      {rename.status === "ACCEPTED" ? (
        <bdi>{rename.from.fullName}</bdi>
      ) : (
        <a href={repositoryPage(rename.from)}>
          <bdi>{rename.from.fullName}</bdi>
        </a>
      )}
    </strong>{" "}
    until {formatDate(rename.evidence.from.at)}: {describeEvidence(rename.evidence).join(", ")}.{" "}
    {rename.status === "ACCEPTED"
      ? "Its history is part of this one."
      : "Growth since before that day is counted from there; the histories are not joined."}
  </>
);

/** Where a name that was searched for continues. */
export const RenamedHint: FC<{ renamed: RenamedName }> = ({ renamed: { fullName, isSuspected, to } }) => (
  <p>
    <bdi>{fullName}</bdi> {isSuspected ? "seems to continue as" : "is now"}{" "}
    <a href={repositoryPage(to)}>
      <bdi>{to.fullName}</bdi>
    </a>
    .
  </p>
);
