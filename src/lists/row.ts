import type { Repository } from "../catalog/catalog.js";
import type { RepositoryName } from "../page-addresses.js";
import type { Trend, Window } from "../rankings/rankings.js";

/** A repository in a list. All lists share it while the catalogue stays as it is. */
export interface ListRow {
  readonly repository: Readonly<Repository>;
  /** Growth in the window of the list; undefined without one. */
  readonly trend: Trend | undefined;
  /** Whether its counts are no longer recent; see the catalogue's `isStale`. */
  readonly isStale: boolean;
  /** Under which name it seems to continue; only of a repository that is suspected to be renamed. */
  readonly movedTo?: RepositoryName | undefined;
}

/** Repositories to read, in order. */
export interface RowRequest {
  ids: readonly number[];
  window: Window;
}
