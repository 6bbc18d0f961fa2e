import { isoTime } from "../lib/clock.js";
import { time, z } from "../lib/schema.js";
import {
  describeEvidence,
  RENAME_STATUSES,
  type Rename,
  type RenamedRepository,
} from "../repositories/repositories.js";

const countsSchema = z.object({ at: time, stars: z.int(), forks: z.int().nullable() });

const renameSchema = z
  .object({
    id: z.string().openapi({ description: "The repository with the other name." }),
    provider: z.string(),
    fullName: z.string(),
    status: z.enum(RENAME_STATUSES).exclude(["REJECTED"]),
    suspectedAt: time,
    reasons: z.array(z.string()).openapi({ description: "The evidence as short phrases." }),
    evidence: z.object({
      source: z.string().openapi({ description: "The archive with both names." }),
      from: countsSchema.openapi({ description: "The last counts under the earlier name." }),
      to: countsSchema.openapi({ description: "The first counts under the later name." }),
      sameDescription: z.boolean(),
      sameName: z.boolean(),
      similarName: z.boolean(),
      sameOwner: z.boolean(),
      sameLanguage: z.boolean(),
      isReturn: z
        .boolean()
        .openapi({ description: "The later name was in use before the earlier one, too." }),
    }),
  })
  .openapi("Rename", {
    description:
      "A name that seems to continue as another, in a source without ids. The two stay separate until it is accepted.",
  });

export const renamesSchema = z.object({
  from: z
    .array(renameSchema)
    .openapi({ description: "Names that seem to be earlier ones of this repository." }),
  to: renameSchema
    .optional()
    .openapi({ description: "The name under which this one seems to continue. Absent without one." }),
});

type RenamesView = z.output<typeof renamesSchema>;

/** The renames of a repository that are not rejected; undefined if there are none. */
export function renamesView(renames: readonly Rename[], repositoryId: number): RenamesView | undefined {
  const from = renames.flatMap((rename) =>
    rename.to.id === repositoryId ? viewOf(rename, rename.from) : [],
  );
  const [to] = renames.flatMap((rename) =>
    rename.from.id === repositoryId ? viewOf(rename, rename.to) : [],
  );
  if (to === undefined) return from.length === 0 ? undefined : { from };
  return { from, to };
}

function viewOf({ status, suspectedAt, evidence }: Rename, other: RenamedRepository): RenamesView["from"] {
  if (status === "REJECTED") return [];
  const { source, from, to, sameDescription, sameName, similarName, sameOwner, sameLanguage, isReturn } =
    evidence;
  const counts = ({ at, stars, forks }: typeof from) => ({ at: isoTime(at), stars, forks });
  return [
    {
      id: String(other.id),
      provider: other.provider,
      fullName: other.fullName,
      status,
      suspectedAt: isoTime(suspectedAt),
      reasons: describeEvidence(evidence),
      evidence: {
        source,
        from: counts(from),
        to: counts(to),
        sameDescription,
        sameName,
        similarName,
        sameOwner,
        sameLanguage,
        isReturn,
      },
    },
  ];
}
