import type { ProviderSettings } from "../../forges.js";
import type { Connection } from "../client.js";
import type { Provider } from "../contract.js";
import { createRestProvider, type RestForge, restClient } from "../rest-provider.js";
import { API_OF_FAMILY, repositorySchema, toRecord } from "./record.js";
import { listForgejo, PAGE_SIZE } from "./walk.js";

const FORGEJO: RestForge = {
  kind: "forgejo",
  ...API_OF_FAMILY,
  list: listForgejo,
  listsAreComplete: true,
  pageSize: PAGE_SIZE,
  pathOfId: (repositoryId) => `/repositories/${repositoryId}`,
  record: repositorySchema.transform(toRecord),
};

/** An instance of Forgejo or Gitea, such as Codeberg. Mirrors and empty repositories are included. */
export function createForgejo(settings: ProviderSettings, connection: Connection): Provider {
  return createRestProvider(FORGEJO, settings, restClient(FORGEJO, settings, connection));
}
